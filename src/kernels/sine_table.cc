// Tables of sines and cosines of integer positions.
#include "kernels/sine_table.h"

namespace sextant {

template <Floating T>
void fill_sines(const SineTable& table, const Positions& positions, T* out, std::int64_t row_stride,
                int threads) {
  fill_sines_one_by_one(table, positions, positions.count, out, row_stride, threads);
}

#define SEXTANT_INSTANTIATE(T) \
  template void fill_sines(const SineTable&, const Positions&, T*, std::int64_t, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
