// The list of the options of a training of word vectors.
#pragma once

#include "core/options/fields.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

template <>
inline constexpr auto kFields<SkipGram> = std::tuple{
    field(&SkipGram::width, "width", IntegerRange{1, 1 << 16}, "width of the vectors"),
    field(&SkipGram::window, "window", IntegerRange{1, 1000}, "context words on either side"),
    field(&SkipGram::epochs, "epochs", IntegerRange{1, 1000000}, "passes over the text"),
    field(&SkipGram::minimum_count, "minimum_count", IntegerRange{1, 0x7fffffff},
          "rarer words get no vector"),
    field(&SkipGram::negatives, "negatives", IntegerRange{1, 1000},
          "negative samples per context word"),
    field(&SkipGram::learning_rate, "learning_rate", NumberRange{0, 1, true},
          "initial learning rate, which falls to 0"),
    field(&SkipGram::sample, "sample", NumberRange{0, 1, true},
          "frequency above which occurrences of a word are randomly skipped"),
    field(&SkipGram::seed, "seed", kSeeds, "seed of the training")};

}  // namespace sextant
