// A text file that is read in pieces, so that it need not fit in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::text {

// Whether a piece may end at a space inside a line that is longer than a piece. Tokens are those of
// the whole text then, too, where they are words or characters; SentencePiece sees whole lines.
enum class LongLines { whole, split };

class TextFile {
 public:
  // Reads the whole file once. Throws Error as load_texts() does, except for large files. A file
  // that is not regular (a pipe) is kept in memory, up to 1 GiB.
  explicit TextFile(std::string path);

  const std::string& path() const noexcept { return path_; }
  const std::string& checksum() const noexcept { return checksum_; }  // of the bytes of the file
  // Bytes of the text: "\r\n" is "\n", and a byte order mark is none of it.
  std::uint64_t size() const noexcept { return size_; }

  // Calls use(piece) for the text [begin, end), in pieces of some 64 KiB that end after a line
  // break where that is possible, never inside a character. Throws Error when the file has changed.
  using Use = std::function<void(std::string_view)>;
  void read(std::uint64_t begin, std::uint64_t end, LongLines lines, const Use& use) const;

 private:
  // Where reading can begin.
  struct Place {
    std::uint64_t byte;  // of the file
    std::uint64_t at;    // of the text
  };
  struct Identity {
    std::uint64_t device = 0, number = 0, size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  class Bytes;
  void scan();

  std::string path_, checksum_;
  std::string kept_;  // of a pipe
  bool is_kept_ = false;
  Identity identity_;
  std::uint64_t size_ = 0;
  std::vector<Place> places_;
};

}  // namespace sextant::text
