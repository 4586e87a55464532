// Polar coordinates of rows: magnitudes by softplus, phases by channel.
#include "sextant/attention/polar.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "attention/call/arguments.h"
#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"

namespace sextant {
namespace {

using attention_detail::check_array;
using attention_detail::check_shape;
using attention_detail::is_given;

// Cosines and sines of the offsets, [heads or 1, head_dim].
struct Phases {
  Tensor<double> cos, sin;

  std::int64_t row(std::int64_t head) const noexcept { return cos.size(0) == 1 ? 0 : head; }
};

Phases phases_of(std::string_view function, View<const float> x, View<const double> offsets) {
  check_array(function, "x", x, "[batch, heads, length, head_dim]");
  const std::int64_t heads = x.size(1), channels = x.size(3);
  const bool by_head = is_given(offsets) && offsets.rank() == 2;
  Phases phases{Tensor<double>({by_head ? heads : 1, channels}),
                Tensor<double>({by_head ? heads : 1, channels})};
  if (is_given(offsets)) {
    check_shape(function, "offsets", offsets, by_head ? Shape{heads, channels} : Shape{channels});
  }
  for (std::int64_t h = 0; h < phases.cos.size(0); ++h) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double angle = 0;
      if (is_given(offsets)) angle = by_head ? offsets(h, c) : offsets(c);
      if (!std::isfinite(angle)) attention_detail::refuse(function, "offsets", "must be finite");
      phases.cos(h, c) = std::cos(angle);
      phases.sin(h, c) = std::sin(angle);
    }
  }
  return phases;
}

double magnitude(double x) noexcept {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

Shape expanded(View<const float> x) { return {x.size(0), x.size(1), x.size(2), 2 * x.size(3)}; }

}  // namespace

void polar_rows(View<const float> x, View<const double> offsets, View<float> out, int threads) {
  constexpr std::string_view kName = "polar_rows";
  const Phases phases = phases_of(kName, x, offsets);
  check_shape(kName, "out", out, expanded(x));
  CallArrays arrays(kName);
  arrays.add_input("x", x);
  if (is_given(offsets)) arrays.add_input("offsets", offsets);
  arrays.add_output("out", out);
  const std::int64_t channels = x.size(3);
  attention_detail::each_row(
      x.shape(), threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        const std::int64_t row = phases.row(h);
        for (std::int64_t c = 0; c < channels; ++c) {
          const double m = magnitude(static_cast<double>(x(b, h, i, c)));
          out(b, h, i, c) = static_cast<float>(m * phases.cos(row, c));
          // A phase of 0 stays so for infinite magnitudes.
          const double sine = phases.sin(row, c);
          out(b, h, i, channels + c) = sine == 0 ? 0 : static_cast<float>(m * sine);
        }
      });
}

void polar_rows_backward(View<const float> x, View<const double> offsets, View<const float> dout,
                         View<float> dx, View<double> doffsets, int threads) {
  constexpr std::string_view kName = "polar_rows_backward";
  const Phases phases = phases_of(kName, x, offsets);
  check_shape(kName, "dout", dout, expanded(x));
  CallArrays arrays(kName);
  arrays.add_input("x", x);
  arrays.add_input("dout", dout);
  if (is_given(offsets)) arrays.add_input("offsets", offsets);
  const std::int64_t channels = x.size(3);
  if (is_given(doffsets)) {
    if (!is_given(offsets)) {
      attention_detail::refuse(kName, "doffsets", "must be absent in a call without offsets");
    }
    check_shape(kName, "doffsets", doffsets, offsets.shape());
    arrays.add_output("doffsets", doffsets);
  }
  if (is_given(dx)) {
    check_shape(kName, "dx", dx, x.shape());
    arrays.add_output("dx", dx);
    attention_detail::each_row(
        x.shape(), threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
          const std::int64_t row = phases.row(h);
          for (std::int64_t c = 0; c < channels; ++c) {
            const double slope = 1 / (1 + std::exp(-static_cast<double>(x(b, h, i, c))));
            const double along =
                static_cast<double>(dout(b, h, i, c)) * phases.cos(row, c) +
                static_cast<double>(dout(b, h, i, channels + c)) * phases.sin(row, c);
            dx(b, h, i, c) = static_cast<float>(slope * along);
          }
        });
  }
  if (!is_given(doffsets)) return;
  Tensor<double> sums({phases.cos.size(0), channels});
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    for (std::int64_t h = 0; h < x.size(1); ++h) {
      const std::int64_t row = phases.row(h);
      for (std::int64_t i = 0; i < x.size(2); ++i) {
        for (std::int64_t c = 0; c < channels; ++c) {
          const double across =
              static_cast<double>(dout(b, h, i, channels + c)) * phases.cos(row, c) -
              static_cast<double>(dout(b, h, i, c)) * phases.sin(row, c);
          sums(row, c) += magnitude(static_cast<double>(x(b, h, i, c))) * across;
        }
      }
    }
  }
  for (std::int64_t h = 0; h < sums.size(0); ++h) {
    for (std::int64_t c = 0; c < channels; ++c) {
      (doffsets.rank() == 2 ? doffsets(h, c) : doffsets(c)) = sums(h, c);
    }
  }
}

}  // namespace sextant
