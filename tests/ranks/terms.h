// Terms of the scores that tell where they are asked: a rank that asks in the wrong place shows.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "sextant/tables/score_term.h"

namespace sextant::ranks {

// Biases that depend on the head, the sequence and both positions, with two parameters.
class WavyBias final : public ScoreTerm {
 public:
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& t) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        t.add(i, j, value(t, i, j, 0.5) + value(t, i, j, 0.25));
      }
    }
  }
  TermNeeds needs() const override { return {.parameters = 2}; }
  void backward(const ScoreGradient<double>& t) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        const double ds = t.dscores[i * t.stride + j];
        t.parameters[0] += ds * static_cast<double>(value(t, i, j, 0.5));
        t.parameters[1] += ds * static_cast<double>(value(t, i, j, 0.25));
      }
    }
  }

 private:
  static float value(const ScoreRect& t, std::int64_t i, std::int64_t j, double step) noexcept {
    const auto place = static_cast<double>(3 * t.query_position(i) + 2 * t.key_position(j) +
                                           5 * t.head + 7 * t.sequence + t.first_query + i);
    return static_cast<float>(std::sin(step * place));
  }
};

// A content term that depends on the batch row, the head, both positions, the begin of the segment
// and the contents, with one parameter.
class PlacedTerm final : public ScoreTerm {
 public:
  void check(const CallExtents&) const override {}
  TermNeeds needs() const override {
    return {.before_softcap = true, .q = true, .k = true, .parameters = 1};
  }
  void add(const ScoreTile<float>& tile) const noexcept override;
  void add(const ScoreTile<double>& tile) const noexcept override;
  void backward(const ScoreGradient<double>& tile) const noexcept override;
};

// The term of a name: "placed", or a scheme's with random weights ("shaw" with vectors for values,
// "shaw_keys" without).
std::shared_ptr<const ScoreTerm> content_term(const std::string& name, std::int64_t batch,
                                              std::int64_t heads, std::int64_t head_dim,
                                              std::int64_t v_dim, std::int64_t k_len);

}  // namespace sextant::ranks
