// Texts to learn from.
#include "streams/text_data.h"

namespace sextant::app {

std::size_t split_of(const std::string& text, double held_out) {
  const auto at = static_cast<std::size_t>(static_cast<double>(text.size()) * (1 - held_out));
  const std::size_t line = text.find('\n', at);
  if (line != std::string::npos && line + 1 < text.size()) return line + 1;
  std::size_t split = at;  // not inside a character
  while (split < text.size() && (static_cast<unsigned char>(text[split]) & 0xC0) == 0x80) ++split;
  return split;
}

std::vector<std::int64_t> encode_all(const Tokenizer& tokenizer,
                                     const std::vector<std::string>& texts) {
  std::vector<std::int64_t> tokens;
  for (const std::string& text : texts) {
    const auto ids = tokenizer.encode(text);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return tokens;
}

}  // namespace sextant::app
