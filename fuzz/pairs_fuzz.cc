// Any bytes as a file of pairs or of text, and as a sentence for BLEU: an Error, or what the files
// promise.
#include "sextant/text/pairs.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/training/tasks/bleu.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto pairs = sextant::parse_pairs(bytes, {.source = 1, .target = 0});
    if (pairs.source.empty() || pairs.source.size() != pairs.target.size()) std::abort();
    for (const std::string& text : pairs.source) {
      if (text.empty() || text.find_first_of("\t\n") != std::string::npos) std::abort();
    }
    const double score = sextant::bleu(pairs.source, pairs.target).score;
    if (!(score >= 0 && score < 100.001)) std::abort();
  } catch (const sextant::Error&) {
  }
  for (const auto unit :
       {sextant::TextUnit::file, sextant::TextUnit::paragraph, sextant::TextUnit::line}) {
    try {
      for (const std::string& text : sextant::parse_texts(bytes, unit)) {
        if (text.empty()) std::abort();
        for (const std::string& token : sextant::bleu_tokens(text)) {
          if (token.empty()) std::abort();
        }
      }
    } catch (const sextant::Error&) {
    }
  }
  return 0;
}
