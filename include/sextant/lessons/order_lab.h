// The laboratory's toy model: six words, width 3, seed 2311, causally masked attention in float64.
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
  std::int64_t width = 3;     // 1 .. 65536; schemes that need an even width, or more, have one
  std::uint32_t seed = 2311;  // of the weights
};

class OrderLab {
 public:
  // Weights are drawn as the laboratory draws them: embeddings [words, width], then W_q, W_k and
  // W_v [width, width], row by row from [0, 1). Throws Error for a width out of its range and for
  // words that are none, empty or there twice.
  explicit OrderLab(const OrderLabOptions& options = {});

  struct Result {
    std::vector<std::string> tokens;
    Tensor<double> scores;   // [length, length], scaled and masked with -2.3819763e38
    Tensor<double> weights;  // [length, length]
    Tensor<double> values;   // [length, width]
    Tensor<double> output;   // [length, width]
    double rounding = 0;     // bound on what rounding can have done to any entry of the output
    PositionEffect positions = PositionEffect::none;
  };
  // Words split at spaces; `positions` are any schemes that go together (none is the laboratory's
  // own model). A rotation leaves the last channel of an odd width as it is: of width 3 it rotates
  // one pair. Throws Error that lists the allowed words for any other word, and for an empty
  // sentence.
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
