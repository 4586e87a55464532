// Any bytes as a .vec file: either an Error or finite vectors of one width.
#include "sextant/text/word_vectors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sextant/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto vectors = sextant::WordVectors::parse({reinterpret_cast<const char*>(data), size});
    for (const std::string& word : vectors.words()) {
      const auto vector = vectors[word];
      if (vector.size(0) != vectors.width()) std::abort();
      for (std::int64_t i = 0; i < vectors.width(); ++i) {
        if (!std::isfinite(vector(i))) std::abort();
      }
    }
  } catch (const sextant::Error&) {
  }
  return 0;
}
