// CoPE's term for many rows of scores in float32.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

class CopeTiles {
 public:
  explicit CopeTiles(const Tensor<double>& table);  // [1, npos, head_dim]

  // Numbers of scratch, and of scratch per key, that the functions need.
  std::int64_t scratch() const noexcept;
  std::int64_t scratch_per_key() const noexcept;

  // `factor` is what the term is multiplied by.
  void add(const ScoreTile<float>& tile, float factor) const noexcept;
  void backward(const ScoreGradient<float>& tile, double factor) const noexcept;

 private:
  struct Group;

  Group group_of(const ScoreInputs<float>& tile, std::int64_t first) const noexcept;
  std::int64_t fill_chunk(const Group& group, const float* scores, std::int64_t stride,
                          std::int64_t end, double* sums) const noexcept;
  void row_backward(const Group& group, std::int64_t row, std::int64_t begin, std::int64_t keys,
                    double factor, float* dscores, float* dz) const noexcept;
  void add_products(const Group& group, const ScoreGradient<float>& tile) const noexcept;
  bool all_last(const Group& group, const double* sums) const noexcept;

  std::int64_t count_, last_, padded_;  // positions, the last one, rounded up to whole vectors
  std::int64_t head_dim_, padded_dim_;
  Tensor<float> columns_;  // [head_dim, padded]
  Tensor<float> rows_;     // [npos, padded head_dim]
};

}  // namespace sextant::schemes_detail
