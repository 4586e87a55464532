// Where texts are split, and the documents in them.
#include "training/tasks/text_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "text/white_space.h"
#include "training/tasks/data_file.h"

namespace sextant {
namespace {

using text::LongLines;
using text::TextFile;

constexpr std::string_view kEndOfText = "<|endoftext|>";
constexpr std::uint64_t kWindow = std::uint64_t{1} << 16;

// Where the held-out end of a text begins: after a line break if there is one, as
// SplitTexts::add().
std::uint64_t split_of(const TextFile& file, double held_out) {
  const auto at = static_cast<std::uint64_t>(static_cast<double>(file.size()) * (1 - held_out));
  std::uint64_t inside = 0;  // bytes of the character around `at`
  for (std::uint64_t begin = at; begin < file.size(); begin += kWindow) {
    std::uint64_t line = 0;
    file.read(begin, std::min(begin + kWindow, file.size()), LongLines::whole,
              [&](std::string_view piece) {
                if (begin == at) {
                  const auto first =
                      std::find_if_not(piece.begin(), piece.end(), continues_character);
                  inside = static_cast<std::uint64_t>(first - piece.begin());
                }
                const std::size_t found = piece.find('\n');
                if (found != std::string_view::npos && line == 0) line = begin + found + 1;
              });
    if (line > 0 && line < file.size()) return line;
    if (line > 0) break;
  }
  return at + inside;
}

bool is_blank(std::string_view line) {
  while (!line.empty()) {
    const Utf8Character c = first_character(line);
    if (!is_white_space(c.code)) return false;
    line.remove_prefix(c.bytes);
  }
  return true;
}

// Documents that are made of whole lines.
class Documents {
 public:
  Documents(DocumentUnit unit, const TextSource::Visitor& visitor)
      : unit_(unit), visitor_(visitor) {}

  // Pieces of a file, which end after a line break or with the file.
  void add(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = std::min(piece.find('\n'), piece.size());
      add_line(piece.substr(0, end));
      piece.remove_prefix(std::min(end + 1, piece.size()));
    }
  }
  void end() {
    if (!std::exchange(begun_, false)) return;
    visitor_.text(text_);
    text_.clear();
    visitor_.end_document();
  }

 private:
  void add_line(std::string_view line) {
    const bool blank = is_blank(line);
    if (unit_ == DocumentUnit::endoftext ? line == kEndOfText
                                         : unit_ != DocumentUnit::file && blank) {
      return end();
    }
    if (blank && !begun_) return;  // before a document
    if (begun_) text_ += '\n';
    if (text_.size() >= kWindow) {
      visitor_.text(text_);
      text_.clear();
    }
    begun_ = true;
    text_ += line;
    if (unit_ == DocumentUnit::line) end();
  }

  DocumentUnit unit_;
  const TextSource::Visitor& visitor_;
  std::string text_;    // the part of the document that was not passed on yet
  bool begun_ = false;  // it has a line
};

}  // namespace

TextSource::TextSource(TrainingSettings& settings, LongLines lines)
    : unit_(settings.documents), part_held_out_(settings.held_out), lines_(lines) {
  for (DataFile& file : settings.files) {
    files_.emplace_back(file.path);
    check_data(file, files_.back().checksum());
  }
}

void TextSource::divide() {
  if (unit_ == DocumentUnit::none) {
    for (const TextFile& file : files_) splits_.push_back(split_of(file, part_held_out_));
    return;
  }
  visit_documents({.text = [](std::string_view) {}, .end_document = [this] { ++documents_; }});
  if (documents_ < 2) return;
  const auto part = std::llround(static_cast<double>(documents_) * part_held_out_);
  held_out_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(part), 1, documents_ - 1);
}

void TextSource::visit_streams(bool training, const Visitor& visitor) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::uint64_t begin = training ? 0 : splits_[i];
    files_[i].read(begin, training ? splits_[i] : files_[i].size(), lines_, visitor.text);
    if (visitor.end_text) visitor.end_text();
  }
}

void TextSource::visit_documents(const Visitor& visitor) const {
  for (const TextFile& file : files_) {
    Documents documents(unit_, visitor);
    file.read(0, file.size(), LongLines::whole,
              [&documents](std::string_view piece) { documents.add(piece); });
    documents.end();
  }
}

void TextSource::visit_all(const Visitor& visitor) const {
  if (unit_ != DocumentUnit::none) return visit_documents(visitor);
  for (const TextFile& file : files_) file.read(0, file.size(), lines_, visitor.text);
}

void TextSource::visit(bool training, const Visitor& visitor) const {
  if (unit_ == DocumentUnit::none) return visit_streams(training, visitor);
  std::uint64_t document = 0;
  const auto wanted = [&] { return (document < documents_ - held_out_) == training; };
  visit_documents({.text =
                       [&](std::string_view text) {
                         if (wanted()) visitor.text(text);
                       },
                   .end_document =
                       [&] {
                         if (wanted()) {
                           if (visitor.end_document) visitor.end_document();
                           if (visitor.end_text) visitor.end_text();
                         }
                         ++document;
                       }});
}

}  // namespace sextant
