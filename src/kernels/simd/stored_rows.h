// Rows of float32 or 16-bit numbers somewhere in memory, as kernels are told of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sextant/core/dtype.h"

namespace sextant::kernels {

enum class Storage { float32, float16, bfloat16 };

template <class T>
inline constexpr Storage storage_of = std::is_same_v<T, float>     ? Storage::float32
                                      : std::is_same_v<T, float16> ? Storage::float16
                                                                   : Storage::bfloat16;

// Strides count elements.
struct StoredRows {
  const void* data;
  std::int64_t row_stride, channel_stride;
  Storage storage;

  // Whether kernels can read it where it is.
  bool is_plain() const noexcept { return storage == Storage::float32 && channel_stride == 1; }
};

// What can be written to, likewise.
struct StoredOutput {
  void* data;
  std::int64_t row_stride, channel_stride;
  Storage storage;
};

inline constexpr std::ptrdiff_t kLineBytes = 64;

// Asks the first cache for an address, which may be beyond the array. (Inlined by force: g++ 12
// takes a function that only prefetches for one that does nothing.)
[[gnu::always_inline]] inline void ask_for(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 3);
}

// The same to write to it: takes the line away from other cores' caches, which a store would wait
// for otherwise. (Compilers turn a prefetch for writing into one for reading unless told of a
// processor that knows it; all of x86-64 takes it, some as nothing.)
[[gnu::always_inline]] inline void ask_to_write(std::uintptr_t address) {
#ifdef __x86_64__
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  __builtin_prefetch(reinterpret_cast<const void*>(address), 1, 3);
#endif
}

[[gnu::always_inline]] inline void ask_second_cache_for(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 2);
}

// Rows that are apart are on no stream that the processor sees: kernels ask for them, so many rows
// early.
inline constexpr std::int64_t kRowsAhead = 8;

// Asks for the row that begins `ahead` elements behind this one's first.
template <class T>
[[gnu::always_inline]] inline void ask_for_row(const T* row, std::int64_t ahead,
                                               std::int64_t channels) {
  constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(T));
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(ahead * kSize);
  for (std::ptrdiff_t at = 0; at < channels * kSize; at += kLineBytes) {
    ask_for(begin + static_cast<std::uintptr_t>(at));
  }
}

}  // namespace sextant::kernels
