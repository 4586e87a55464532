// Calculates with words (Mikolov et al. 2013, 1301.3781): king - boy + girl, and the words nearest
// to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

// A sum of words, each added or subtracted.
struct WordTerm {
  std::string word;
  bool subtracted = false;
};

// Parses "king - boy + girl": words and signs separated by white space; a sign may come first. A
// word may contain signs ("well-known"). Throws an Error with `where` for text that is not UTF-8,
// an empty sum, and two words or two signs in a row.
std::vector<WordTerm> parse_word_sum(std::string_view text, std::string_view where = "word_sum");

// Returns the sum of the words' stored vectors, [width]. Throws an Error with a word that has no
// vector.
Tensor<double> sum_of(const WordVectors& vectors, std::span<const WordTerm> terms);

struct NearestWord {
  std::string word;
  double similarity = 0;  // cosine, -1 .. 1
};

// Returns the `count` words whose vectors have the largest cosine similarity with `vector` [width],
// in descending order, ties in the order of the words; fewer if there are no more. Words of
// `left_out` and zero vectors, which have no direction, are never listed. Throws Error for a count
// below 1, another width, and a vector that is all zeros or not finite.
std::vector<NearestWord> nearest_words(const WordVectors& vectors, View<const double> vector,
                                       std::int64_t count,
                                       std::span<const std::string> left_out = {});
// Returns the words nearest to a sum, without its own words, as is usual.
std::vector<NearestWord> nearest_words(const WordVectors& vectors, std::span<const WordTerm> terms,
                                       std::int64_t count);

}  // namespace sextant
