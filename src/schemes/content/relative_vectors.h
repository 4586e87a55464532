// Learned vectors by distance: what Shaw's, Transformer-XL's and DeBERTa's terms have in common.
//
//   score(i, j) += scale (<q_i + position_bias, key_table[r]> + <k_j, query_table[r] +
//   content_bias>) value_j += value_table[r]                                                   with
//   r = row(j - i)
//
// The tables hold vectors, the biases are a vector of each head; any of them may be missing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemes/weight_checks.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

struct RelativeVectors {
  std::string_view scheme;  // for errors
  std::int64_t head_dim = 0;
  std::vector<std::int64_t> ids{};  // of tokens 0, 1, ...; empty: 0, 1, ...
  // A distance key - query in [-n, n] has row rows[distance + n] of the tables, n = rows.size()
  // / 2. Larger distances have the row of the last one, or are refused. Rows ascend or descend.
  std::vector<std::int32_t> rows{};
  bool clamps = true;
  // [heads or 1, rows, head_dim] each; empty: none
  Tensor<double> key_table{}, query_table{}, value_table{};
  Tensor<double> position_bias{}, content_bias{};  // [heads, head_dim]; empty: none
  double terms = 1;                                // default scale: 1 / sqrt(terms head_dim)
};

// Where the gradients of the tensors begin in that of the term.
struct RelativeBegins {
  std::int64_t key_table = 0, query_table = 0, value_table = 0, position_bias = 0, content_bias = 0;
};

// to += factor x.
inline void add_times(double factor, const double* x, std::int64_t count, double* to) noexcept {
  for (std::int64_t c = 0; c < count; ++c) to[c] += factor * x[c];
}

// Its gradient is that of key_table, query_table, value_table, position_bias and content_bias, one
// after another.
std::shared_ptr<const ScoreTerm> relative_term(RelativeVectors vectors);

// The gradient of the next tensor of this shape; `at` is advanced. Throws
// Error(scheme.gradient) where there are too few numbers.
Tensor<double> take_gradient(std::string_view scheme, View<const double> gradient, std::int64_t& at,
                             const Shape& shape);
// A copy of a table [rows, head_dim] or [heads, rows, head_dim] as [heads or 1, rows, head_dim].
// Throws Error(scheme.name) unless it has one of these shapes and is finite.
Tensor<double> table_of(std::string_view scheme, std::string_view name, View<const double> table,
                        std::int64_t rows);
// The head_dim of a request; throws Error(scheme.head_dim) unless it is at least 1.
std::int64_t head_dim_of(std::string_view scheme, const SchemeRequest& request);
// Ids as a vector; throws Error(scheme.positions) for ids beyond +-2^53.
std::vector<std::int64_t> checked_ids(std::string_view scheme, std::span<const std::int64_t> ids);

}  // namespace sextant::schemes_detail
