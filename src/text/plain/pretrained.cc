// Published models' tokenizers without ICU: none can be made.
#include "sextant/text/pretrained_tokenizer.h"
#include "text/without/missing.h"

namespace sextant {

struct PretrainedTokenizer::Impl {};

PretrainedTokenizer PretrainedTokenizer::load(const std::string& path) {
  text::throw_missing(path, "ICU");
}
PretrainedTokenizer PretrainedTokenizer::parse(std::string_view, std::string_view where) {
  text::throw_missing(where, "ICU");
}

// There is no object to call these of.
const std::string& PretrainedTokenizer::json() const noexcept {
  static const std::string none;
  return none;
}
std::int64_t PretrainedTokenizer::size() const noexcept { return 0; }
bool PretrainedTokenizer::has(std::int64_t) const noexcept { return false; }
std::optional<std::int64_t> PretrainedTokenizer::max_length() const noexcept { return {}; }
PretrainedEncoding PretrainedTokenizer::encode(std::string_view,
                                               const PretrainedEncodeOptions&) const {
  text::throw_missing("tokenizer", "ICU");
}
PretrainedEncoding PretrainedTokenizer::encode_pair(std::string_view, std::string_view,
                                                    const PretrainedEncodeOptions&) const {
  text::throw_missing("tokenizer", "ICU");
}
std::string PretrainedTokenizer::decode(std::span<const std::int64_t>, bool) const {
  text::throw_missing("tokenizer", "ICU");
}
std::string PretrainedTokenizer::piece(std::int64_t) const {
  text::throw_missing("tokenizer", "ICU");
}
std::string PretrainedTokenizer::readable_piece(std::int64_t) const {
  text::throw_missing("tokenizer", "ICU");
}
std::optional<std::string> PretrainedTokenizer::whole_word(std::int64_t) const { return {}; }
std::optional<std::int64_t> PretrainedTokenizer::id_of(std::string_view) const { return {}; }
bool PretrainedTokenizer::is_special(std::int64_t) const { return false; }

}  // namespace sextant
