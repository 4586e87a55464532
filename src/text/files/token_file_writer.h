// Writes a file of tokens as they come: neither they nor the ends of documents are kept in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/text/token_file.h"

namespace sextant::text {

class TokenFileWriter {
 public:
  // Writes into an open file, with at most `documents` ends; ids are below `vocabulary`.
  TokenFileWriter(int descriptor, std::string path, std::int64_t vocabulary,
                  std::uint64_t documents);

  // All throw Error when the file cannot be written.
  void add(std::span<const std::int64_t> ids);
  void end_document();
  std::uint64_t count() const noexcept { return count_; }  // of tokens so far
  // Writes the header; `described` has the fields for the tokens.
  void finish(const TokenFile& described);

 private:
  void write(std::uint64_t at, const std::vector<char>& bytes) const;
  void write_tokens();
  void write_ends();

  int descriptor_;
  std::string path_;
  bool wide_;
  std::uint64_t ends_at_, tokens_at_, count_ = 0, documents_ = 0, most_documents_;
  Checksum sum_;                     // of the tokens
  std::vector<char> tokens_, ends_;  // that are not written yet
};

}  // namespace sextant::text
