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

}  // namespace sextant
