// Learned vectors by distance: what Shaw's, Transformer-XL's and DeBERTa's terms have in common.
//
//   score(i, j) += scale ( <q_i + o, E[r]> + <k_j, G[r] + u> ),  value_j += A[r],  r = row(j - i)
//
// E, G and A are tables of vectors, o and u vectors of a head; any of them may be missing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/content_term.h"

namespace sextant::detail {

struct RelativeVectors {
  std::string_view scheme;  // whose errors they are
  std::int64_t head_dim = 0;
  std::vector<std::int64_t> ids{};  // of places 0, 1, ...; empty: a place is its id
  // Distances key - query in [-reach, reach] have row rows[distance + reach] of the tables. What is
  // further away has the row of the last one, or is refused. Rows ascend or descend.
  std::vector<std::int32_t> rows{};
  bool clamps = true;
  Tensor<double> e{}, g{}, a{};  // [heads or 1, rows, head_dim] each; empty: none
  Tensor<double> o{}, u{};       // [heads, head_dim]; empty: none
  double terms = 1;              // default scale: 1 / sqrt(terms head_dim)
};

// Its gradient is that of e, g, a, o and u, one behind the other.
std::shared_ptr<const ContentTerm> relative_term(RelativeVectors vectors);

// The gradient of the next tensor of this shape; `at` moves behind it. Throws
// Error(scheme.gradient) where there are too few numbers.
Tensor<double> take_gradient(std::string_view scheme, View<const double> gradient, std::int64_t& at,
                             const Shape& shape);
// A copy of a table [rows, head_dim] or [heads, rows, head_dim] as [heads or 1, rows, head_dim].
// Throws Error(scheme.name) unless it is one with so many rows, and finite.
Tensor<double> table_of(std::string_view scheme, std::string_view name, View<const double> table,
                        std::int64_t rows);
// The head_dim of a request; throws Error(scheme.head_dim) unless it is at least 1.
std::int64_t head_dim_of(std::string_view scheme, const SchemeRequest& request);
// Throws Error(scheme.name) unless every number is finite.
void check_all_finite(std::string_view scheme, std::string_view name, View<const double> values);
// Ids as a vector; throws Error(scheme.positions) for ids beyond +-2^53.
std::vector<std::int64_t> checked_ids(std::string_view scheme, std::span<const std::int64_t> ids);

}  // namespace sextant::detail
