// Contextual positions: a scan over a row's gates, then an interpolated lookup.
#include "sextant/schemes/content/cope.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "schemes/content/cope_tiles.h"
#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct CopeSizes {  // sizes from the shape of the table
  std::int64_t npos = 64;
};

}  // namespace

template <>
inline constexpr auto kFields<Cope> = std::tuple{
    field(&Cope::scaled, "scaled", "scale the term like <q, k>; no: add it after the scaling")};
template <>
inline constexpr auto kFields<CopeSizes> =
    std::tuple{field(&CopeSizes::npos, "npos", IntegerRange{1, 1 << 20},
                     "number of positions; keys farther away use the last one")};
template <>
inline constexpr auto kWeights<CopeWeights> =
    std::tuple{weight(&CopeWeights::table, "table", "[npos, head_dim]",
                      "one vector per position; initially normal, standard deviation 0.5")};

namespace {

class CopeTerm final : public ScoreTerm {
 public:
  CopeTerm(const Cope& options, Tensor<double> table)
      : scaled_(options.scaled), table_(std::move(table)), tiles_(table_) {}

  void check(const CallExtents& call) const override {
    if (call.head_dim != table_.size(2)) {
      throw Error("cope.table", "must have the call's head_dim, " + std::to_string(call.head_dim) +
                                    ", got " + std::to_string(table_.size(2)));
    }
    if (call.sees_future_keys) {
      throw Error("cope",
                  "must be used with causal attention: positions count back from the query");
    }
  }

  TermNeeds needs() const override {
    return {.before_softcap = true,
            .q = true,
            .tiles = TermTiles::rows,
            .scratch = tiles_.scratch(),
            .scratch_per_key = tiles_.scratch_per_key(),
            .parameters = table_.count()};
  }

  void add(const ScoreTile<float>& tile) const noexcept override {
    tiles_.add(tile, static_cast<float>(factor_of(tile.scale)));
  }
  void add(const ScoreTile<double>& row) const noexcept override {
    const Scan row_scan = scan(row, row.scores);
    const double factor = factor_of(row.scale);
    for (std::int64_t j = 0; j < row.keys; ++j) {
      const Interpolation at = interpolation(row_scan.positions[j]);
      row.scores[j] +=
          factor * ((1 - at.fraction) * row_scan.z[at.below] + at.fraction * row_scan.z[at.above]);
    }
  }

  void backward(const ScoreGradient<float>& tile) const noexcept override {
    tiles_.backward(tile, factor_of(tile.scale));
  }
  void backward(const ScoreGradient<double>& row) const noexcept override {
    const Scan row_scan = scan(row, row.scores);
    double* dz = row_scan.z + count();
    std::fill_n(dz, count(), 0.0);
    const double factor = factor_of(row.scale);
    double dgate = 0;  // a gate counts in the positions of its key and of all keys before it
    for (std::int64_t j = 0; j < row.keys; ++j) {
      const Interpolation at = interpolation(row_scan.positions[j]);
      const double d = factor * row.dscores[j];
      if (d != 0) {
        dz[at.below] += (1 - at.fraction) * d;
        dz[at.above] += at.fraction * d;
        dgate += d * (row_scan.z[at.above] - row_scan.z[at.below]);
      }
      const double g = gate(row.scores[j]);
      if (dgate != 0 && g != 0) row.dscores[j] += dgate * g * (1 - g);
    }
    const std::int64_t n = row.head_dim;
    for (std::int64_t p = 0; p < count(); ++p) {
      if (dz[p] == 0) continue;
      for (std::int64_t c = 0; c < n; ++c) {
        row.dq[c] += dz[p] * table_.data()[p * n + c];
        row.parameters[p * n + c] += dz[p] * row.q[c];
      }
    }
  }

 private:
  struct Scan {
    double* z;          // [npos], and room for as many after it
    double* positions;  // by key
  };
  struct Interpolation {
    std::int64_t below, above;
    double fraction;
  };

  std::int64_t count() const noexcept { return table_.size(1); }
  double factor_of(double scale) const noexcept { return scaled_ ? scale : 1; }
  static double gate(double score) noexcept { return 1 / (1 + std::exp(-score)); }

  Interpolation interpolation(double position) const noexcept {
    // NaN propagates.
    if (std::isnan(position)) return {0, 0, position};
    const double below = std::floor(position);
    const auto n = static_cast<std::int64_t>(below);
    return {n, std::min(n + (position > below ? 1 : 0), count() - 1), position - below};
  }

  Scan scan(const ScoreInputs<double>& row, const double* scores) const noexcept {
    const Scan row_scan{row.scratch, row.scratch + 2 * count()};
    const std::int64_t n = row.head_dim;
    for (std::int64_t p = 0; p < count(); ++p) {
      double sum = 0;
      for (std::int64_t c = 0; c < n; ++c) sum += row.q[c] * table_.data()[p * n + c];
      row_scan.z[p] = sum;
    }
    const auto last = static_cast<double>(count() - 1);
    double position = 0;
    for (std::int64_t j = row.keys; j-- > 0;) {
      position += gate(scores[j]);
      row_scan.positions[j] = position > last ? last : position;
    }
    return row_scan;
  }

  bool scaled_;
  Tensor<double> table_;  // [1, npos, head_dim]
  schemes_detail::CopeTiles tiles_;
};

}  // namespace

std::shared_ptr<const ScoreTerm> cope(const Cope& options, const CopeWeights& weights) {
  const Tensor<double>& table = weights.table;
  if (table.rank() != 2 || table.count() == 0) {
    throw Error("cope.table", "must be [npos, head_dim] with at least one of each, got " +
                                  table.shape().to_string());
  }
  return std::make_shared<const CopeTerm>(
      options, schemes_detail::table_of("cope", "table", table, table.size(0)));
}

CopeWeights cope_backward(const Cope&, const CopeWeights& weights, View<const double> gradient) {
  std::int64_t at = 0;
  return {schemes_detail::take_gradient("cope", gradient, at, weights.table.shape())};
}

namespace descriptors {
namespace {

constexpr Definition<CopeWeights, CopeSizes, Cope> kDefinition = {
    .name = "cope",
    .title = "CoPE",
    .kind = SchemeKind::content,
    .idea = "Measures distance as the sum of the query's gates for the keys between.",
    .paper = "Golovneva et al. 2024, 2405.18719",
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"table", {of.npos, schemes_detail::head_dim_of("cope", of.request)}}};
    },
    .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.5); },
    .make = [](const auto& of, const auto& weights) -> SchemeTable { return cope(of, weights); },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return cope_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kCope = scheme_of<kCope, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
