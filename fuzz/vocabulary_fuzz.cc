// Any bytes as a vocabulary file: either an Error or words that number themselves.
#include "sextant/text/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/text/segment.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto words = sextant::Vocabulary::parse(bytes);
    for (std::int64_t i = 0; i < words.size(); ++i) {
      if (words.index(words.token(i)) != i) std::abort();
    }
  } catch (const sextant::Error&) {
  }
  // The same bytes as text: every token is a part of it, in order.
  try {
    std::size_t at = 0;
    for (const std::string& word : sextant::split_words(bytes)) {
      at = bytes.find(word, at);
      if (word.empty() || at == std::string_view::npos) std::abort();
      at += word.size();
    }
    sextant::split_sentences(bytes);
    sextant::lower_case(bytes);
    if (sextant::visible_length(sextant::shorten(bytes, 3)) > 3) std::abort();
  } catch (const sextant::Error&) {
  }
  return 0;
}
