// Sub-words without SentencePiece: no tokenizer can be made.
#include "sextant/text/subword.h"

#include "text/without/missing.h"

namespace sextant {

struct SubwordTokenizer::Impl {};

namespace {

[[noreturn]] void missing(std::string_view where) { text::throw_missing(where, "SentencePiece"); }

}  // namespace

SubwordTokenizer SubwordTokenizer::load(const std::string& path) { missing(path); }
SubwordTokenizer SubwordTokenizer::parse(std::string_view, std::string_view where) {
  missing(where);
}
SubwordTokenizer SubwordTokenizer::train(const std::string&, const SubwordTraining&) {
  missing("subword.train");
}
SubwordTokenizer SubwordTokenizer::train_on(std::string_view, const SubwordTraining&,
                                            std::string_view where) {
  missing(where);
}

// There is no object to call these of.
void SubwordTokenizer::save(const std::string& path) const { missing(path); }
const std::string& SubwordTokenizer::bytes() const noexcept {
  static const std::string none;
  return none;
}
std::int64_t SubwordTokenizer::size() const noexcept { return 0; }
std::int64_t SubwordTokenizer::eos() const noexcept { return 0; }
std::int64_t SubwordTokenizer::pad() const noexcept { return 0; }
std::vector<std::int64_t> SubwordTokenizer::encode(std::string_view) const { missing("subword"); }
std::vector<std::string> SubwordTokenizer::pieces(std::string_view) const { missing("subword"); }
std::string SubwordTokenizer::piece(std::int64_t) const { missing("subword"); }
std::string SubwordTokenizer::decode(std::span<const std::int64_t>) const { missing("subword"); }
std::vector<std::int64_t> SubwordTokenizer::encode_fixed(std::string_view, std::int64_t) const {
  missing("subword");
}

}  // namespace sextant
