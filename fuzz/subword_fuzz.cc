// Any bytes as a SentencePiece model, as more fields of a sound model, and as the trie of its
// normalisation table. What loads must encode and decode any text without leaving its tables.
#include "sextant/text/subword.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"

namespace {

std::string field(int number, const std::string& bytes) {
  std::string result(1, static_cast<char>(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) result += static_cast<char>((size & 0x7F) | 0x80);
  return result + static_cast<char>(size) + bytes;
}

std::string piece(const std::string& text, int type) {
  return field(1, field(1, text) + '\x18' + static_cast<char>(type));
}

// The bytes as the units of a trie, with two rules behind it.
std::string with_trie(std::string units) {
  constexpr std::size_t kBlock = 1024;
  units.resize((units.size() + kBlock - 1) / kBlock * kBlock);
  std::string size;
  for (int i = 0; i < 4; ++i) size += static_cast<char>(units.size() >> (8 * i) & 0xFF);
  return field(3, field(2, size + units + std::string("x\0ab\0", 5)));
}

void use(const std::string& model, std::string_view text) {
  try {
    const auto tokenizer = sextant::SubwordTokenizer::parse(model);
    for (const std::string_view any : {std::string_view("abba cab \u2581"), text}) {
      try {
        for (const std::int64_t index : tokenizer.encode(any)) {
          if (index < 0 || index >= tokenizer.size()) std::abort();
        }
        tokenizer.pieces(any);
        tokenizer.decode(tokenizer.encode_fixed(any, 9));
      } catch (const sextant::Error&) {
      }
    }
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  static const std::string model =
      piece("<unk>", 2) + piece("\u2581", 1) + piece("a", 1) + piece("b", 1) + piece("ab", 1);
  use(bytes, bytes);
  use(model + bytes, bytes);
  use(model + with_trie(bytes), bytes);
  return 0;
}
