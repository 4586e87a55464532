// Sums of elements and of columns.
#include "kernels/layers/rows.h"

#include <vector>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/sums.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void add_block(const float* x, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    prefetch_ahead(x + i);
    prefetch_ahead_for_write(y + i);
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(add_block);

void add_elements(const float* x, std::int64_t count, float* y, int threads) {
  apply_requested_target();
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t, std::int64_t first, std::int64_t size) {
               const DenormalsOff denormals_off;
               HWY_DYNAMIC_DISPATCH(add_block)(x + first, size, y + first);
             });
}

void add_column_sums(RowShape shape, const float* x, float* sums, int threads) {
  apply_requested_target();
  const std::int64_t blocks = (shape.rows + kSumRows - 1) / kSumRows;
  std::vector<float> block_sums(static_cast<std::size_t>(blocks * shape.width));
  for_blocks(shape.rows, kSumRows, threads,
             [&](std::int64_t block, std::int64_t first, std::int64_t count) {
               const DenormalsOff denormals_off;
               float* block_sum = block_sums.data() + block * shape.width;
               for (std::int64_t r = first; r < first + count; ++r) {
                 HWY_DYNAMIC_DISPATCH(add_block)(x + r * shape.width, shape.width, block_sum);
               }
             });
  add_block_sums(block_sums.data(), blocks, shape.width, shape.width, sums);
}

void add_block_sums(const float* block_sums, std::int64_t blocks, std::int64_t stride,
                    std::int64_t width, float* sums) {
  for (std::int64_t i = 0; i < width; ++i) {
    double sum = 0;
    for (std::int64_t b = 0; b < blocks; ++b)
      sum += static_cast<double>(block_sums[b * stride + i]);
    sums[i] = static_cast<float>(static_cast<double>(sums[i]) + sum);
  }
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
