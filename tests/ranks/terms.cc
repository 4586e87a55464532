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

float key_sum(const ContentTerm::Row& row, std::int64_t key) {
  std::vector<double> channels(static_cast<std::size_t>(row.head_dim));
  row.k.load(key, row.head_dim, channels.data());
  return sum(channels.data(), row.head_dim);
}

Tensor<double> random_weights(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x(shape);
  for (double& value : x.span()) value = 0.3 * random.normal();
  return x;
}

}  // namespace

void PlacedTerm::add(const Row& row, double* scores, double*) const noexcept {
  const float q = sum(row.q, row.head_dim);
  for (std::int64_t j = row.first_key; j < row.last_key; ++j) {
    scores[j] += static_cast<double>(
        placed(row.batch, row.begin, row.head, row.query, j, q, key_sum(row, j)));
  }
}

void PlacedTerm::add_tile(const Tile& t, float* scores, std::int64_t stride,
                          float*) const noexcept {
  for (std::int64_t i = 0; i < t.queries; ++i) {
    const float q = sum(t.q + i * t.q_stride, t.head_dim);
    for (std::int64_t j = 0; j < t.keys; ++j) {
      if (std::isinf(scores[i * stride + j])) continue;
      scores[i * stride + j] += placed(t.batch, t.begin, t.head, t.first_query + i, t.first_key + j,
                                       q, sum(t.k + j * t.k_stride, t.head_dim));
    }
  }
}

void PlacedTerm::backward(const Row& row, const double*, double* ds, double* dq, double* dk,
                          double* gradient, double*) const noexcept {
  const float q = sum(row.q, row.head_dim);
  for (std::int64_t j = row.first_key; j < row.last_key; ++j) {
    const float k = key_sum(row, j);
    const auto place = [&](float x, float y) {
      return static_cast<double>(placed(row.batch, row.begin, row.head, row.query, j, x, y));
    };
    gradient[0] += ds[j] * place(q, k);  // of a factor of 1
    for (std::int64_t c = 0; c < row.head_dim; ++c) {
      dq[c] += ds[j] * place(1, 0);
      dk[j * row.head_dim + c] += ds[j] * place(0, 1);
    }
  }
}

std::shared_ptr<const ContentTerm> content_term(const std::string& name, std::int64_t batch,
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
