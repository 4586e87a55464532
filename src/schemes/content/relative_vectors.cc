// Scores, values and gradients of learned vectors by distance, a row at a time.
#include "schemes/content/relative_vectors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/options/fields.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/content/relative_tiles.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {
namespace {

double dot(const double* x, const double* y, std::int64_t count) noexcept {
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += x[c] * y[c];
  return sum;
}

std::string in_scheme(std::string_view scheme, std::string_view name) {
  return std::string(scheme) + "." + std::string(name);
}

class RelativeTerm final : public ScoreTerm {
 public:
  explicit RelativeTerm(RelativeVectors vectors)
      : v_(std::move(vectors)),
        tiles_(v_),
        max_distance_(static_cast<std::int64_t>(v_.rows.size()) / 2) {
    const auto next = [&](const Tensor<double>& tensor) {
      return std::exchange(parameters_, parameters_ + size(tensor));
    };
    begins_.key_table = next(v_.key_table);
    begins_.query_table = next(v_.query_table);
    begins_.value_table = next(v_.value_table);
    begins_.position_bias = next(v_.position_bias);
    begins_.content_bias = next(v_.content_bias);
  }

  void check(const CallExtents& call) const override {
    const auto refuse = [&](std::string_view what, std::int64_t wanted, std::int64_t got) {
      throw Error(v_.scheme, "must be made for the call's " + std::string(what) + ", " +
                                 std::to_string(got) + ", got " + std::to_string(wanted));
    };
    if (call.head_dim != v_.head_dim) refuse("head_dim", v_.head_dim, call.head_dim);
    for (const Tensor<double>* tensor :
         {&v_.key_table, &v_.query_table, &v_.value_table, &v_.position_bias, &v_.content_bias}) {
      if (size(*tensor) == 0) continue;
      const std::int64_t heads = tensor->size(0);
      const bool shared = tensor->rank() == 3 && heads == 1;
      if (!shared && heads != call.heads) refuse("heads", heads, call.heads);
    }
    if (call.v_dim >= 0 && value_dim() > 0 && call.v_dim != value_dim()) {
      refuse("v_dim", value_dim(), call.v_dim);
    }
    for (const SequenceExtents& at : call.sequences) check_positions(at);
  }

  TermNeeds needs() const override {
    return {.before_softcap = true,
            .q = true,
            .k = reads_keys(),
            .tiles = tiles_.fits() ? TermTiles::any : TermTiles::float64,
            .scratch = std::max(v_.head_dim, tiles_.scratch_size()),
            .parameters = parameters_,
            .value_dim = value_dim(),
            .products = v_.terms};
  }

  void add(const ScoreTile<float>& tile) const noexcept override { tiles_.add(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) add_row(tile, i);
  }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) row_backward(tile, i);
  }
  void backward(const ScoreGradient<float>& tile) const noexcept override {
    tiles_.backward(tile, begins_);
  }

  ValueVectors value_vectors(std::int64_t head) const noexcept override {
    ValueVectors vectors = tiles_.value_vectors(head);
    const bool of_heads = vectors.count > 0 && v_.value_table.size(0) > 1;
    vectors.parameters = begins_.value_table + (of_heads ? head * vectors.count * value_dim() : 0);
    return vectors;
  }
  void add_values(const ScoreRect& row, const double* weights,
                  double* out) const noexcept override {
    // Keys with the same vector are one product: beyond the largest distance all have the last one.
    for (std::int64_t j = 0; j < row.keys;) {
      const std::int64_t r = row_of(row, 0, j);
      double weight = 0;
      for (; j < row.keys && row_of(row, 0, j) == r; ++j) weight += weights[j];
      if (weight != 0)
        add_times(weight, vector(v_.value_table, row.head, r), v_.value_table.size(2), out);
    }
  }

  void values_backward(const ScoreRect& row, const double* weights, const double* dout,
                       double* dweights, double* parameters) const noexcept override {
    std::int64_t last = -1;
    double product = 0;
    for (std::int64_t j = 0; j < row.keys; ++j) {
      if (weights[j] == 0) continue;
      const std::int64_t r = row_of(row, 0, j);
      const double* value_vector = vector(v_.value_table, row.head, r);
      if (r != last) product = dot(value_vector, dout, v_.value_table.size(2));
      last = r;
      dweights[j] += product;
      add_times(weights[j], dout, v_.value_table.size(2),
                parameters + begins_.value_table + (value_vector - v_.value_table.data()));
    }
  }

 private:
  void add_row(const ScoreTile<double>& tile, std::int64_t i) const noexcept {
    const double* query = shifted(tile, i);
    double* scores = tile.scores + i * tile.stride;
    const bool by_key = reads_keys();
    std::int64_t last = -1;  // the row whose product is known
    double by_query = 0;
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const std::int64_t r = row_of(tile, i, j);
      if (size(v_.key_table) > 0 && r != last)
        by_query = dot(query, vector(v_.key_table, tile.head, r), v_.head_dim);
      last = r;
      double sum = by_query;
      if (by_key) {
        const double* key = tile.k + j * tile.k_stride;
        if (size(v_.query_table) > 0)
          sum += dot(key, vector(v_.query_table, tile.head, r), v_.head_dim);
        if (size(v_.content_bias) > 0)
          sum += dot(key, of_head(v_.content_bias, tile.head), v_.head_dim);
      }
      scores[j] += tile.scale * sum;
    }
  }

  void row_backward(const ScoreGradient<double>& tile, std::int64_t i) const noexcept {
    const std::int64_t n = v_.head_dim;
    const double* query = shifted(tile, i);
    const double* ds = tile.dscores + i * tile.stride;
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const double d = tile.scale * ds[j];
      if (d == 0) continue;
      const std::int64_t r = row_of(tile, i, j);
      if (size(v_.key_table) > 0) {
        const double* key_vector = vector(v_.key_table, tile.head, r);
        add_times(d, key_vector, n, tile.dq + i * n);
        add_times(d, query, n,
                  tile.parameters + begins_.key_table + (key_vector - v_.key_table.data()));
        if (size(v_.position_bias) > 0)
          add_times(d, key_vector, n, tile.parameters + begins_.position_bias + tile.head * n);
      }
      if (!reads_keys()) continue;
      const double* key = tile.k + j * tile.k_stride;
      if (size(v_.query_table) > 0) {
        const double* query_vector = vector(v_.query_table, tile.head, r);
        add_times(d, query_vector, n, tile.dk + j * n);
        add_times(d, key, n,
                  tile.parameters + begins_.query_table + (query_vector - v_.query_table.data()));
      }
      if (size(v_.content_bias) > 0) {
        add_times(d, of_head(v_.content_bias, tile.head), n, tile.dk + j * n);
        add_times(d, key, n, tile.parameters + begins_.content_bias + tile.head * n);
      }
    }
  }

  std::int64_t value_dim() const noexcept {
    return size(v_.value_table) > 0 ? v_.value_table.size(2) : 0;
  }
  void check_positions(const SequenceExtents& at) const {
    if (at.seeing_queries.is_empty()) return;
    const std::int64_t first = std::min<std::int64_t>(at.seeing_queries.first, 0);
    const std::int64_t last = std::max(at.seeing_queries.last, at.k_len - 1);
    const auto id_count = static_cast<std::int64_t>(v_.ids.size());
    if (id_count > 0 && (first < 0 || last >= id_count)) {
      throw Error(in_scheme(v_.scheme, "positions"),
                  "must have an id for each of the indices " + std::to_string(first) + " .. " +
                      std::to_string(last) + ", got " + std::to_string(id_count) +
                      " ids from place 0");
    }
    if (id_count == 0 && !v_.clamps && last - first > max_distance_) {
      throw Error(v_.scheme, "must be made for distances up to " + std::to_string(last - first) +
                                 ", got " + std::to_string(max_distance_));
    }
  }

  static std::int64_t size(const Tensor<double>& tensor) noexcept {
    return tensor.rank() < 2 ? 0 : tensor.count();
  }
  bool reads_keys() const noexcept { return size(v_.query_table) > 0 || size(v_.content_bias) > 0; }

  std::int64_t id(std::int64_t index) const noexcept {
    return v_.ids.empty() ? index : v_.ids[static_cast<std::size_t>(index)];
  }
  std::int64_t row_of(const ScoreRect& tile, std::int64_t i, std::int64_t j) const noexcept {
    const std::int64_t distance = std::clamp(id(tile.first_key + j) - id(tile.diagonal_key(i)),
                                             -max_distance_, max_distance_);
    return v_.rows[static_cast<std::size_t>(distance + max_distance_)];
  }
  static const double* vector(const Tensor<double>& table, std::int64_t head,
                              std::int64_t r) noexcept {
    const std::int64_t rows = table.size(1), of = table.size(0) == 1 ? 0 : head;
    return table.data() + (of * rows + r) * table.size(2);
  }
  const double* of_head(const Tensor<double>& vectors, std::int64_t head) const noexcept {
    return vectors.data() + head * v_.head_dim;
  }
  // q + position_bias.
  const double* shifted(const ScoreInputs<double>& tile, std::int64_t i) const noexcept {
    const double* query = tile.q + i * tile.q_stride;
    if (size(v_.position_bias) == 0) return query;
    std::copy_n(query, v_.head_dim, tile.scratch);
    add_times(1, of_head(v_.position_bias, tile.head), v_.head_dim, tile.scratch);
    return tile.scratch;
  }

  RelativeVectors v_;
  RelativeTiles tiles_;
  std::int64_t max_distance_, parameters_ = 0;
  RelativeBegins begins_{};
};

}  // namespace

std::shared_ptr<const ScoreTerm> relative_term(RelativeVectors vectors) {
  return std::make_shared<const RelativeTerm>(std::move(vectors));
}

Tensor<double> take_gradient(std::string_view scheme, View<const double> gradient, std::int64_t& at,
                             const Shape& shape) {
  if (gradient.rank() != 2 || gradient.size(0) != 1 || gradient.size(1) < at + shape.count()) {
    throw Error(in_scheme(scheme, "gradient"),
                "must be [1, parameters] of the term, got " + gradient.shape().to_string());
  }
  Tensor<double> next = Tensor<double>::uninitialized(shape);
  for (std::int64_t n = 0; n < next.count(); ++n) next.data()[n] = gradient(0, at++);
  return next;
}

Tensor<double> table_of(std::string_view scheme, std::string_view name, View<const double> table,
                        std::int64_t rows) {
  const int rank = table.rank();
  if ((rank != 2 && rank != 3) || table.size(rank - 2) != rows || table.count() == 0) {
    throw Error(in_scheme(scheme, name), "must be [" + std::to_string(rows) +
                                             ", head_dim] or [heads, " + std::to_string(rows) +
                                             ", head_dim], got " + table.shape().to_string());
  }
  check_finite(scheme, name, table);
  const std::int64_t heads = rank == 3 ? table.size(0) : 1, width = table.size(rank - 1);
  Tensor<double> copy = Tensor<double>::uninitialized({heads, rows, width});
  for (std::int64_t h = 0; h < heads; ++h) {
    const View<const double> of_head = rank == 3 ? table.select(0, h) : table;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < width; ++c) copy(h, r, c) = of_head(r, c);
    }
  }
  return copy;
}

std::int64_t head_dim_of(std::string_view scheme, const SchemeRequest& request) {
  check_range(at_least(1), in_scheme(scheme, "head_dim"), request.head_dim);
  return request.head_dim;
}

std::vector<std::int64_t> checked_ids(std::string_view scheme, std::span<const std::int64_t> ids) {
  (void)listed_positions(ids, in_scheme(scheme, "positions"));
  return {ids.begin(), ids.end()};
}

}  // namespace sextant::schemes_detail
