// Products of a few rows with many columns, by the attention kernels' tile.
#include "kernels/attention/row_products.h"

#include "kernels/attention/geometry.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/row_products.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void row_products(const RowProducts& p) {
  product<TileMode::store>(p.rows, p.columns / kQueryGroup,
                           {.a = p.a,
                            .a_row = p.a_row,
                            .a_step = 1,
                            .b = p.b,
                            .b_step = p.b_step,
                            .c = p.c,
                            .c_row = p.c_row,
                            .steps = p.steps});
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(row_products);

void row_products(const RowProducts& products) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(row_products)(products);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
