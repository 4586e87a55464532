// M_k of the paper's remark on relative positions (1706.03762, section 3.5): PE(p + k) = M_k PE(p).
#include <string>
#include <vector>

#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

Tensor<double> offset_matrix(const Sinusoidal& options, std::int64_t offset) {
  check_sinusoidal(options);
  if (options.exponent == Exponent::doubled_unpaired) {
    throw Error("offset_matrix.exponent",
                "must pair each sine with a cosine of its frequency, got doubled_unpaired");
  }
  if (options.width % 2 == 1 && odd_width_rule(options) != OddWidth::zero_column) {
    throw Error("offset_matrix.width", "must be even, or odd with odd_width zero_column, got " +
                                           std::to_string(options.width));
  }
  const std::int64_t single[] = {offset};
  listed_positions(single, "offset_matrix.offset");
  const SinusoidalColumns resolved = sinusoidal_columns(options);
  std::vector<std::int64_t> sine_of(resolved.frequencies.size());
  std::vector<std::int64_t> cosine_of(resolved.frequencies.size());
  for (std::int64_t i = 0; i < options.width; ++i) {
    const kernels::SineColumn& column = resolved.columns[i];
    if (column.frequency >= 0) (column.cosine ? cosine_of : sine_of)[column.frequency] = i;
  }
  Tensor<double> matrix({options.width, options.width});
  for (std::size_t k = 0; k < resolved.frequencies.size(); ++k) {
    const kernels::SineAndCosine angle =
        kernels::sine_and_cosine(kernels::turns_of(resolved.frequencies[k]), offset);
    const std::int64_t s = sine_of[k];
    const std::int64_t c = cosine_of[k];
    // sin(a + b) = sin a cos b + cos a sin b, cos(a + b) = cos a cos b - sin a sin b with b the
    // offset's angle.
    matrix(s, s) = angle.cos.hi;
    matrix(s, c) = angle.sin.hi;
    matrix(c, c) = angle.cos.hi;
    matrix(c, s) = -angle.sin.hi;
  }
  return matrix;
}

}  // namespace sextant
