// The loops of AdamW over a run of elements.
#pragma once

#include <cstdint>

namespace sextant {

// The factors of one step: g' = gradient g; m += mean (g' - m); v = kept_square v + square g'^2;
// p = kept p - step m / (root sqrt(v) + epsilon).
struct AdamWFactors {
  float gradient = 1, mean = 0, kept_square = 0, square = 0;
  float kept = 1, root = 1, epsilon = 0, step = 0;
};

// p, m and v: [count], changed in place; g: [count]. Nothing overlaps.
void adamw_rows(const AdamWFactors& factors, std::int64_t count, const float* g, float* p, float* m,
                float* v);

// The sum of the squares in float64. Element i goes to chain i mod 8, and the chains are added in
// order: a fixed result.
double sum_of_squares(const float* values, std::int64_t count);

}  // namespace sextant
