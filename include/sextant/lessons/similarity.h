// Computes similarities of vectors, with and without positions (the chapter's experiment).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

// Returns <a, b> / (|a| |b|), summed in twice the precision of float64: within 0.51 units in the
// last place of the exact value for these numbers, in [-1, 1]. Throws Error for different lengths,
// a zero vector, or entries that are not finite.
double cosine_similarity(View<const double> a, View<const double> b);
// Returns [rows, rows] for [rows, width], symmetric; threads as in parallel_for, the result does
// not depend on them.
Tensor<double> cosine_similarities(View<const double> rows, int threads = 0);

// Cosine similarities of two words' vectors, of two positions, and of vector * sqrt(width) +
// position.
struct MixedSimilarity {
  double word;
  double position;
  double both;
};
// `positions` are the two 0-based ids; `options.width` must equal the vectors' width. Throws Error
// if it does not, or for a word that has no vector.
MixedSimilarity mixed_similarity(const WordVectors& vectors, std::string_view word_a,
                                 std::string_view word_b, std::int64_t position_a,
                                 std::int64_t position_b, const Sinusoidal& options);

}  // namespace sextant
