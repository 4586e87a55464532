// FIRE's biases of the pairs of one sequence. psi is looked up by distance, and a row of keys with
// consecutive ids falls into few stretches, each of which is one straight line in psi.
#include "schemes/indexed/fire_bias.h"

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/attention/bias_rows.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {
namespace {

// Ids this much further apart than there are tokens get no table.
constexpr std::int64_t kMaxSparse = 16;
constexpr std::int64_t kAlwaysTable = 1 << 16;

}  // namespace

double fire_psi(double c, double x) noexcept { return std::log1p(std::abs(c) * x); }

double fire_psi_by_c(double c, double x) noexcept {
  return (c < 0 ? -x : x) / (1 + std::abs(c) * x);
}

FireBias::FireBias(const Fire& options, const FireWeights& weights, PositionRuns ids)
    : c_(weights.c), epsilon_(options.epsilon), network_(weights), ids_(std::move(ids)) {
  const double multiplied = weights.threshold_multiplier * options.threshold;
  threshold_ = std::abs(multiplied);
  threshold_by_multiplier_ = std::copysign(options.threshold, multiplied);
  threshold_scale_ = 1 / (fire_psi(c_, threshold_) + epsilon_);
  // No ids are further apart, and no scale is larger.
  const double largest_x = fire_psi(c_, 0x1p54) * threshold_scale_;
  if (!(network_.largest(largest_x) <= static_cast<double>(std::numeric_limits<float>::max()))) {
    throw Error("fire.w2", "must make biases within float32 with w1, b1 and b2");
  }
  const std::int64_t max_distance = ids_.max() - ids_.min();
  if (max_distance > std::max(kAlwaysTable, kMaxSparse * ids_.size())) return;
  span_ = max_distance;
  psi_.resize(static_cast<std::size_t>(2 * span_ + 1));
  double before = 0;
  for (std::int64_t distance = 0; distance <= span_; ++distance) {
    // A library's logarithm may err by a unit in the last place; it has to ascend.
    before = std::max(before, fire_psi(c_, static_cast<double>(distance)));
    psi_[static_cast<std::size_t>(span_ + distance)] = before;
    psi_[static_cast<std::size_t>(span_ - distance)] = before;
  }
}

double FireBias::psi(std::int64_t distance) const noexcept {
  return in_table(distance) ? psi_[static_cast<std::size_t>(span_ + distance)]
                            : fire_psi(c_, static_cast<double>(distance));
}

double FireBias::scale_of(std::int64_t query_id) const noexcept {
  return by_threshold(query_id) ? threshold_scale_ : 1 / (psi(query_id) + epsilon_);
}

template <class Piece>
void FireBias::cut(double scale, std::int64_t distance, std::int64_t step, std::int64_t at,
                   std::int64_t keys, Piece piece) const noexcept {
  while (keys > 0) {
    const std::int64_t s = network_.piece_of(psi(distance) * scale);
    std::int64_t within = 1;
    if (in_table(std::max(distance, distance + step * (keys - 1)))) {
      // psi ascends with the distance here, so the piece is left once: at its upper kink where
      // distances grow, at its lower one where they fall.
      const double* from = psi_.data() + span_ + step * distance;
      const double begin = s > 0 && step < 0 ? network_.kink(s - 1) : -1;
      const double end = s + 1 < network_.pieces() && step > 0
                             ? network_.kink(s)
                             : std::numeric_limits<double>::infinity();
      const auto stays = [&](std::int64_t i) {
        const double x = from[i] * scale;
        return begin <= x && x < end;
      };
      std::int64_t beyond = keys;
      if (stays(keys - 1)) within = keys;
      while (within < beyond) {
        const std::int64_t middle = within + (beyond - within) / 2;
        if (stays(middle)) {
          within = middle + 1;
        } else {
          beyond = middle;
        }
      }
    }
    piece(s, distance, step, at, within);
    distance += step * within;
    at += within;
    keys -= within;
  }
}

template <class Piece>
void FireBias::for_each_piece(double scale, std::int64_t query_id, std::int64_t key_id,
                              std::int64_t at, std::int64_t keys, Piece piece) const noexcept {
  const std::int64_t past = std::clamp<std::int64_t>(query_id - key_id + 1, 0, keys);
  cut(scale, query_id - key_id, -1, at, past, piece);
  cut(scale, key_id + past - query_id, 1, at + past, keys - past, piece);
}

void FireBias::check(const CallExtents& call) const {
  ids_.check_heads(call, network_.heads());
  ids_.check(call);
}

void FireBias::add(const ScoreTile<float>& tile) const noexcept {
  const auto hide = [&](std::int64_t at, std::int64_t keys) {
    std::fill_n(tile.scores + at, keys, kHiddenScore);
  };
  kernels::RowList<kernels::BiasLine, decltype(&kernels::add_lines)> lines(&kernels::add_lines);
  const auto run = [&](std::int64_t query_id, std::int64_t key_id, std::int64_t begin,
                       std::int64_t all) {
    const double scale = scale_of(query_id);
    const auto line = [&](std::int64_t s, std::int64_t distance, std::int64_t step, std::int64_t at,
                          std::int64_t keys) {
      const double slope = network_.slope(tile.head, s) * scale;
      const double intercept = network_.intercept(tile.head, s);
      float* to = tile.scores + at;
      if (keys == 1) {  // not always in the table
        to[0] += static_cast<float>(slope * psi(distance) + intercept);
        return;
      }
      const double* from = psi_.data() + span_ + step * distance;
      lines.add({from, to, keys, slope, intercept});
    };
    for_each_piece(scale, query_id, key_id, begin, all, line);
  };
  for_each_run(ids_, tile, tile.stride, run, hide);
}

TermNeeds FireBias::needs() const {
  return {.parameters = network_.heads() * (network_.pieces() * 2 + 2)};
}

void FireBias::backward(const ScoreGradient<double>& tile) const noexcept {
  double* of_pieces = tile.parameters + tile.head * network_.pieces() * 2;
  double* of_scalars = tile.parameters + network_.heads() * network_.pieces() * 2 + tile.head * 2;
  const auto run = [&](std::int64_t query_id, std::int64_t key_id, std::int64_t begin,
                       std::int64_t all) {
    const double scale = scale_of(query_id);
    const bool limited = by_threshold(query_id);
    const double norm_id = limited ? threshold_ : static_cast<double>(query_id);
    const double norm_by_c = fire_psi_by_c(c_, norm_id);
    const double norm_by_multiplier =
        limited ? threshold_by_multiplier_ * std::abs(c_) / (1 + std::abs(c_) * norm_id) : 0;
    const auto line = [&](std::int64_t s, std::int64_t distance, std::int64_t step, std::int64_t at,
                          std::int64_t keys) {
      double sum = 0, with_psi = 0, with_psi_by_c = 0;
      for (std::int64_t i = 0; i < keys; ++i) {
        const double g = tile.dscores[at + i];
        const std::int64_t d = distance + step * i;
        sum += g;
        with_psi += g * psi(d);
        with_psi_by_c += g * fire_psi_by_c(c_, static_cast<double>(d));
      }
      // x = psi scale, and scale' = -scale^2 norm'.
      const double with_x = with_psi * scale;
      const double slope = network_.slope(tile.head, s) * scale;
      of_pieces[2 * s] += sum;
      of_pieces[2 * s + 1] += with_x;
      of_scalars[0] += slope * (with_psi_by_c - with_x * norm_by_c);
      of_scalars[1] -= slope * with_x * norm_by_multiplier;
    };
    for_each_piece(scale, query_id, key_id, begin, all, line);
  };
  for_each_run(ids_, tile, tile.stride, run, [](std::int64_t, std::int64_t) {});
}

}  // namespace sextant::schemes_detail
