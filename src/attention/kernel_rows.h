// Arrays and rotation tables as kernels take them.
#pragma once

#include <cstdint>

#include "arguments.h"
#include "kernels/rotate_rows.h"
#include "kernels/stored_rows.h"

namespace sextant::detail {

// The rows of one head of a sequence, from its row `first` on.
template <class T>
StoredRows stored_rows(View<const T> x, const Sequence& at, std::int64_t head, std::int64_t first) {
  return {x.data() + at.batch * x.stride(0) + head * x.stride(1) + (at.begin + first) * x.stride(2),
          x.stride(2), x.stride(3), storage_of<T>};
}

// The same of what is written to.
template <class T>
StoredOutput stored_output(View<T> x, const Sequence& at, std::int64_t head, std::int64_t first) {
  return {x.data() + at.batch * x.stride(0) + head * x.stride(1) + (at.begin + first) * x.stride(2),
          x.stride(2), x.stride(3), storage_of<T>};
}

// Row `first` of a table and those after it.
inline RotationRows rotation_rows(const RotationTable<float>& table, std::int64_t first) {
  const std::int64_t pairs = table.cos.size(1);
  return {.cos = table.cos.data() + first * pairs,
          .sin = table.sin.data() + first * pairs,
          .stride = pairs,
          .pairs = pairs,
          .first_channel = table.first_channel,
          .interleaved = table.layout == RotaryLayout::interleaved};
}

}  // namespace sextant::detail
