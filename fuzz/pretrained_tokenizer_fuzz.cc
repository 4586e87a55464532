// Any bytes as a tokenizer.json of others, and any texts: either an Error, or tokens of the
// vocabulary at places of the text.
#include "sextant/text/pretrained_tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sextant/core/error.h"

namespace {

void use(const sextant::PretrainedTokenizer& tokenizer, std::string_view text) {
  const auto made = tokenizer.encode(text);
  for (std::size_t i = 0; i < made.ids.size(); ++i) {
    if (made.tokens[i] != tokenizer.piece(made.ids[i])) std::abort();
    const auto [begin, end] = made.offsets[i];
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(text.size())) std::abort();
    if (end > begin && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) std::abort();
  }
  tokenizer.decode(made.ids);
  tokenizer.decode(made.ids, false);
}

void use(const std::string& json, std::string_view text) {
  try {
    use(sextant::PretrainedTokenizer::parse(json), text);
  } catch (const sextant::Error&) {
  }
}

constexpr const char* kModel =
    R"("model":{"type":"BPE","unk_token":"a","vocab":{"a":0,"b":1,"ab":2,"##b":3,"Ġ":4},)"
    R"("merges":["a b"]}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string text(bytes);
  use(text, "the king\n");
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    use(std::string(R"({"version":"1.0",")") + key + "\":" + text + "," + kModel, "a b\u00e9 ab");
  }
  use(R"({"version":"1.0","pre_tokenizer":{"type":"Split","behavior":"Isolated","invert":false,)"
      R"("pattern":{"Regex":")" +
          text + "\"}}," + kModel,
      "a b\u00e9 ab\n");
  use(R"({"version":"1.0","normalizer":{"type":"BertNormalizer","clean_text":true,)"
      R"("handle_chinese_chars":true,"strip_accents":true,"lowercase":true},"pre_tokenizer":)"
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)" +
          std::string(kModel),
      bytes);
  use(R"({"version":"1.0","normalizer":{"type":"NFKC"},"added_tokens":[{"id":5,"content":"x",)"
      R"("single_word":false,"lstrip":true,"rstrip":true,"normalized":true,"special":true}],)" +
          std::string(kModel),
      bytes);
  return 0;
}
