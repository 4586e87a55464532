// Learned vectors by distance for the float32 path: products of a tile's queries and keys with the
// vectors of its distances, then the element of each pair.
#pragma once

#include <cstdint>

#include "schemes/content/relative_vectors.h"

namespace sextant::schemes_detail {

inline constexpr std::int64_t kChunk = 256;  // vectors at a time: those of a tile and some more

class RelativeTiles {
 public:
  // `vectors` outlives this. Its rows must ascend or descend with the distance.
  explicit RelativeTiles(const RelativeVectors& vectors);

  // Whether any tile needs few vectors: not when ids jump in a large table.
  bool fits() const noexcept { return fits_; }
  std::int64_t scratch_size() const noexcept;
  // As ScoreTerm::value_vectors().
  ValueVectors value_vectors(std::int64_t head) const noexcept;
  // As ScoreTerm::add().
  void add(const ScoreTile<float>& tile) const noexcept;
  // As ScoreTerm::backward(). `begins`: of the tensors in the parameters.
  void backward(const ScoreGradient<float>& tile, const RelativeBegins& begins) const noexcept;

 private:
  struct Products;
  struct Sums;
  struct Columns {
    std::int64_t begin, end;
  };
  // The columns of the distances that occur in a rectangle; none if no query has a position.
  Columns columns_of(const ScoreRect& rect) const noexcept;
  std::int64_t row_at(std::int64_t distance) const noexcept;
  void add_products(const Products& products) const noexcept;
  void add_diagonals(const Products& products, std::int64_t begin, std::int64_t end) const noexcept;
  void add_by_ids(const Products& products) const noexcept;
  void content_bias_backward(const ScoreGradient<float>& tile, double* parameters) const noexcept;
  void sum_by_vector(const Sums& sums) const noexcept;
  void add_to_rows(const Sums& sums) const noexcept;
  void add_to_vectors(const Sums& sums) const noexcept;

  const RelativeVectors& v_;
  std::int64_t max_distance_, table_rows_ = 0, columns_ = 0;
  bool fits_ = true, ids_jump_ = false;
  // float32, transposed: [heads or 1, head_dim, columns_].
  Tensor<float> key_table_{}, query_table_{};
  Tensor<float> content_bias_{};   // [heads, head_dim, kQueryGroup], in column 0
  Tensor<float> position_bias_{};  // [heads, head_dim]
  Tensor<float> value_table_{};    // [heads or 1, rows, v_dim]
};

}  // namespace sextant::schemes_detail
