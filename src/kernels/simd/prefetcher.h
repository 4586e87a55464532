// Prefetches, one line at a time, the memory that is packed after the products that run now.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

class Prefetcher {
 public:
  Prefetcher() = default;  // none
  // The first `rows` rows and `steps` steps of the depth of a matrix.
  template <class T>
  Prefetcher(const MatrixOf<T>& a, std::int64_t rows, std::int64_t steps) {
    const bool columns = has_contiguous_columns(a);
    if (!columns && a.column_stride != 1) return;
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    run_ = reinterpret_cast<std::uintptr_t>(a.data);
    stride_ = (columns ? a.column_stride : a.row_stride) * kSize;
    run_bytes_ = (columns ? rows : steps) * kSize;
    runs_ = columns ? steps : rows;
  }

  bool done() const noexcept { return runs_ <= 0; }

  // Prefetches the next line to the L2 cache, if there is one.
  [[gnu::always_inline]] void prefetch_line() noexcept {
    if (runs_ <= 0) return;
    prefetch_l2(run_ + static_cast<std::uintptr_t>(at_));
    at_ += kLineBytes;
    if (at_ < run_bytes_) return;
    at_ = 0;
    run_ += static_cast<std::uintptr_t>(stride_);
    --runs_;
  }

 private:
  std::uintptr_t run_ = 0;  // address
  std::int64_t stride_ = 0, run_bytes_ = 0, at_ = 0, runs_ = 0;
};

}  // namespace sextant::kernels
