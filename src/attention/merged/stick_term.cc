// Scores of shares of a stick, from the newest key to the oldest.
#include "attention/merged/stick_term.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/row_functions.h"

namespace sextant::attention_detail {
namespace {

using kernels::kSummedRows, kernels::SummedRows;

// Later keys have taken all of the stick but e^-kAll, which is 0 in float32 beside what they took.
constexpr float kAll = 150;
constexpr std::int64_t kChunk = 128;  // keys

// Calls use(sums in scratch, number of the first query) for up to kSummedRows queries at a time.
template <class Use>
void for_each_group(const ScoreInputs<float>& tile, const Use& use) {
  for (std::int64_t first = 0; first < tile.queries; first += kSummedRows) {
    use(SummedRows{tile.scratch, tile.keys, std::min(kSummedRows, tile.queries - first)}, first);
  }
}

// A key from which nothing is left to take is hidden, so that kernels need not read it; NaN stays.
float of_rest(float z) noexcept {
  return std::isnan(z) ? z : -std::numeric_limits<float>::infinity();
}

// Replaces z by z - sum in keys [begin, end); `later` is the sum of later keys.
void subtract_sums(const float* sums, std::int64_t begin, std::int64_t end, float later,
                   float* scores) noexcept {
  for (std::int64_t j = end; j-- > begin; later = sums[j]) {
    scores[j] = later >= kAll ? of_rest(scores[j]) : scores[j] - sums[j];
  }
}

}  // namespace

TermNeeds StickTerm::needs() const {
  return {.before_softcap = true, .tiles = TermTiles::rows, .scratch_per_key = 2 * kSummedRows};
}

void StickTerm::add(const ScoreTile<float>& tile) const noexcept {
  for_each_group(tile, [&](const SummedRows& sums, std::int64_t first) {
    const auto scores = [&](std::int64_t r) { return tile.scores + (first + r) * tile.stride; };
    double taken[kSummedRows] = {};
    const auto is_left = [](double sum) { return !(sum >= static_cast<double>(kAll)); };
    std::int64_t end = tile.keys;
    while (end > 0 && std::any_of(taken, taken + sums.rows, is_left)) {
      const std::int64_t begin = std::max<std::int64_t>(0, end - kChunk);
      float later[kSummedRows];
      for (std::int64_t r = 0; r < sums.rows; ++r) {
        later[r] = static_cast<float>(taken[r]);
        kernels::softplus(scores(r) + begin, end - begin, sums.data + r * sums.stride + begin);
      }
      kernels::sum_from_end(sums, begin, end, taken);
      for (std::int64_t r = 0; r < sums.rows; ++r) {
        subtract_sums(sums.data + r * sums.stride, begin, end, later[r], scores(r));
      }
      end = begin;
    }
    for (std::int64_t r = 0; r < sums.rows; ++r) {
      std::transform(scores(r), scores(r) + end, scores(r), of_rest);
    }
  });
}

void StickTerm::add(const ScoreTile<double>& row) const noexcept {
  double taken = 0;
  for (std::int64_t j = row.keys; j-- > 0;) {
    const double z = row.scores[j], rest = std::log1p(std::exp(-std::abs(z)));
    row.scores[j] = std::min(z, 0.0) - rest - taken;  // log sigmoid(z)
    taken += std::max(z, 0.0) + rest;                 // -log(1 - sigmoid(z))
  }
}

void StickTerm::backward(const ScoreGradient<float>& tile) const noexcept {
  for_each_group(tile, [&](const SummedRows& sums, std::int64_t first) {
    float* const shares = sums.data + kSummedRows * tile.keys;
    const auto dscores = [&](std::int64_t r) { return tile.dscores + (first + r) * tile.stride; };
    std::int64_t begin = tile.keys;  // keys before have no gradient
    for (std::int64_t r = 0; r < sums.rows; ++r) {
      const float* const row = dscores(r);
      begin = std::find_if(row, row + begin, [](float ds) { return ds != 0; }) - row;
    }
    for (std::int64_t r = 0; r < sums.rows; ++r) {
      const std::int64_t to = r * sums.stride + begin;
      kernels::sigmoids(tile.scores + (first + r) * tile.stride + begin, tile.keys - begin,
                        shares + to);
      std::copy(dscores(r) + begin, dscores(r) + tile.keys, sums.data + to);
    }
    double sum[kSummedRows] = {};
    kernels::sum_from_begin(sums, begin, tile.keys, sum);
    for (std::int64_t r = 0; r < sums.rows; ++r) {
      const std::int64_t row = r * sums.stride;
      for (std::int64_t j = begin; j < tile.keys; ++j) {
        dscores(r)[j] -= shares[row + j] * sums.data[row + j];
      }
    }
  });
}

void StickTerm::backward(const ScoreGradient<double>& row) const noexcept {
  double sum = 0;
  for (std::int64_t j = 0; j < row.keys; ++j) {
    sum += row.dscores[j];
    const double share = 1 / (1 + std::exp(-row.scores[j]));
    if (share != 0 && sum != 0) row.dscores[j] -= share * sum;
  }
}

}  // namespace sextant::attention_detail
