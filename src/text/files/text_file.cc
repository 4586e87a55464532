// Bytes become text as they are read: a "\r" waits for the byte after it.
#include "text/files/text_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/files/file_handle.h"
#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "text/files/not_utf8.h"
#include "text/white_space.h"

namespace sextant::text {
namespace {

constexpr std::string_view kByteOrderMark = "\uFEFF";
constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr std::uint64_t kMaxKept = std::uint64_t{1} << 30;

// Adds bytes to a text, with "\n" for "\r\n". A "\r" at their end stays in `waits`.
void append_text(std::string_view bytes, bool& waits, std::string& to) {
  while (!bytes.empty()) {
    if (std::exchange(waits, false) && bytes.front() != '\n') to += '\r';
    const std::size_t end = std::min(bytes.find('\r'), bytes.size());
    to += bytes.substr(0, end);
    waits = end < bytes.size();
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

// How much of a text is whole characters.
std::size_t whole_characters(std::string_view text) {
  std::size_t lead = text.size();
  for (int i = 0; i < 4 && lead > 0; ++i) {
    if (!continues_character(text[--lead])) break;
  }
  if (lead == text.size() || continues_character(text[lead])) return text.size();
  const auto byte = static_cast<unsigned char>(text[lead]);
  const std::size_t bytes = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
  return lead + bytes > text.size() ? lead : text.size();
}

// Where a piece of `text` may end; 0: more has to be read.
std::size_t end_of_piece(std::string_view text, LongLines lines) {
  const std::size_t line = text.rfind('\n');
  if (line != std::string_view::npos) return line + 1;
  if (lines == LongLines::whole) return 0;
  const std::size_t space = text.find_last_of(" \t");
  return space == std::string_view::npos ? 0 : space + 1;
}

bool has_text(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (!is_white_space(c.code)) return true;
    text.remove_prefix(c.bytes);
  }
  return false;
}

}  // namespace

// The bytes of the file one after the other.
class TextFile::Bytes {
 public:
  Bytes(const TextFile& file, std::uint64_t at) : file_(file), at_(at) {
    if (file.is_kept_) return;
    handle_.emplace(file.path_, O_RDONLY);
    if (!handle_->is_open()) fail_file(file.path_, "cannot be opened", errno);
    buffer_.resize(kPiece);
  }

  Identity identity() const {
    struct stat status {};
    if (::fstat(handle_->number(), &status) != 0) fail_file(file_.path_, "cannot be read", errno);
    return Identity{
        static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_mtime),
#ifdef __APPLE__
        static_cast<std::uint64_t>(status.st_mtimespec.tv_nsec)};
#else
        static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
#endif
  }

  // Empty at the end.
  std::string_view next() {
    if (file_.is_kept_) {
      const auto from = std::min<std::uint64_t>(at_, file_.kept_.size());
      const std::string_view piece = std::string_view(file_.kept_).substr(from, kPiece);
      at_ += piece.size();
      return piece;
    }
    while (true) {
      const ssize_t got =
          ::pread(handle_->number(), buffer_.data(), buffer_.size(), static_cast<off_t>(at_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_file(file_.path_, "cannot be read", errno);
      at_ += static_cast<std::uint64_t>(got);
      return std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
    }
  }
  std::uint64_t at() const { return at_; }

 private:
  const TextFile& file_;
  std::uint64_t at_;
  std::optional<FileHandle> handle_;
  std::string buffer_;
};

TextFile::TextFile(std::string path) : path_(std::move(path)) {
  check_path(path_);
  struct stat status {};
  is_kept_ = ::stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode);
  if (is_kept_) kept_ = read_file(path_, kMaxKept);
  scan();
}

void TextFile::scan() {
  Bytes bytes(*this, 0);
  if (!is_kept_) identity_ = bytes.identity();
  Checksum sum;
  std::string text;  // of which the last character may not be complete
  bool waits = false, any = false;
  std::int64_t line = 1;
  std::uint64_t offset = 0;  // of `text` in its line
  const auto check = [&](std::string_view part) {
    while (!part.empty()) {
      const std::size_t end = std::min(part.find('\n'), part.size());
      const std::string_view of_line = part.substr(0, end);
      const std::size_t invalid = find_invalid_utf8(of_line);
      if (invalid != std::string_view::npos) {
        throw_not_utf8(path_ + ", line " + std::to_string(line), of_line[invalid],
                       offset + invalid);
      }
      any = any || has_text(of_line);
      offset += end;
      if (end < part.size()) {
        ++line;
        offset = 0;
      }
      part.remove_prefix(std::min(end + 1, part.size()));
    }
  };
  bool first = true;
  for (std::string_view more = bytes.next(); !more.empty(); more = bytes.next()) {
    sum.add(more);
    if (std::exchange(first, false)) {
      const bool marked = more.starts_with(kByteOrderMark);
      places_.push_back({marked ? kByteOrderMark.size() : 0, 0});
      if (marked) more.remove_prefix(kByteOrderMark.size());
    }
    const std::size_t before = text.size();
    append_text(more, waits, text);
    size_ += text.size() - before;
    const std::size_t whole = whole_characters(text);
    check(std::string_view(text).substr(0, whole));
    text.erase(0, whole);
    if (!waits) places_.push_back({bytes.at(), size_});
  }
  check(text);  // a "\r" at the very end is dropped
  checksum_ = sum.text();
  if (!any) throw Error(path_, "must hold text, got nothing but white space");
}

void TextFile::read(std::uint64_t begin, std::uint64_t end, LongLines lines, const Use& use) const {
  const auto place = std::ranges::upper_bound(places_, begin, {}, &Place::at) - 1;
  Bytes bytes(*this, place->byte);
  if (!is_kept_ && bytes.identity() != identity_) {
    throw Error(path_, "must stay the same while it is read, but has changed");
  }
  std::uint64_t at = place->at;  // where `text` ends in the text
  std::string text;
  bool waits = false;
  while (at < end) {
    const std::string_view more = bytes.next();
    if (more.empty()) break;
    const std::size_t before = text.size();
    append_text(more, waits, text);
    at += text.size() - before;
    if (at <= begin) {
      text.clear();
      continue;
    }
    if (at - text.size() < begin) text.erase(0, begin - (at - text.size()));
    if (at > end) {
      text.resize(text.size() - (at - end));
      at = end;
    }
    if (at == end) break;
    if (text.size() < kPiece) continue;
    const std::size_t piece = end_of_piece(text, lines);
    if (piece == 0) continue;
    use(std::string_view(text).substr(0, piece));
    text.erase(0, piece);
  }
  if (at != end) throw Error(path_, "must stay the same while it is read, but has changed");
  if (!text.empty()) use(text);
}

}  // namespace sextant::text
