// Rows of arrays along one axis, taken and put.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant::ranks {

// to = from, of one shape, any strides.
template <class T>
void copy_view(View<const T> from, View<T> to) {
  if (from.count() == 0) return;
  if (from.rank() == 0) {
    *to.data() = *from.data();
    return;
  }
  if (from.rank() == 1) {
    const std::int64_t count = from.size(0), in = from.stride(0), out = to.stride(0);
    if (in == 1 && out == 1) {
      std::copy_n(from.data(), count, to.data());
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) to.data()[i * out] = from.data()[i * in];
    return;
  }
  if (from.is_contiguous() && to.is_contiguous()) {
    std::copy_n(from.data(), from.count(), to.data());
    return;
  }
  for (std::int64_t i = 0; i < from.size(0); ++i) copy_view<T>(from.select(0, i), to.select(0, i));
}

// Row n of `to` is row rows[n] of `from`.
template <class T>
void take_rows(View<const T> from, const std::vector<std::int64_t>& rows, int axis, View<T> to) {
  for (std::size_t n = 0; n < rows.size();) {
    std::size_t end = n + 1;  // neighbours go together
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const auto count = static_cast<std::int64_t>(end - n);
    copy_view<T>(from.narrow(axis, rows[n], count),
                 to.narrow(axis, static_cast<std::int64_t>(n), count));
    n = end;
  }
}

// Row rows[n] of `to` is row n of `from`.
template <class T>
void put_rows(View<const T> from, const std::vector<std::int64_t>& rows, int axis, View<T> to) {
  for (std::size_t n = 0; n < rows.size();) {
    std::size_t end = n + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const auto count = static_cast<std::int64_t>(end - n);
    copy_view<T>(from.narrow(axis, static_cast<std::int64_t>(n), count),
                 to.narrow(axis, rows[n], count));
    n = end;
  }
}

}  // namespace sextant::ranks
