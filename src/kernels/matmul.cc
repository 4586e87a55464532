// Plain loops; the packed kernel takes their place.
#include "kernels/matmul.h"

#include "sextant/core/parallel.h"

namespace sextant {

void matmul(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
            const MatmulResult& result, int threads) {
  parallel_for(sizes.rows, threads, [&](std::int64_t i) {
    float* c = result.c + i * result.c_row;
    if (!result.add) {
      for (std::int64_t j = 0; j < sizes.columns; ++j) c[j] = result.bias ? result.bias[j] : 0;
    }
    for (std::int64_t k = 0; k < sizes.depth; ++k) {
      const float factor = a.data[i * a.row_stride + k * a.column_stride];
      const float* row = b.data + k * b.row_stride;
      for (std::int64_t j = 0; j < sizes.columns; ++j) c[j] += factor * row[j * b.column_stride];
    }
  });
}

}  // namespace sextant
