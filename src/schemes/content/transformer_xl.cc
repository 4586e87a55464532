// Transformer-XL's relative positions: the projected sinusoids of all distances are a table.
#include "sextant/schemes/content/transformer_xl.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

struct TransformerXlSizes {  // sizes from the shapes of the weights
  std::optional<std::int64_t> width{};
};
constexpr IntegerRange kWidth{2, 1 << 20, 2};
constexpr std::int64_t kMaxDistance = 1 << 22;

}  // namespace

template <>
inline constexpr auto kFields<TransformerXlSizes> =
    std::tuple{field(&TransformerXlSizes::width, "width", kWidth,
                     "width of the sinusoids; auto: that of the embeddings")};
template <>
inline constexpr auto kFields<TransformerXl> =
    std::tuple{field(&TransformerXl::base, "base", kAboveZero, "base of the sinusoids"),
               field(&TransformerXl::clamp_len, "clamp_len", IntegerRange{0, kMaxDistance},
                     "larger distances are clipped to it; 0: off"),
               field(&TransformerXl::max_distance, "max_distance", IntegerRange{0, kMaxDistance},
                     "largest distance of the term, if nothing else determines it")
                   .of_request()};
template <>
inline constexpr auto kWeights<TransformerXlWeights> = std::tuple{
    weight(&TransformerXlWeights::u, "u", "[heads, head_dim]",
           "added to queries for products with keys; initially normal, standard deviation 0.5"),
    weight(&TransformerXlWeights::v, "v", "[heads, head_dim]",
           "added to queries for products with distances; initially the same"),
    weight(&TransformerXlWeights::w_r, "w_r", "[heads, head_dim, width]",
           "projects the sinusoids; initially normal, standard deviation 1 / sqrt(width)")};

namespace {

// The largest distance with a separate vector.
std::int64_t max_distance_of(const TransformerXl& options, const std::vector<std::int64_t>& ids) {
  std::int64_t max_distance = options.clamp_len > 0 ? options.clamp_len : options.max_distance;
  if (!ids.empty()) {
    const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
    max_distance = *max - *min;
  }
  if (options.clamp_len > 0) max_distance = std::min(max_distance, options.clamp_len);
  if (max_distance > kMaxDistance) {
    throw Error("transformer_xl.positions", "must be at most 2^22 apart without clamp_len, got " +
                                                std::to_string(max_distance));
  }
  return max_distance;
}

void check(const TransformerXl& options, const TransformerXlWeights& weights) {
  check_fields("transformer_xl", options);
  const Shape& shape = weights.w_r.shape();
  if (shape.rank() != 3 || shape.count() == 0) {
    throw Error("transformer_xl.w_r", "must be [heads, head_dim, width], got " + shape.to_string());
  }
  check_range(kWidth, "transformer_xl.width", shape[2]);
  schemes_detail::check_finite("transformer_xl", "w_r", weights.w_r);
  const Shape per_head{shape[0], shape[1]};
  for (const auto& [name, vectors] : {std::pair("v", &weights.v), std::pair("u", &weights.u)}) {
    if (vectors->shape() != per_head) {
      throw Error(std::string("transformer_xl.") + name,
                  "must be " + per_head.to_string() + ", got " + vectors->shape().to_string());
    }
    schemes_detail::check_finite("transformer_xl", name, *vectors);
  }
}

// Returns R of the distances query - key of the rows: row n is key - query = n - rows / 2.
Tensor<double> sinusoids(const TransformerXl& options, std::int64_t width, std::int64_t rows) {
  std::vector<std::int64_t> distances(static_cast<std::size_t>(rows));
  for (std::int64_t n = 0; n < rows; ++n) distances[static_cast<std::size_t>(n)] = rows / 2 - n;
  Sinusoidal sines{.width = width, .base = options.base, .layout = SinusoidalLayout::half_split};
  return sinusoidal<double>(sines, distances);
}

// w_r[h] r[n] of each head and row, [heads, rows, head_dim]. Each sum is one chain in the order of
// the width; the channels are the inner loop, because they fill vectors.
Tensor<double> projected(const Tensor<double>& w_r, const Tensor<double>& r) {
  const std::int64_t heads = w_r.size(0), head_dim = w_r.size(1), width = w_r.size(2);
  Tensor<double> to({heads, r.size(0), head_dim}), of_head({width, head_dim});
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t c = 0; c < head_dim; ++c) {
      for (std::int64_t w = 0; w < width; ++w) of_head(w, c) = w_r(h, c, w);
    }
    for (std::int64_t n = 0; n < r.size(0); ++n) {
      for (std::int64_t w = 0; w < width; ++w) {
        schemes_detail::add_times(r(n, w), &of_head(w, 0), head_dim, &to(h, n, 0));
      }
    }
  }
  return to;
}

}  // namespace

std::shared_ptr<const ScoreTerm> transformer_xl(const TransformerXl& options,
                                                const TransformerXlWeights& weights,
                                                std::span<const std::int64_t> positions) {
  check(options, weights);
  schemes_detail::RelativeVectors vectors{
      .scheme = "transformer_xl",
      .head_dim = weights.w_r.size(1),
      .ids = schemes_detail::checked_ids("transformer_xl", positions)};
  const std::int64_t rows = 2 * max_distance_of(options, vectors.ids) + 1;
  const std::int64_t heads = weights.w_r.size(0), head_dim = weights.w_r.size(1);
  if (heads * head_dim > (std::int64_t{1} << 28) / rows) {
    throw Error("transformer_xl", "must have at most 2^28 projected numbers, got [" +
                                      std::to_string(heads) + ", " + std::to_string(rows) + ", " +
                                      std::to_string(head_dim) + "]: set clamp_len");
  }
  vectors.rows.resize(static_cast<std::size_t>(rows));
  std::iota(vectors.rows.begin(), vectors.rows.end(), 0);
  vectors.clamps = options.clamp_len > 0;
  const Tensor<double> r = sinusoids(options, weights.w_r.size(2), rows);
  vectors.key_table = projected(weights.w_r, r);
  vectors.position_bias = weights.v.clone();
  vectors.content_bias = weights.u.clone();
  return schemes_detail::relative_term(std::move(vectors));
}

TransformerXlWeights transformer_xl_backward(const TransformerXl& options,
                                             const TransformerXlWeights& weights,
                                             View<const double> gradient) {
  check(options, weights);
  const std::int64_t heads = weights.w_r.size(0), head_dim = weights.w_r.size(1);
  // That of the projected sinusoids and of two vectors: [rows + 2, heads, head_dim] numbers.
  const std::int64_t numbers = gradient.rank() == 2 ? gradient.size(1) : 0;
  const std::int64_t rows = numbers / (heads * head_dim) - 2;
  if (rows < 1 || rows % 2 == 0 || numbers % (heads * head_dim) != 0) {
    throw Error("transformer_xl.gradient",
                "must be [1, parameters] of the term, got " + gradient.shape().to_string());
  }
  std::int64_t at = 0;
  const auto take = [&](const Shape& shape) {
    return schemes_detail::take_gradient("transformer_xl", gradient, at, shape);
  };
  const Tensor<double> table = take({heads, rows, head_dim});
  TransformerXlWeights sums;
  sums.v = take({heads, head_dim});
  sums.u = take({heads, head_dim});
  sums.w_r = Tensor<double>(weights.w_r.shape());
  const Tensor<double> r = sinusoids(options, weights.w_r.size(2), rows);
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t c = 0; c < head_dim; ++c) {
        schemes_detail::add_times(table(h, n, c), &r(n, 0), r.size(1), &sums.w_r(h, c, 0));
      }
    }
  }
  return sums;
}

namespace descriptors {
namespace {

using Of = Given<TransformerXlSizes, TransformerXl>;

std::int64_t width_of(const Of& of) { return of.width ? *of.width : of.request.width / 2 * 2; }

constexpr Definition<TransformerXlWeights, TransformerXlSizes, TransformerXl> kDefinition = {
    .name = "transformer_xl",
    .title = "Transformer-XL",
    .kind = SchemeKind::content,
    .idea =
        "Adds products of queries with projected sinusoids of the distance, and two learned "
        "vectors.",
    .paper = "Dai et al. 2019, 1901.02860",
    .sizes = [](const Of& of) -> WeightSizes {
      check_range(kWidth, "transformer_xl.width", width_of(of));
      const std::int64_t head_dim = schemes_detail::head_dim_of("transformer_xl", of.request);
      const std::int64_t heads = of.request.heads;
      return {{"u", {heads, head_dim}},
              {"v", {heads, head_dim}},
              {"w_r", {heads, head_dim, width_of(of)}}};
    },
    .initial =
        [](const Of& of, InitialWeights& to) {
          to.normal("u", 0.5);
          to.normal("v", 0.5);
          to.normal("w_r", 1 / std::sqrt(static_cast<double>(width_of(of))));
        },
    .make = [](const Of& of, const auto& weights) -> SchemeTable {
      return transformer_xl(of, weights, of.ids());
    },
    .backward = [](const Of& of, const auto& weights,
                   auto gradient) { return transformer_xl_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kTransformerXl = scheme_of<kTransformerXl, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
