// Implements the laboratory's toy model: six words, width 3, seed 2311, causally masked attention
// in float64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/scheme_spec.h"
#include "sextant/lessons/order_difference.h"
#include "sextant/lessons/position_effect.h"
#include "sextant/text/vocabulary.h"

namespace sextant {

// The defaults are the laboratory's own model.
struct OrderLabOptions {
  std::vector<std::string> words = {"<pad>", "the", "zebra", "chased", "lion", "."};
  std::int64_t width = 3;     // 1 .. 65536; schemes that need an even or larger width use it
  std::uint32_t seed = 2311;  // seed of the weights
};

class OrderLab {
 public:
  // Draws weights as the laboratory does: embeddings [words, width], then W_q, W_k and W_v [width,
  // width], row by row from [0, 1). Throws Error for a width out of its range and for words that
  // are none, empty or duplicate.
  explicit OrderLab(const OrderLabOptions& options = {});

  struct Result {
    std::vector<std::string> tokens;
    Tensor<double> scores;   // [length, length], scaled and masked with -2.3819763e38
    Tensor<double> weights;  // [length, length]
    Tensor<double> values;   // [length, width]
    Tensor<double> output;   // [length, width]
    double rounding = 0;     // bound on the rounding error of any entry of the output
    PositionEffect positions = PositionEffect::none;
  };
  // Runs words split at spaces; `positions` are any schemes that can be combined (none is the
  // laboratory's model). A rotation leaves the last channel of an odd width unchanged: of width 3
  // it rotates one pair. Throws an Error that lists the allowed words for any other word, and for
  // an empty sentence.
  Result run(const std::string& sentence, const SchemeSpecs& positions = {}) const;

  // Throws Error as run(), and unless `second` has the words of `first`.
  struct Verdict : OrderDifference {
    Result first, second;
  };
  Verdict compare(const std::string& first, const std::string& second,
                  const SchemeSpecs& positions = {}) const;

  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
  const Tensor<double>& embeddings() const noexcept { return embeddings_; }

 private:
  Vocabulary vocabulary_;
  Tensor<double> embeddings_;  // [words, width]
  Linear<double> to_q_, to_k_, to_v_;
};

}  // namespace sextant
