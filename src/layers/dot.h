// Sums of products in float64: the one inner loop of this component's plain matrix products.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sextant {

// Returns <a, b>, both contiguous. Eight running sums hide the latency of an addition; the
// assignment of products to sums depends only on `count`, so equal rows give equal bits at any
// place.
template <class T>
double dot(const T* a, const T* b, std::int64_t count) noexcept {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] +=
          static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    sums[lane] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace sextant
