// Products of factors rounded to bfloat16, with sums in float32, by the instructions that some
// processors have for them. They take operands as lists of pairs of steps:
//
//   C[row][lane] = sum over steps s of A[row][s] * B[s][lane]
//
// A has rows of bfloat16; two steps of B are one word per lane: the even step in the low half.
#pragma once

#include <cstdint>

#include "sextant/core/dtype.h"

namespace sextant::kernels {

// A tile: rows of A and C, lanes of B and C, and the steps of one instruction.
inline constexpr std::int64_t kBf16Rows = 16, kBf16Lanes = 16, kBf16Steps = 32;

constexpr std::int64_t bf16_rows(std::int64_t rows) noexcept {
  return (rows + kBf16Rows - 1) / kBf16Rows * kBf16Rows;
}
constexpr std::int64_t bf16_steps(std::int64_t steps) noexcept {
  return (steps + kBf16Steps - 1) / kBf16Steps * kBf16Steps;
}

struct Bf16Operands {
  const bfloat16* a;  // [rows][a_row]
  std::int64_t a_row;
  const std::uint32_t* b;  // [steps / 2][b_row]
  std::int64_t b_row;
  float* c;  // [rows][c_row]
  std::int64_t c_row;
  std::int64_t rows, lanes, steps;  // whole tiles
  std::int64_t added_rows = 0;  // the first rows of C that products are added to; 0: all are stored
};

// The functions for one processor. Functions that round have the nearest bfloat16, ties to even;
// denormal numbers become 0.
struct Bf16Products {
  const char* name;           // of the instructions
  int tile_rows, tile_lanes;  // of C in registers

  // A thread calls both, before and after its products. No other code runs between them: terms of
  // scores may call the operator, or a library with tiles of its own.
  void (*begin)() noexcept;
  void (*end)() noexcept;

  void (*product)(const Bf16Operands& operands) noexcept;

  // A from its rows: steps up to bf16_steps(steps) and rows up to bf16_rows(rows) are 0.
  void (*round_rows)(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t steps,
                     bfloat16* to, std::int64_t to_stride) noexcept;
  // The same from its columns: from[s * stride + row]. With `finite_only`, infinities and NaN
  // become 0.
  void (*round_columns)(const float* from, std::int64_t stride, std::int64_t rows,
                        std::int64_t steps, bool finite_only, bfloat16* to,
                        std::int64_t to_stride) noexcept;
  // The same from numbers that are rounded already: from[s * stride + row].
  void (*transpose)(const bfloat16* from, std::int64_t stride, std::int64_t rows,
                    std::int64_t steps, bfloat16* to, std::int64_t to_stride) noexcept;
  // Sixteen lanes of B: steps [begin, end) from from[s * stride + lane]; the other steps of
  // [first, last), both multiples of kBf16Steps, are 0. Step s goes to to[s / 2 * to_stride].
  void (*round_lanes)(const float* from, std::int64_t stride, std::int64_t begin, std::int64_t end,
                      std::int64_t first, std::int64_t last, std::uint32_t* to,
                      std::int64_t to_stride) noexcept;
};

// Those of this machine; null if it has none that are faster than products in float32.
const Bf16Products* bf16_products() noexcept;

}  // namespace sextant::kernels
