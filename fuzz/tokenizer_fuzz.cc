// Any bytes as a tokenizer's file: either an Error, or tokens that number themselves and give any
// text back piece by piece.
#include "sextant/text/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sextant/core/error.h"

namespace {

// A piece of a SentencePiece model; the kinds 1, 2 and 3 are normal, unknown and control pieces.
std::string piece(const std::string& text, char kind) {
  const std::string fields =
      std::string("\x0A") + static_cast<char>(text.size()) + text + '\x18' + kind;
  return std::string("\x0A") + static_cast<char>(fields.size()) + fields;
}

std::string sound_model() {
  return piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + piece("[EOS]", 3) +
         piece("[PAD]", 3) + piece("\u2581", 1) + piece("a", 1) + piece("\u2581the", 1);
}

void use(const std::string& json, std::string_view model, std::string_view text) {
  try {
    const auto tokenizer = sextant::Tokenizer::parse(json, model);
    constexpr std::int64_t kMost = 4096;  // of files that name ids of any size
    for (std::int64_t id = 0; id < std::min(kMost, tokenizer.size()); ++id) {
      if (tokenizer.has(id)) sextant::token_label(tokenizer.piece(id));
      tokenizer.whole_word(id);
    }
    const auto ids = tokenizer.encode(text);
    if (ids.size() != tokenizer.tokens(text).size()) std::abort();
    for (const std::int64_t id : ids) {
      if (id < tokenizer.special().unk || id >= tokenizer.size()) std::abort();
    }
    tokenizer.decode(ids);
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const std::string model = sound_model();
  use(std::string(bytes), bytes, "the king\n");
  for (const char* kind : {"word", "character", "subword"}) {
    use(std::string("{\"format\":\"sextant tokenizer 1\",\"kind\":\"") + kind +
            "\",\"lower_case\":true,\"split_punctuation\":true,\"tokens\":[\"<pad>\",\"<bos>\","
            "\"<eos>\",\"<unk>\",\"\\n\"" +
            (kind == std::string_view("subword") ? "" : std::string(bytes)) + "]}",
        model, bytes);
  }
  return 0;
}
