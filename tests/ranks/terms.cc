// Terms by name, and one of our own.
#include "ranks/terms.h"

#include "sextant/core/random.h"
#include "sextant/schemes.h"

namespace sextant::ranks {
namespace {

// What the term adds to one pair, from the sums of its query's and its key's channels.
float placed(std::int64_t batch, std::int64_t begin, std::int64_t head, std::int64_t query,
             std::int64_t key, float q, float k) {
  const auto place =
      static_cast<double>(3 * query + 2 * key + 5 * head + 7 * batch + 11 * (begin % 100));
  return 0.5F * static_cast<float>(std::sin(0.3 * place)) * (q + k);
}

template <class T>
float sum(const T* channels, std::int64_t count) {
  float total = 0;
  for (std::int64_t c = 0; c < count; ++c) total += static_cast<float>(channels[c]);
  return total;
}

// Of the i-th query and the j-th key of a tile.
template <class Real>
float placed(const ScoreInputs<Real>& tile, std::int64_t i, std::int64_t j) {
  return placed(tile.batch, tile.key_begin, tile.head, tile.first_query + i, tile.first_key + j,
                sum(tile.q + i * tile.q_stride, tile.head_dim),
                sum(tile.k + j * tile.k_stride, tile.head_dim));
}

template <class Real>
void add_placed(const ScoreTile<Real>& tile) {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      tile.add(i, j, static_cast<Real>(placed(tile, i, j)));
    }
  }
}

Tensor<double> random_weights(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x(shape);
  for (double& value : x.span()) value = 0.3 * random.normal();
  return x;
}

}  // namespace

void PlacedTerm::add(const ScoreTile<float>& tile) const noexcept { add_placed(tile); }
void PlacedTerm::add(const ScoreTile<double>& tile) const noexcept { add_placed(tile); }

void PlacedTerm::backward(const ScoreGradient<double>& tile) const noexcept {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const double ds = tile.dscores[i * tile.stride + j];
      tile.parameters[0] += ds * static_cast<double>(placed(tile, i, j));  // of a factor of 1
      const auto by_channel = static_cast<double>(placed(
          tile.batch, tile.key_begin, tile.head, tile.first_query + i, tile.first_key + j, 1, 0));
      for (std::int64_t c = 0; c < tile.head_dim; ++c) {
        tile.dq[i * tile.head_dim + c] += ds * by_channel;
        tile.dk[j * tile.head_dim + c] += ds * by_channel;
      }
    }
  }
}

std::shared_ptr<const ScoreTerm> content_term(const std::string& name, std::int64_t batch,
                                              std::int64_t heads, std::int64_t head_dim,
                                              std::int64_t v_dim, std::int64_t k_len) {
  if (name == "placed") return std::make_shared<PlacedTerm>();
  if (name == "shaw" || name == "shaw_keys") {
    const std::int64_t most = 20, rows = 2 * most + 1;
    ShawWeights weights{.key_table = random_weights({heads, rows, head_dim}, 11)};
    if (name == "shaw") weights.value_table = random_weights({heads, rows, v_dim}, 12);
    return shaw({.max_distance = most}, weights);
  }
  if (name == "cope") return cope({}, {.table = random_weights({40, head_dim}, 13)});
  if (name == "deberta") {
    const Deberta options{.position_buckets = 32, .max_position = 128};
    const std::int64_t rows = 2 * deberta_span(options);
    return deberta(options, {.query_table = random_weights({heads, rows, head_dim}, 14),
                             .key_table = random_weights({heads, rows, head_dim}, 15)});
  }
  if (name == "forgetting") {
    Tensor<double> gates = random_weights({batch, heads, k_len}, 16);
    for (double& gate : gates.span()) gate = -gate * gate;
    return forgetting(gates);
  }
  if (name == "transformer_xl") {
    return transformer_xl({.max_distance = k_len},
                          {.u = random_weights({heads, head_dim}, 17),
                           .v = random_weights({heads, head_dim}, 18),
                           .w_r = random_weights({heads, head_dim, 32}, 19)});
  }
  throw Error("content", "unknown: " + name);
}

}  // namespace sextant::ranks
