// The laboratory's toy model (D): six words, width 3, seed 2311, causally masked attention in
// float64.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/linear.h"
#include "sextant/text/vocabulary.h"

namespace sextant {

class OrderLab {
 public:
  OrderLab();  // weights drawn as the laboratory draws them: embeddings 6x3, W_q, W_k, W_v 3x3

  struct Result {
    std::vector<std::string> tokens;
    Tensor<double> scores;   // [length, length], scaled and masked with -2.3819763e38
    Tensor<double> weights;  // [length, length]
    Tensor<double> values;   // [length, 3]
    Tensor<double> output;   // [length, 3]
    double rounding = 0;     // bound on what rounding can have done to any entry of the output
  };
  // Words split at spaces; `scheme` is any name that schemes() lists ("none" is the laboratory's
  // own model). A rotation rotates the first two of the three channels, one pair; the third channel
  // has no partner. Throws Error that lists the allowed words for any other word, and for an empty
  // sentence.
  Result run(const std::string& sentence, const std::string& scheme = "none",
             const std::map<std::string, std::string>& parameters = {}) const;

  struct Verdict {
    Result first, second;
    bool same = false;              // largest_difference <= first.rounding + second.rounding
    double largest_difference = 0;  // between the last tokens' outputs
  };
  Verdict compare(const std::string& first, const std::string& second,
                  const std::string& scheme = "none",
                  const std::map<std::string, std::string>& parameters = {}) const;

  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
  const Tensor<double>& embeddings() const noexcept { return embeddings_; }

 private:
  Vocabulary vocabulary_;
  Tensor<double> embeddings_;  // [words, 3]
  Linear<double> to_q_, to_k_, to_v_;
};

}  // namespace sextant
