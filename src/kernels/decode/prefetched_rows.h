// What the tiles of decoding prefetch. Hardware prefetchers do not recognise squares of keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

// Rows are asked for twice: this many bytes ahead for the L2 cache, then for the L1 cache, which
// then waits for the L2 cache only. A core has few lines on their way to L1; with prefetches of
// memory there, decoding took half as long again (Zen 4). From 16 to 64 KiB are alike.
inline constexpr std::ptrdiff_t kFarBytes = 32 << 10, kNearBytes = 8 << 10;

// Of rows [from, to), read in order: where the page of the first one ends, and the next page.
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

// For a cache, L1 or L2.
template <int kCache>
[[gnu::always_inline]] inline void prefetch_lines(std::uintptr_t at, std::ptrdiff_t bytes) {
  for (std::ptrdiff_t n = 0; n < bytes; n += kLineBytes) {
    if constexpr (kCache == 1) {
      prefetch_l1(at + static_cast<std::uintptr_t>(n));
    } else {
      prefetch_l2(at + static_cast<std::uintptr_t>(n));
    }
  }
}

// A place in the rows some bytes after the one that is read, in the next page where this one ends
// before.
class PlaceAhead {
 public:
  PlaceAhead() = default;
  // `row` and `stride` as in KeyRows, `row_bytes` those of a row.
  template <class T>
  PlaceAhead(const Ahead<T>& rows, const T* row, std::int64_t stride, std::ptrdiff_t row_bytes,
             std::ptrdiff_t bytes)
      : end_(reinterpret_cast<std::uintptr_t>(rows.end)),
        left_(row_bytes),
        row_bytes_(row_bytes),
        gap_(stride * static_cast<std::ptrdiff_t>(sizeof(T)) - row_bytes) {
    const std::int64_t rows_ahead =
        std::max<std::int64_t>(1, bytes / std::max<std::ptrdiff_t>(row_bytes, 1));
    at_ = reinterpret_cast<std::uintptr_t>(row) +
          static_cast<std::uintptr_t>(rows_ahead * (row_bytes + gap_));
    if (at_ < end_ || rows.next == nullptr) return;
    at_ = reinterpret_cast<std::uintptr_t>(rows.next) + (at_ - end_);
    end_ = ~std::uintptr_t{0};
  }

  // Prefetches the next `bytes` of rows, unless the rows end before.
  template <int kCache>
  [[gnu::always_inline]] void take(std::ptrdiff_t bytes) {
    if (at_ >= end_) return;
    if (gap_ == 0) {
      prefetch_lines<kCache>(at_, bytes);
      at_ += static_cast<std::uintptr_t>(bytes);
      return;
    }
    while (bytes > 0) {
      prefetch_lines<kCache>(at_, 1);
      const std::ptrdiff_t line = std::min(kLineBytes, left_);
      at_ += static_cast<std::uintptr_t>(line);
      bytes -= line;
      left_ -= line;
      if (left_ > 0) continue;
      at_ += static_cast<std::uintptr_t>(gap_);
      left_ = row_bytes_;
    }
  }

 private:
  std::uintptr_t at_ = 0, end_ = 0;
  std::ptrdiff_t left_ = 0, row_bytes_ = 0;  // of the row at at_; of each row
  std::ptrdiff_t gap_ = 0;                   // between rows
};

}  // namespace sextant::kernels
