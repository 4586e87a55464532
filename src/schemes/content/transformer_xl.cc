// Transformer-XL's relative positions: the projected sinusoids of all distances are a table.
#include "sextant/schemes/content/transformer_xl.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "schemes/content/relative_vectors.h"
#include "schemes/descriptors.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

constexpr std::int64_t kFarthest = 1 << 22;

// The largest distance that has a vector of its own.
std::int64_t reach_of(const TransformerXl& options) {
  if (options.width < 2 || options.width % 2 != 0 || options.width > (1 << 20)) {
    throw Error("transformer_xl.width",
                "must be even, 2 .. 2^20, got " + std::to_string(options.width));
  }
  const auto check = [](const char* name, std::int64_t distance) {
    if (distance >= 0 && distance <= kFarthest) return;
    throw Error(std::string("transformer_xl.") + name,
                "must be 0 .. 2^22, got " + std::to_string(distance));
  };
  check("clamp_len", options.clamp_len);
  check("max_distance", options.max_distance);
  std::int64_t reach = options.max_distance;
  if (!options.positions.empty()) {
    const std::vector<std::int64_t> ids = detail::checked_ids("transformer_xl", options.positions);
    const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
    reach = *most - *least;
  } else if (options.clamp_len > 0) {
    reach = options.clamp_len;
  }
  if (options.clamp_len > 0) reach = std::min(reach, options.clamp_len);
  if (reach > kFarthest) {
    throw Error("transformer_xl.positions",
                "must be at most 2^22 apart without clamp_len, got " + std::to_string(reach));
  }
  return reach;
}

// R of the distances query - key that rows stand for: row n is key - query = n - reach.
Tensor<double> sinusoids(const TransformerXl& options, std::int64_t reach) {
  std::vector<std::int64_t> distances(static_cast<std::size_t>(2 * reach + 1));
  for (std::int64_t n = 0; n <= 2 * reach; ++n) distances[static_cast<std::size_t>(n)] = reach - n;
  Sinusoidal sines;
  sines.width = options.width;
  sines.base = options.base;
  sines.layout = SinusoidalLayout::half_split;
  return sinusoidal<double>(sines, distances);
}

Tensor<double> per_head(const char* name, View<const double> vectors, const Shape& shape) {
  if (vectors.shape() != shape) {
    throw Error(std::string("transformer_xl.") + name,
                "must be " + shape.to_string() + ", got " + vectors.shape().to_string());
  }
  detail::check_all_finite("transformer_xl", name, vectors);
  Tensor<double> copy = Tensor<double>::uninitialized(shape);
  for (std::int64_t h = 0; h < shape[0]; ++h) {
    for (std::int64_t c = 0; c < shape[1]; ++c) copy(h, c) = vectors(h, c);
  }
  return copy;
}

}  // namespace

std::shared_ptr<const ContentTerm> transformer_xl(const TransformerXl& options,
                                                  View<const double> u, View<const double> v,
                                                  View<const double> w_r) {
  const std::int64_t reach = reach_of(options), rows = 2 * reach + 1, width = options.width;
  if (w_r.rank() != 3 || w_r.size(2) != width || w_r.count() == 0) {
    throw Error("transformer_xl.w_r", "must be [heads, head_dim, " + std::to_string(width) +
                                          "], got " + w_r.shape().to_string());
  }
  detail::check_all_finite("transformer_xl", "w_r", w_r);
  const std::int64_t heads = w_r.size(0), head_dim = w_r.size(1);
  if (heads * head_dim > (std::int64_t{1} << 28) / rows) {
    throw Error("transformer_xl", "must have at most 2^28 projected numbers, got [" +
                                      std::to_string(heads) + ", " + std::to_string(rows) + ", " +
                                      std::to_string(head_dim) + "]: set clamp_len");
  }
  detail::RelativeVectors vectors{.scheme = "transformer_xl", .head_dim = head_dim};
  vectors.ids = detail::checked_ids("transformer_xl", options.positions);
  vectors.rows.resize(static_cast<std::size_t>(rows));
  std::iota(vectors.rows.begin(), vectors.rows.end(), 0);
  vectors.clamps = options.clamp_len > 0;
  const Tensor<double> r = sinusoids(options, reach);
  vectors.e = Tensor<double>({heads, rows, head_dim});
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t c = 0; c < head_dim; ++c) {
        double sum = 0;
        for (std::int64_t w = 0; w < width; ++w) sum += w_r(h, c, w) * r(n, w);
        vectors.e(h, n, c) = sum;
      }
    }
  }
  vectors.o = per_head("v", v, {heads, head_dim});
  vectors.u = per_head("u", u, {heads, head_dim});
  return detail::relative_term(std::move(vectors));
}

TransformerXlGradients transformer_xl_backward(const TransformerXl& options, std::int64_t heads,
                                               std::int64_t head_dim, View<const double> gradient) {
  const std::int64_t reach = reach_of(options), rows = 2 * reach + 1, width = options.width;
  std::int64_t at = 0;
  const auto take = [&](const Shape& shape) {
    return detail::take_gradient("transformer_xl", gradient, at, shape);
  };
  const Tensor<double> table = take({heads, rows, head_dim});
  TransformerXlGradients gradients;
  gradients.v = take({heads, head_dim});
  gradients.u = take({heads, head_dim});
  gradients.w_r = Tensor<double>({heads, head_dim, width});
  const Tensor<double> r = sinusoids(options, reach);
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t c = 0; c < head_dim; ++c) {
        const double d = table(h, n, c);
        for (std::int64_t w = 0; w < width; ++w) gradients.w_r(h, c, w) += d * r(n, w);
      }
    }
  }
  return gradients;
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"width", "0", "even, 2 .. 2^20, or 0", "of the sinusoids; 0: that of the embeddings"},
    {"base", "10000", "> 0", "of the sinusoids"},
    {"clamp_len", "0", "0 .. 2^22", "keys further away count as this far; 0: off"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial weights"},
};
constexpr SchemeWeight kWeights[] = {
    {"u", "[heads, head_dim]",
     "added to queries for products with keys; initially normal, deviation 0.5"},
    {"v", "[heads, head_dim]", "added to queries for products with distances; initially the same"},
    {"w_r", "[heads, head_dim, width]",
     "projects the sinusoids; initially normal, deviation 1 / sqrt(width)"},
};

TransformerXl options_of(const Parameters& given, const SchemeRequest& request) {
  TransformerXl options;
  options.width = given.integer("width");
  if (options.width == 0) options.width = request.width / 2 * 2;
  options.base = given.number("base");
  options.clamp_len = given.integer("clamp_len");
  options.positions = request.positions;
  if (request.head_dim < 1) {
    throw Error("transformer_xl.head_dim", "must be >= 1, got " + std::to_string(request.head_dim));
  }
  reach_of(options);  // refuses what is out of range
  return options;
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kTransformerXl, request);
  const TransformerXl options = options_of(given, request);
  InitialWeights random(given, request);
  const Shape vectors{request.heads, request.head_dim};
  SchemeWeights weights;
  weights.emplace("u", random.normal(vectors, 0.5));
  weights.emplace("v", random.normal(vectors, 0.5));
  weights.emplace("w_r", random.normal({request.heads, request.head_dim, options.width},
                                       1 / std::sqrt(static_cast<double>(options.width))));
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kTransformerXl, request);
  const TransformerXl options = options_of(given, request);
  const Shape vectors{request.heads, request.head_dim};
  return transformer_xl(options, given.weight("u", vectors), given.weight("v", vectors),
                        given.weight("w_r", {request.heads, request.head_dim, options.width}));
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kTransformerXl, request);
  TransformerXlGradients made = transformer_xl_backward(options_of(given, request), request.heads,
                                                        request.head_dim, gradient);
  SchemeWeights gradients;
  gradients.emplace("u", std::move(made.u));
  gradients.emplace("v", std::move(made.v));
  gradients.emplace("w_r", std::move(made.w_r));
  return gradients;
}

}  // namespace

constinit const Scheme kTransformerXl = {
    .name = "transformer_xl",
    .kind = SchemeKind::content,
    .idea =
        "Adds products of queries with projected sinusoids of the distance, and two learned "
        "vectors.",
    .paper = "Dai et al. 2019, 1901.02860",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
