// The fast path: float32 and 16-bit calls, cut into tasks for the kernels.
#pragma once

#include "arguments.h"

namespace sextant::detail {

// What a call comes to: known before anything is computed, and what plan() tells.
struct TaskGrid {
  std::int64_t block_queries = 0;  // queries per task
  std::int64_t tasks = 0;
  int workers = 0;  // threads that will be used
};

template <class T>
TaskGrid task_grid(const Arguments<T>& arguments, std::int64_t v_dim);

template <class T>
void fused_attention(const Arguments<T>& arguments, View<const T> v, View<T> out);

}  // namespace sextant::detail
