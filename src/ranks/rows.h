// Rows of arrays along one axis: which ones a rank holds, taking and putting them, exchanging them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/ranks/communicator.h"
#include "sextant/ranks/sharding.h"

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

// The positions that a rank holds, in the order of its rows.
inline std::vector<std::int64_t> positions_of(const ShardLayout& layout, int rank) {
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(layout.count(rank)));
  for (const ShardRange& range : layout.ranges(rank)) {
    for (std::int64_t n = 0; n < range.count; ++n)
      positions.push_back(range.begin + n * range.step);
  }
  return positions;
}

inline Shape with_size(const Shape& shape, int axis, std::int64_t size) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes[static_cast<std::size_t>(axis)] = size;
  return Shape(std::span<const std::int64_t>(sizes));
}

// All-to-all of arrays: out[r] goes to rank r, in[r] comes from it and has its shape already.
template <class T>
void exchange(const Communicator& comm, const std::vector<Tensor<T>>& out,
              std::vector<Tensor<T>>& in) {
  std::vector<std::span<const std::byte>> sent;
  std::vector<std::span<std::byte>> received;
  for (const Tensor<T>& part : out) sent.push_back(std::as_bytes(part.span()));
  for (Tensor<T>& part : in) received.push_back(std::as_writable_bytes(part.span()));
  comm.exchange(sent, received);
}

}  // namespace sextant::ranks
