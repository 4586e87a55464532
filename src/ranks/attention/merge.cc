// Weighted sums of results, weights in float64.
#include "ranks/attention/merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/core/parallel.h"

namespace sextant::ranks {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

struct Weights {
  double before, more, log;
};

Weights weights_of(double before, double more) {
  if (before == more) return {0.5, 0.5, before + std::log(2.0)};  // two infinities as well
  const double most = std::isnan(before) ? before : std::max(before, more);
  const double a = std::exp(before - most), b = std::exp(more - most);
  return {a / (a + b), b / (a + b), most + std::log(a + b)};
}

void scale_row(const View<float>& row, float by) {
  for (std::int64_t c = 0; c < row.size(0); ++c) {
    float& to = row.data()[c * row.stride(0)];
    to = by == 0 ? 0 : to * by;
  }
}

// Rounds once, so that many slices are no less exact than one.
void add_row(const View<float>& row, double before, View<const float> more, double weight) {
  for (std::int64_t c = 0; c < row.size(0); ++c) {
    float& to = row.data()[c * row.stride(0)];
    const auto from = static_cast<double>(more.data()[c * more.stride(0)]);
    const double kept = before == 0 ? 0 : static_cast<double>(to) * before;
    to = static_cast<float>(weight == 0 ? kept : kept + from * weight);
  }
}

// f(head, row) of a [batch, heads, rows, ...] view on several threads.
template <class F>
void each_row(const View<float>& out, int threads, const F& f) {
  const std::int64_t heads = out.size(1), rows = out.size(2);
  constexpr std::int64_t kRows = 256;  // a task
  const std::int64_t blocks = (rows + kRows - 1) / kRows;
  parallel_for(out.size(0) * heads * blocks, threads, [&](std::int64_t task) {
    const std::int64_t b = task / blocks / heads, h = task / blocks % heads;
    const std::int64_t end = std::min(rows, (task % blocks + 1) * kRows);
    for (std::int64_t i = task % blocks * kRows; i < end; ++i) f(b, h, i);
  });
}

}  // namespace

void merge(const Sums& sums, View<const float> out, View<const float> logs, int threads) {
  each_row(sums.out, threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const double more = logs(b, h, i);
    if (more == kNone) return;
    double& log = sums.logs(b, h, i);
    const View<float> to = sums.out.select(0, b).select(0, h).select(0, i);
    const View<const float> from = out.select(0, b).select(0, h).select(0, i);
    if (log == kNone) {
      add_row(to, 0, from, 1);
      log = more;
      return;
    }
    const Weights weights = weights_of(log, more);
    add_row(to, weights.before, from, weights.more);
    log = weights.log;
  });
}

void begin(const Sums& sums, View<const float> logs) {
  for (std::int64_t b = 0; b < logs.size(0); ++b) {
    for (std::int64_t h = 0; h < logs.size(1); ++h) {
      for (std::int64_t i = 0; i < logs.size(2); ++i) sums.logs(b, h, i) = logs(b, h, i);
    }
  }
}

void finish(const Sums& sums, std::span<const double> sinks) {
  each_row(sums.out, 1, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    double& log = sums.logs(b, h, i);
    const View<float> row = sums.out.select(0, b).select(0, h).select(0, i);
    if (log == kNone) scale_row(row, 0);
    if (sinks.empty() || sinks[static_cast<std::size_t>(h)] == kNone) return;
    const Weights weights = weights_of(log, sinks[static_cast<std::size_t>(h)]);
    if (log != kNone) scale_row(row, static_cast<float>(weights.before));
    log = weights.log;
  });
}

}  // namespace sextant::ranks
