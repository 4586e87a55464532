// The header is written last, into room that is left for it: spaces may follow its text.
#include "text/files/token_file_writer.h"

#include <cstring>
#include <limits>
#include <utility>

#include "core/arrays/safetensors_header.h"
#include "core/files/file_filler.h"
#include "core/files/file_handle.h"

namespace sextant::text {
namespace {

constexpr std::uint64_t kHeader = 4096;  // bytes, its length included
constexpr std::size_t kBuffer = std::size_t{1} << 18;

template <class T>
void append(std::vector<char>& bytes, T value) {
  const auto* from = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

}  // namespace

TokenFileWriter::TokenFileWriter(int descriptor, std::string path, std::int64_t vocabulary,
                                 std::uint64_t documents)
    : descriptor_(descriptor),
      path_(std::move(path)),
      wide_(vocabulary > std::int64_t{std::numeric_limits<std::uint16_t>::max()} + 1),
      ends_at_(kHeader),
      tokens_at_(kHeader + 8 * documents),
      most_documents_(documents) {}

void TokenFileWriter::write(std::uint64_t at, const std::vector<char>& bytes) const {
  const int problem = write_at(descriptor_, at, {bytes.data(), bytes.size()});
  if (problem != 0) fail_file(path_, "cannot be written", problem);
}

void TokenFileWriter::write_tokens() {
  write(tokens_at_, tokens_);
  sum_.add({tokens_.data(), tokens_.size()});
  tokens_at_ += tokens_.size();
  tokens_.clear();
}

void TokenFileWriter::write_ends() {
  write(ends_at_, ends_);
  ends_at_ += ends_.size();
  ends_.clear();
}

void TokenFileWriter::add(std::span<const std::int64_t> ids) {
  for (const std::int64_t id : ids) {
    if (wide_) {
      append(tokens_, static_cast<std::uint32_t>(id));
    } else {
      append(tokens_, static_cast<std::uint16_t>(id));
    }
    if (tokens_.size() >= kBuffer) write_tokens();
  }
  count_ += ids.size();
}

void TokenFileWriter::end_document() {
  append(ends_, static_cast<std::int64_t>(count_));
  ++documents_;
  if (ends_.size() >= kBuffer) write_ends();
}

void TokenFileWriter::finish(const TokenFile& described) {
  write_tokens();
  write_ends();
  if (documents_ != most_documents_) {
    throw Error(path_, "must get " + std::to_string(most_documents_) + " documents, got " +
                           std::to_string(documents_));
  }
  const std::uint64_t ends = 8 * documents_, tokens = (wide_ ? 4 : 2) * count_;
  SafetensorsHeader header;
  header.metadata = {{"format", "sextant tokens 1"},
                     {"tokenizer", described.tokenizer},
                     {"checksum", sum_.text()}};
  const auto say = [&](const char* key, std::uint64_t number) {
    if (number > 0) header.metadata[key] = std::to_string(number);
  };
  say("vocabulary_size", static_cast<std::uint64_t>(described.vocabulary));
  say("training_tokens", described.training);
  if (!described.source.empty()) header.metadata["source"] = described.source;
  if (documents_ > 0) {
    header.entries.push_back(
        {"document_ends", DType::int64, Shape{static_cast<std::int64_t>(documents_)}, 0, ends});
  }
  header.entries.push_back({"tokens", wide_ ? DType::uint32 : DType::uint16,
                            Shape{static_cast<std::int64_t>(count_)}, ends, ends + tokens});
  std::string bytes = format_safetensors_header(header);
  if (bytes.size() > kHeader) throw Error(path_, "must have a header of at most 4096 bytes");
  bytes.resize(kHeader, ' ');
  const std::uint64_t length = kHeader - 8;
  std::memcpy(bytes.data(), &length, 8);
  const int problem = write_at(descriptor_, 0, bytes);
  if (problem != 0) fail_file(path_, "cannot be written", problem);
}

}  // namespace sextant::text
