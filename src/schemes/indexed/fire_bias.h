// FIRE's biases of the pairs of one sequence, and the sums that become its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schemes/indexed/fire_network.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/schemes/indexed/fire.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

// psi(x) = ln(|c| x + 1), and its derivative by c.
double fire_psi(double c, double x) noexcept;
double fire_psi_by_c(double c, double x) noexcept;

class FireBias final : public ScoreTerm {
 public:
  FireBias(const Fire& options, const FireWeights& weights, PositionRuns ids);

  void check(const CallExtents& call) const override;
  // Parameters: [heads, pieces, 2] sums of g and g x for the network, then [heads, 2]: of c and of
  // the multiplier.
  TermNeeds needs() const override;
  void add(const ScoreTile<float>& tile) const noexcept override;
  void backward(const ScoreGradient<double>& tile) const noexcept override;

 private:
  double psi(std::int64_t distance) const noexcept;
  // Cuts keys with consecutive ids where the network bends: piece(s, distance, step, at, keys) for
  // distances distance, distance + step, ..., all >= 0; `scale` is the query's.
  template <class Piece>
  void for_each_piece(double scale, std::int64_t query_id, std::int64_t key_id, std::int64_t at,
                      std::int64_t keys, Piece piece) const noexcept;
  template <class Piece>
  void cut(double scale, std::int64_t distance, std::int64_t step, std::int64_t at,
           std::int64_t keys, Piece piece) const noexcept;

  // 1 / (psi(max(L, i)) + epsilon) of a query's id i.
  double scale_of(std::int64_t query_id) const noexcept;
  bool by_threshold(std::int64_t query_id) const noexcept {
    return threshold_ >= static_cast<double>(query_id);
  }
  bool in_table(std::int64_t distance) const noexcept { return distance <= span_; }

  double c_, epsilon_;
  double threshold_;                // L
  double threshold_by_multiplier_;  // its derivative
  double threshold_scale_;          // 1 / (psi(L) + epsilon)
  FireNetwork network_;
  PositionRuns ids_;
  // psi of distance d at span_ + d and at span_ - d, so that keys one after the other find theirs
  // one after the other; empty, with span_ -1, when ids are too far apart for a table.
  std::vector<double> psi_;
  std::int64_t span_ = -1;
};

}  // namespace sextant::schemes_detail
