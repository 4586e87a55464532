// Learned vectors by distance for the float32 path: products of a tile's queries and keys with the
// vectors of its distances, then each pair's own.
#pragma once

#include <cstdint>

#include "schemes/content/relative_vectors.h"

namespace sextant::detail {

class RelativeTiles {
 public:
  // `vectors` outlives this. Its rows must ascend or descend with the distance.
  explicit RelativeTiles(const RelativeVectors& vectors);

  // Whether few vectors come up in any tile: not when ids jump in a large table.
  bool fits() const noexcept { return fits_; }
  std::int64_t scratch_size(std::int64_t head_dim) const noexcept;
  // As ContentTerm::add_tile().
  void add(const ContentTerm::Tile& tile, float* scores, std::int64_t stride,
           float* scratch) const noexcept;

 private:
  struct Part;
  void add_products(const Part& part) const noexcept;

  const RelativeVectors& v_;
  std::int64_t reach_, table_rows_ = 0, columns_ = 0;
  bool fits_ = true, ascends_by_one_ = true;
  // float32, transposed: [heads or 1, head_dim, columns_]; of u: [heads, head_dim, kGroupLanes].
  Tensor<float> e_{}, g_{}, u_{};
  Tensor<float> o_{};  // [heads, head_dim]
};

}  // namespace sextant::detail
