// Which rows of keys and values the tiles of decoding prefetch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

// Tiles prefetch this many bytes ahead, because hardware prefetchers do not recognise squares of
// keys: 16 KiB was best of 4 to 64 (Zen 5).
inline constexpr std::ptrdiff_t kDecodePrefetchBytes = 16 << 10;

// What tiles prefetch: the rows before `end`, then those of the next page.
template <class T>
struct Ahead {
  const T* end = nullptr;   // null: the caller prefetches
  const T* next = nullptr;  // null: there is no next page
};

// For rows [from, to), the first one at `data`.
template <class T>
Ahead<T> ahead_of(const KeyRows& rows, std::int64_t from, std::int64_t to, const T* data) {
  const std::int64_t run_end = rows.run_end(from, to);
  return {data + (run_end - from) * rows.row_stride,
          run_end < to ? static_cast<const T*>(rows.from(run_end).data) : nullptr};
}

}  // namespace sextant::kernels
