// TUPE: positions are projected once, and multiplied pair by pair.
#include "sextant/schemes/indexed/tupe.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/definition.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct TupeSizes {  // sizes from the shapes of the weights
  std::int64_t max_length = 512;
  std::int64_t position_width = 64;
  std::int64_t position_dim = 64;
};

}  // namespace

template <>
inline constexpr auto kFields<Tupe> =
    std::tuple{field(&Tupe::separate_cls, "separate_cls",
                     "id 0 is a class token, with one number for its row and one for its column")};
template <>
inline constexpr auto kFields<TupeSizes> =
    std::tuple{field(&TupeSizes::max_length, "max_length", IntegerRange{1, 1 << 20},
                     "largest length of a text: ids are below it"),
               field(&TupeSizes::position_width, "position_width", IntegerRange{1, 1 << 16},
                     "numbers of a learned position"),
               field(&TupeSizes::position_dim, "position_dim", IntegerRange{1, 1 << 12},
                     "channels of a projected position in each head")};
template <>
inline constexpr auto kWeights<TupeWeights> = std::tuple{
    weight(&TupeWeights::table, "table", "[max_length, position_width]",
           "learned positions; initially normal, standard deviation 1"),
    weight(&TupeWeights::query_weights, "query_weights", "[heads, position_dim, position_width]",
           "projects the positions of queries; initially normal, 1 / sqrt(position_width)"),
    weight(&TupeWeights::key_weights, "key_weights", "[heads, position_dim, position_width]",
           "projects the positions of keys; initially the same"),
    weight(&TupeWeights::reset, "reset", "[2, heads]",
           "scores from the class token, and to it from the others; initially 0; not read with "
           "separate_cls = no")};

namespace {

// [heads, rows, dim] of factor * weights table[row].
Tensor<double> projected(const Tensor<double>& table, const Tensor<double>& weights,
                         double factor) {
  const std::int64_t heads = weights.size(0), dim = weights.size(1), width = weights.size(2);
  Tensor<double> all = Tensor<double>::uninitialized({heads, table.size(0), dim});
  double* to = all.data();
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t row = 0; row < table.size(0); ++row) {
      check_interruption();
      for (std::int64_t c = 0; c < dim; ++c) {
        const double* from = weights.data() + (head * dim + c) * width;
        double sum = 0;
        for (std::int64_t w = 0; w < width; ++w) sum += from[w] * table(row, w);
        *to++ = factor * sum;
      }
    }
  }
  return all;
}

double factor_of(const TupeWeights& weights) {
  return 1 / std::sqrt(2 * static_cast<double>(weights.query_weights.size(1)));
}

class TupeBias final : public ScoreTerm {
 public:
  TupeBias(const Tupe& options, const TupeWeights& weights, schemes_detail::PositionRuns ids)
      : queries_(projected(weights.table, weights.query_weights, factor_of(weights))),
        keys_(projected(weights.table, weights.key_weights, 1)),
        ids_(std::move(ids)) {
    if (options.separate_cls) reset_ = weights.reset.clone();
  }

  void check(const CallExtents& call) const override {
    ids_.check_heads(call, heads());
    ids_.check(call);
    if (!call.by_ids) return;
    for (const SequenceExtents& at : call.sequences) {
      if (at.seeing_queries.is_empty()) continue;
      const std::int64_t min = std::min(at.query_ids.first, at.key_ids.first);
      const std::int64_t max = std::max(at.query_ids.last, at.key_ids.last);
      if (has_row(min) && has_row(max)) continue;
      throw Error("tupe", "must have a row for each of the ids " + std::to_string(min) + " .. " +
                              std::to_string(max) + " of the call, got " +
                              std::to_string(keys_.size(1)) + " rows");
    }
  }
  TermNeeds needs() const override { return {.parameters = 2 * keys_.count() + 2 * heads()}; }

  void add(const ScoreTile<float>& tile) const noexcept override {
    const auto hide = [&](std::int64_t at, std::int64_t keys) {
      std::fill_n(tile.scores + at, keys, schemes_detail::kHiddenScore);
    };
    schemes_detail::for_each_run(
        ids_, tile, tile.stride,
        [&](std::int64_t query, std::int64_t key, std::int64_t at, std::int64_t keys) {
          for (std::int64_t j = 0; j < keys; ++j) {
            if (!has_row(query) || !has_row(key + j)) {  // a pair that nobody sees
              hide(at + j, 1);
            } else {
              tile.scores[at + j] += static_cast<float>(bias(tile.head, query, key + j));
            }
          }
        },
        hide);
  }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    double* dqueries = tile.parameters;
    double* dkeys = dqueries + queries_.count();
    double* dreset = dkeys + keys_.count();
    schemes_detail::for_each_run(
        ids_, tile, tile.stride,
        [&](std::int64_t query, std::int64_t key, std::int64_t at, std::int64_t keys) {
          for (std::int64_t j = 0; j < keys; ++j) {
            const double g = tile.dscores[at + j];
            if (g == 0 || !has_row(query) || !has_row(key + j)) continue;
            if (const int which = reset_row(query, key + j); which >= 0) {
              dreset[which * heads() + tile.head] += g;
              continue;
            }
            const std::int64_t of_query = place(tile.head, query),
                               of_key = place(tile.head, key + j);
            for (std::int64_t c = 0; c < keys_.size(2); ++c) {
              dqueries[of_query + c] += g * keys_.data()[of_key + c];
              dkeys[of_key + c] += g * queries_.data()[of_query + c];
            }
          }
        },
        [](std::int64_t, std::int64_t) {});
  }

 private:
  std::int64_t heads() const noexcept { return keys_.size(0); }
  bool has_row(std::int64_t id) const noexcept { return id >= 0 && id < keys_.size(1); }
  std::int64_t place(std::int64_t head, std::int64_t id) const noexcept {
    return (head * keys_.size(1) + id) * keys_.size(2);
  }
  // The row of reset for a pair; -1: none.
  int reset_row(std::int64_t query, std::int64_t key) const noexcept {
    if (reset_.rank() != 2) return -1;
    return query == 0 ? 0 : key == 0 ? 1 : -1;
  }
  double bias(std::int64_t head, std::int64_t query, std::int64_t key) const noexcept {
    if (const int which = reset_row(query, key); which >= 0) return reset_(which, head);
    const double* q = queries_.data() + place(head, query);
    const double* k = keys_.data() + place(head, key);
    double sum = 0;
    for (std::int64_t c = 0; c < keys_.size(2); ++c) sum += q[c] * k[c];
    return schemes_detail::rounded_bias(sum);
  }

  Tensor<double> queries_, keys_;  // [heads, rows, dim]
  Tensor<double> reset_{};         // [2, heads] if the class token is separate
  schemes_detail::PositionRuns ids_;
};

void check(const TupeWeights& weights) {
  using schemes_detail::check_weight;
  check_weight("tupe", "table", weights.table, {"max_length", "position_width"});
  check_weight("tupe", "query_weights", weights.query_weights,
               {"heads", "position_dim", weights.table.size(1)});
  const std::int64_t heads = weights.query_weights.size(0);
  check_weight("tupe", "key_weights", weights.key_weights,
               {heads, weights.query_weights.size(1), weights.table.size(1)}, ", as query_weights");
  check_weight("tupe", "reset", weights.reset, {2, heads});
  if (weights.table.count() == 0) throw Error("tupe.table", "must have at least one number");
  if (weights.query_weights.count() == 0) {
    throw Error("tupe.query_weights", "must have at least one head and channel");
  }
}

}  // namespace

std::shared_ptr<const ScoreTerm> tupe(const Tupe& options, const TupeWeights& weights,
                                      std::span<const std::int64_t> positions) {
  check(weights);
  schemes_detail::PositionRuns ids("tupe", positions);
  if (ids.min() < 0 || ids.max() >= weights.table.size(0)) {
    throw Error("tupe.positions", "must be rows of the table, 0 .. " +
                                      std::to_string(weights.table.size(0) - 1) + ", got " +
                                      std::to_string(ids.min() < 0 ? ids.min() : ids.max()));
  }
  return std::make_shared<TupeBias>(options, weights, std::move(ids));
}

TupeWeights tupe_backward(const Tupe& options, const TupeWeights& weights,
                          View<const double> gradient) {
  check(weights);
  const std::int64_t heads = weights.query_weights.size(0), dim = weights.query_weights.size(1),
                     width = weights.table.size(1), rows = weights.table.size(0);
  const std::int64_t projections = heads * rows * dim;
  if (gradient.shape() != Shape({1, 2 * projections + 2 * heads})) {
    throw Error("tupe.gradient", "must be [1, " + std::to_string(2 * projections + 2 * heads) +
                                     "], as attention_backward() makes it, got " +
                                     gradient.shape().to_string());
  }
  const Tensor<double> packed = copy_of(gradient);
  TupeWeights sums{Tensor<double>(weights.table.shape()),
                   Tensor<double>(weights.query_weights.shape()),
                   Tensor<double>(weights.key_weights.shape()), Tensor<double>({2, heads})};
  // From the gradient of factor * w table[row] to those of w and of the table.
  const auto unproject = [&](const double* from, double factor, const Tensor<double>& w,
                             Tensor<double>& dw) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t c = 0; c < dim; ++c) {
          const double g = factor * *from++;
          if (g == 0) continue;
          for (std::int64_t n = 0; n < width; ++n) {
            dw(head, c, n) += g * weights.table(row, n);
            sums.table(row, n) += g * w(head, c, n);
          }
        }
      }
    }
  };
  unproject(packed.data(), factor_of(weights), weights.query_weights, sums.query_weights);
  unproject(packed.data() + projections, 1, weights.key_weights, sums.key_weights);
  if (options.separate_cls) {
    std::copy_n(packed.data() + 2 * projections, 2 * heads, sums.reset.data());
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<TupeWeights, Tupe, TupeSizes> kDefinition = {
    .name = "tupe",
    .title = "TUPE",
    .kind = SchemeKind::indexed_bias,
    .idea = "Adds products of learned positions with projections of their own to the scores.",
    .paper = "Ke et al. 2021, 2006.15595",
    .sizes = [](const auto& of) -> WeightSizes {
      const std::int64_t heads = of.request.heads;
      const std::vector projection{heads, of.position_dim, of.position_width};
      return {{"table", {of.max_length, of.position_width}},
              {"query_weights", projection},
              {"key_weights", projection},
              {"reset", {2, heads}}};
    },
    .initial =
        [](const auto& of, InitialWeights& to) {
          const double deviation = 1 / std::sqrt(static_cast<double>(of.position_width));
          to.normal("table", 1);
          to.normal("query_weights", deviation);
          to.normal("key_weights", deviation);
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return tupe(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return tupe_backward(of, weights, gradient); },
    .max_length = [](const auto& of) { return of.max_length; },
};

}  // namespace

constinit const Scheme kTupe = scheme_of<kTupe, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
