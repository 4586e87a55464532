// Memory that is packed after the products that run now: they ask for it, a line now and then.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

class RunsAhead {
 public:
  RunsAhead() = default;  // none
  // What of a matrix begins at its first element: so many rows, so many steps of the depth.
  RunsAhead(const MatrixRef& a, std::int64_t rows, std::int64_t steps) {
    const bool columns = has_contiguous_columns(a);
    if (!columns && a.column_stride != 1) return;
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(float));
    run_ = reinterpret_cast<std::uintptr_t>(a.data);
    stride_ = (columns ? a.column_stride : a.row_stride) * kSize;
    run_bytes_ = (columns ? rows : steps) * kSize;
    runs_ = columns ? steps : rows;
  }

  bool done() const noexcept { return runs_ <= 0; }

  // Asks the second cache for the next line, if there is one.
  [[gnu::always_inline]] void ask_for_line() noexcept {
    if (runs_ <= 0) return;
    ask_second_cache_for(run_ + static_cast<std::uintptr_t>(at_));
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
