// Functions of the scores of a row, for terms of whole rows, and running sums of several rows.
// Element by element: an element's bits do not depend on its index. Denormal numbers count as 0.
#pragma once

#include <cstdint>

namespace sextant::kernels {

// y[n] = 1 / (1 + e^-x[n]); y may be x.
void sigmoids(const float* x, std::int64_t count, float* y) noexcept;

// y[n] = log(1 + e^x[n]); y may be x. Relative error below 1e-6 with fused multiply-adds, else |x|
// 2^-23 more.
void softplus(const float* x, std::int64_t count, float* y) noexcept;

// y[n] = cap tanh(x[n] / cap), as the attention kernels compute it; y may be x.
void softcaps(const float* x, std::int64_t count, float cap, float* y) noexcept;

// y[n] = with[n] - x[n], what a score x lacks to be `with`; y may be `with`. 0 for hidden scores,
// -infinity, and NaN for infinite ones, to which nothing finite can be added.
void score_differences(const float* with, const float* x, std::int64_t count, float* y) noexcept;

// to[n] += factor t(p[n]), where t(p) interpolates a table with rows 0 .. last linearly at p, which
// is at most `last`: each operation is rounded. NaN gives NaN.
void add_interpolated(const float* p, std::int64_t count, const float* table, std::int64_t last,
                      float factor, float* to) noexcept;

// Rows of numbers, `stride` apart.
struct SummedRows {
  float* data;
  std::int64_t stride, rows;  // rows: at most kSummedRows
};
inline constexpr std::int64_t kSummedRows = 8;

// Replace numbers [begin, end) of each row by sums in float64, rounded: of the number, those after
// it and sums[row], or of the number, those before it and sums[row]. sums[row] becomes the sum of
// all. The additions of different rows do not wait for each other.
void sum_from_end(const SummedRows& x, std::int64_t begin, std::int64_t end, double* sums) noexcept;
void sum_from_begin(const SummedRows& x, std::int64_t begin, std::int64_t end,
                    double* sums) noexcept;

}  // namespace sextant::kernels
