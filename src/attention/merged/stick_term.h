// The term that makes weights of a softmax shares of a stick.
#pragma once

#include "sextant/tables/score_term.h"

namespace sextant::attention_detail {

// score(i, j) = log sigmoid(z_ij) + sum over keys l after j of log(1 - sigmoid(z_il))
//             = z_ij - sum over l >= j of log(1 + e^z_il).
class StickTerm final : public ScoreTerm {
 public:
  void check(const CallExtents&) const override {}
  TermNeeds needs() const override;

  void add(const ScoreTile<float>& tile) const noexcept override;
  void add(const ScoreTile<double>& row) const noexcept override;
  // A key's number is in the weights of all keys before it.
  void backward(const ScoreGradient<float>& tile) const noexcept override;
  void backward(const ScoreGradient<double>& row) const noexcept override;
};

}  // namespace sextant::attention_detail
