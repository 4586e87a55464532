// Makes more pairs of sentences from given ones.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/text/pairs.h"

namespace sextant {

// Data augmentation for pairs whose sides are in the same language. Words are separated by white
// space.
struct PairAugmentation {
  bool swap = false;  // each pair also in the reverse direction
  // Each target also from its own words in a disturbed order (Lample et al. 2018, 1711.00043,
  // section 2.3): word i goes to place i + 3 u among the others, u uniform in [0, 1), so it moves
  // by at most two places.
  bool shuffle = false;
  // Each pair in two more versions. Half of the words that both sides share, except the most
  // common, are replaced on both sides: by a word of the pairs or, most often for names, by the
  // beginning of one and the end of another. So copying can only be learned from the context. The
  // swapped and joined pairs and, more rarely, the disturbed ones have such words too.
  bool replace = false;
  // Each pair also joined with the next one: longer texts.
  bool join = false;

  bool any() const { return swap || shuffle || replace || join; }
};

// Parses "swap,join": the members by name. Throws Error(where, ...) for another name.
PairAugmentation parse_augmentation(std::string_view text, std::string_view where = "augmentation");

// Returns the pairs, then the added ones; the result is the same for the same seed.
SentencePairs augmented(const SentencePairs& pairs, const PairAugmentation& how,
                        std::uint32_t seed);

}  // namespace sextant
