// Sums of word vectors and the words nearest to them.
#include "sextant/lessons/word_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"
#include "sextant/core/printable.h"
#include "sextant/lessons/similarity.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

bool is_zero(View<const double> vector) {
  for (std::int64_t i = 0; i < vector.size(0); ++i) {
    if (vector(i) != 0) return false;
  }
  return true;
}

Tensor<double> row_of(const WordVectors& vectors, std::int64_t row) {
  const std::int64_t width = vectors.width();
  Tensor<double> wide(Shape{width});
  const float* from = vectors.vectors().data() + row * width;
  std::copy(from, from + width, wide.data());
  return wide;
}

}  // namespace

std::vector<WordTerm> parse_word_sum(std::string_view text, std::string_view where) {
  check_utf8(text, where);
  std::vector<WordTerm> terms;
  bool sign_given = false, subtracted = false;
  for (const std::string& item : split_spaces(text)) {
    if (item == "+" || item == "-") {
      if (sign_given) throw Error(where, "must not have two signs in a row");
      sign_given = true;
      subtracted = item == "-";
      continue;
    }
    if (!sign_given && !terms.empty()) {
      throw Error(where, "must have + or - between words, apart from them by spaces, got " +
                             printable_quote(terms.back().word + " " + item));
    }
    terms.push_back({item, subtracted});
    sign_given = subtracted = false;
  }
  if (sign_given) throw Error(where, "must have a word after each sign");
  if (terms.empty()) throw Error(where, "must have a word, got none");
  return terms;
}

Tensor<double> sum_of(const WordVectors& vectors, std::span<const WordTerm> terms) {
  Tensor<double> sum(Shape{vectors.width()});
  for (const WordTerm& term : terms) {
    // A word may have hyphens: only one without a vector can be a sum.
    if (!vectors.contains(term.word) && term.word.find_first_of("+-") != std::string::npos) {
      throw Error("word_sum.word", "must have a vector, or be apart from + and - by spaces, got " +
                                       printable_quote(term.word));
    }
    const View<const float> vector = vectors[term.word];
    for (std::int64_t i = 0; i < vectors.width(); ++i) {
      sum(i) += term.subtracted ? -static_cast<double>(vector(i)) : static_cast<double>(vector(i));
    }
  }
  return sum;
}

std::vector<NearestWord> nearest_words(const WordVectors& vectors, View<const double> vector,
                                       std::int64_t count, std::span<const std::string> left_out) {
  if (count < 1) {
    throw Error("nearest_words.count", "must be at least 1, got " + std::to_string(count));
  }
  if (vector.shape() != Shape{vectors.width()}) {
    throw Error("nearest_words.vector", "must be [" + std::to_string(vectors.width()) + "], got " +
                                            vector.shape().to_string());
  }
  if (is_zero(vector)) {
    throw Error("nearest_words.vector", "must not be all zeros: a zero vector has no direction");
  }
  const auto words = vectors.words();
  std::vector<double> similarity(words.size());
  parallel_for(static_cast<std::int64_t>(words.size()), 0, [&](std::int64_t i) {
    const Tensor<double> row = row_of(vectors, i);
    // NaN marks words that are never listed.
    similarity[static_cast<std::size_t>(i)] =
        is_zero(row) ? std::nan("") : cosine_similarity(row, vector);
  });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::isnan(similarity[i]) || std::ranges::find(left_out, words[i]) != left_out.end())
      continue;
    order.push_back(i);
  }
  const auto listed = std::min(order.size(), static_cast<std::size_t>(count));
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(listed),
                            [&](std::size_t a, std::size_t b) {
                              return similarity[a] > similarity[b] ||
                                     (similarity[a] == similarity[b] && a < b);
                            });
  std::vector<NearestWord> found;
  for (std::size_t i = 0; i < listed; ++i) {
    found.push_back({words[order[i]], similarity[order[i]]});
  }
  return found;
}

std::vector<NearestWord> nearest_words(const WordVectors& vectors, std::span<const WordTerm> terms,
                                       std::int64_t count) {
  std::vector<std::string> own;
  for (const WordTerm& term : terms) own.push_back(term.word);
  return nearest_words(vectors, sum_of(vectors, terms), count, own);
}

}  // namespace sextant
