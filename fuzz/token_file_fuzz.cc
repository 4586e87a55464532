// Any bytes as a file of tokens: ids below the vocabulary and ends in order, or an Error.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "sextant/core/error.h"
#include "sextant/text/token_file.h"

namespace {

void check(const std::string& bytes) {
  static const std::string path = "/tmp/sextant-token-fuzz-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << bytes;  // not flushed to the disk, as write_file() would
  constexpr std::int64_t kVocabulary = 300;
  try {
    const sextant::TokenFile file = sextant::load_token_file(path, kVocabulary);
    for (std::size_t i = 0; i < file.tokens.size(); ++i) {
      if (file.tokens[i] < 0 || file.tokens[i] >= kVocabulary) std::abort();
    }
    std::int64_t before = 0;
    for (std::size_t i = 0; i < file.document_ends.size(); ++i) {
      if (file.document_ends[i] < before) std::abort();
      before = file.document_ends[i];
    }
    if (before > static_cast<std::int64_t>(file.tokens.size())) std::abort();
    if (file.training > file.tokens.size()) std::abort();
  } catch (const sextant::Error&) {
  }
  ::unlink(path.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  // A header that fits, so that what stands behind it is reached.
  const std::size_t tokens = size / 4, ends = size / 64;
  std::string header =
      R"({"__metadata__":{"tokenizer":"x"},"document_ends":{"dtype":"I64","shape":[)" +
      std::to_string(ends) + R"(],"data_offsets":[0,)" + std::to_string(8 * ends) +
      R"(]},"tokens":{"dtype":"U16","shape":[)" + std::to_string(tokens) + R"(],"data_offsets":[)" +
      std::to_string(8 * ends) + "," + std::to_string(8 * ends + 2 * tokens) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string whole;
  for (int i = 0; i < 8; ++i) whole += static_cast<char>(header.size() >> (8 * i) & 0xff);
  check(whole + header + text.substr(0, 8 * ends + 2 * tokens));
  return 0;
}
