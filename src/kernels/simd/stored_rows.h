// Rows of float32, 16-bit or 8-bit numbers with any strides, as kernels take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sextant/core/dtype.h"

namespace sextant::kernels {

// Rows of int8 are keys and values of a cache: channels are contiguous, and their scale, a float32,
// lies before the first of them.
enum class Storage { float32, float16, bfloat16, int8 };

template <class T>
inline constexpr Storage storage_of = std::is_same_v<T, float>         ? Storage::float32
                                      : std::is_same_v<T, float16>     ? Storage::float16
                                      : std::is_same_v<T, std::int8_t> ? Storage::int8
                                                                       : Storage::bfloat16;

constexpr std::int64_t size_of(Storage storage) noexcept {
  return storage == Storage::float32 ? 4 : storage == Storage::int8 ? 1 : 2;
}

inline constexpr std::int64_t kScaleBytes = sizeof(float);

inline float row_scale(const std::int8_t* row) noexcept {
  float scale;
  std::memcpy(&scale, row - kScaleBytes, kScaleBytes);
  return scale;
}

// Strides count elements.
struct StoredRows {
  const void* data;
  std::int64_t row_stride, channel_stride;
  Storage storage;

  // Whether kernels can read it in place.
  bool is_plain() const noexcept { return storage == Storage::float32 && channel_stride == 1; }

  // The address of a row.
  const void* at(std::int64_t row) const noexcept {
    return static_cast<const std::byte*>(data) + row * row_stride * size_of(storage);
  }
};

// Rows of keys or values, which may lie in pages of memory: `data` is null then. Kernels read keys
// in blocks, counted from row 0; the size of a page is a multiple of theirs, so that no block lies
// in two pages.
struct KeyRows : StoredRows {
  const std::byte* const* pages = nullptr;  // null: all rows from `data` on
  std::int64_t page_rows = 0;
  std::int64_t page_offset = 0;  // bytes from the address of a page to its first row

  // Row `first` and the rows after it, as far as the memory is one.
  StoredRows from(std::int64_t first) const noexcept {
    StoredRows rest = *this;
    if (pages == nullptr) {
      rest.data = at(first);
    } else {
      rest.data = pages[first / page_rows] + page_offset;
      rest.data = rest.at(first % page_rows);
    }
    return rest;
  }
  // The first row after `first` that lies in the next page, at most `end`.
  std::int64_t run_end(std::int64_t first, std::int64_t end) const noexcept {
    if (pages == nullptr) return end;
    const std::int64_t next = (first / page_rows + 1) * page_rows;
    return next < end ? next : end;
  }
};

// The same for results, which are never int8.
struct StoredOutput {
  void* data;
  std::int64_t row_stride, channel_stride;
  Storage storage;
};

inline constexpr std::ptrdiff_t kLineBytes = 64;

// Prefetches an address, which may be outside the array, to the L1 cache. (Inlined by force: g++ 12
// removes calls of a function that only prefetches.)
[[gnu::always_inline]] inline void prefetch_l1(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 3);
}

// The same for writing: acquires the cache line exclusively, so that the store need not wait for
// other cores. (Compilers emit a prefetch for reading unless the target processor has prefetchw; on
// other x86-64 processors it is a no-op.)
[[gnu::always_inline]] inline void prefetch_for_write(std::uintptr_t address) {
#ifdef __x86_64__
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  __builtin_prefetch(reinterpret_cast<const void*>(address), 1, 3);
#endif
}

[[gnu::always_inline]] inline void prefetch_l2(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 2);
}

// Hardware prefetchers do not follow rows that are not contiguous: kernels prefetch them this many
// rows ahead.
inline constexpr std::int64_t kPrefetchRows = 8;

// Prefetches the row that begins `ahead` elements after `row`.
template <class T>
[[gnu::always_inline]] inline void prefetch_row(const T* row, std::int64_t ahead,
                                                std::int64_t channels) {
  constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(T));
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(ahead * kSize);
  for (std::ptrdiff_t at = 0; at < channels * kSize; at += kLineBytes) {
    prefetch_l1(begin + static_cast<std::uintptr_t>(at));
  }
}

}  // namespace sextant::kernels
