// Word vectors without fastText: they can be read and used, not trained.
#include "sextant/text/word_vectors.h"
#include "text/without/missing.h"

namespace sextant {

WordVectors WordVectors::train(std::span<const std::vector<std::string>>, const SkipGram&) {
  text::throw_missing("word_vectors.train", "fastText");
}

}  // namespace sextant
