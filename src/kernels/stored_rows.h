// Rows of float32 or 16-bit numbers somewhere in memory, as kernels are told of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/core/dtype.h"

namespace sextant {

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

// Rows that are apart are on no stream that the processor sees: kernels ask the first cache for
// them, so many rows early.
inline constexpr std::int64_t kRowsAhead = 8;

// (Inlined by force: g++ 12 takes a function that only prefetches for one that does nothing.)
template <class T>
[[gnu::always_inline]] inline void ask_for_row(const T* row, std::int64_t channels) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t c = 0; c < channels; c += kLine) __builtin_prefetch(row + c);
}

}  // namespace sextant
