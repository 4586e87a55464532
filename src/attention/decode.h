// The fast path for few queries: each key and value is read once for all query heads of its group.
#pragma once

#include "arguments.h"
#include "fused.h"

namespace sextant::detail {

// Whether a call is for this path, by its shape alone. Both give the same bits.
template <class T>
bool is_decode(const Arguments<T>& arguments) {
  // Measured: at about 12 queries the forward kernel, whose vectors hold 16, gets faster.
  constexpr std::int64_t kMostQueries = 8;
  return arguments.q_len <= kMostQueries;
}

// Likewise what task_grid() tells of the other path.
template <class T>
TaskGrid decode_grid(const Arguments<T>& arguments, View<const T> v);

template <class T>
void decode_attention(const Arguments<T>& arguments, View<const T> v, View<T> out,
                      const TaskGrid& grid);

}  // namespace sextant::detail
