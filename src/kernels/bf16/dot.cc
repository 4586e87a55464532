// Products by vdpbf16ps, and rounding by the instructions that come with it (AVX512_BF16).
#include "kernels/bf16/x86.h"

#if SEXTANT_X86_BF16

#include <cstring>

#include "kernels/bf16/intrinsics.h"

#define SEXTANT_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

namespace sextant::kernels {
namespace {

// Two steps of sixteen lanes as words, the even step in the low half.
SEXTANT_BF16 inline __m512i paired(__m512 even, __m512 odd) noexcept {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512bh halves = _mm512_cvtne2ps_pbh(odd, even);
  return _mm512_permutexvar_epi16(order, (__m512i)halves);
}

SEXTANT_BF16 inline __mmask16 first_lanes(std::int64_t count) noexcept {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFF : count <= 0 ? 0 : (1U << count) - 1);
}

SEXTANT_BF16 inline __m512 finite(__m512 x) noexcept {
  constexpr int kNanOrInfinite = 0x99;
  return _mm512_maskz_mov_ps(_knot_mask16(_mm512_fpclass_ps_mask(x, kNanOrInfinite)), x);
}

// Rows of words become columns.
SEXTANT_BF16 inline void transpose_words(__m512i (&x)[16]) noexcept {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
    y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xDD);
    y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
    y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xDD);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xDD);
  }
}

// Sixteen pairs of steps of sixteen rows, as rows.
SEXTANT_BF16 inline void store_columns(__m512i (&words)[16], bfloat16* to,
                                       std::int64_t stride) noexcept {
  transpose_words(words);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * stride, words[i]);
}

// C of kRows rows by kLanes vectors of lanes.
template <int kRows, int kLanes>
SEXTANT_BF16 inline void dot_tile(const Bf16Operands& o, std::int64_t row,
                                  std::int64_t lane) noexcept {
  __m512 c[kRows][kLanes];
#pragma GCC unroll 8
  for (auto& line : c) {
#pragma GCC unroll 4
    for (__m512& sum : line) sum = _mm512_setzero_ps();
  }
  const bfloat16* a = o.a + row * o.a_row;
  const std::uint32_t* b = o.b + lane;
  for (std::int64_t step = 0; step < o.steps; step += 2, b += o.b_row) {
    __m512i lanes[kLanes];
#pragma GCC unroll 4
    for (int v = 0; v < kLanes; ++v) lanes[v] = _mm512_loadu_si512(b + v * kBf16Lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      std::int32_t pair;
      std::memcpy(&pair, a + r * o.a_row + step, sizeof pair);
      const __m512i both = _mm512_set1_epi32(pair);
#pragma GCC unroll 4
      for (int v = 0; v < kLanes; ++v) {
        c[r][v] = _mm512_dpbf16_ps(c[r][v], (__m512bh)both, (__m512bh)lanes[v]);
      }
    }
  }
  const bool adds = o.added_rows > 0;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    if (adds && row + r >= o.added_rows) break;
#pragma GCC unroll 4
    for (int v = 0; v < kLanes; ++v) {
      float* to = o.c + (row + r) * o.c_row + lane + v * kBf16Lanes;
      _mm512_storeu_ps(to, adds ? _mm512_add_ps(_mm512_loadu_ps(to), c[r][v]) : c[r][v]);
    }
  }
}

}  // namespace

SEXTANT_BF16 void dot_product(const Bf16Operands& o) noexcept {
  std::int64_t lane = 0;
  for (; lane + 4 * kBf16Lanes <= o.lanes; lane += 4 * kBf16Lanes) {
    for (std::int64_t row = 0; row < o.rows; row += 4) dot_tile<4, 4>(o, row, lane);
  }
  for (; lane < o.lanes; lane += kBf16Lanes) {
    for (std::int64_t row = 0; row < o.rows; row += 8) dot_tile<8, 1>(o, row, lane);
  }
}

SEXTANT_BF16 void round_rows(const float* from, std::int64_t stride, std::int64_t rows,
                             std::int64_t steps, bfloat16* to, std::int64_t to_stride) noexcept {
  const std::int64_t padded = bf16_steps(steps);
  for (std::int64_t row = 0; row < rows; ++row, from += stride, to += to_stride) {
    for (std::int64_t s = 0; s < padded; s += kBf16Steps) {
      const __m512 low = _mm512_maskz_loadu_ps(first_lanes(steps - s), from + s);
      const __m512 high = _mm512_maskz_loadu_ps(first_lanes(steps - s - 16), from + s + 16);
      _mm512_storeu_si512(to + s, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
  }
  for (std::int64_t row = rows; row < bf16_rows(rows); ++row, to += to_stride) {
    std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(padded) * sizeof(bfloat16));
  }
}

SEXTANT_BF16 void round_columns(const float* from, std::int64_t stride, std::int64_t rows,
                                std::int64_t steps, bool finite_only, bfloat16* to,
                                std::int64_t to_stride) noexcept {
  for (std::int64_t step = 0; step < bf16_steps(steps); step += kBf16Steps) {
    for (std::int64_t row = 0; row < bf16_rows(rows); row += kBf16Rows) {
      const __mmask16 inside = first_lanes(rows - row);
      __m512i words[16];
#pragma GCC unroll 16
      for (std::int64_t pair = 0; pair < 16; ++pair) {
        const std::int64_t s = step + 2 * pair;
        __m512 even = _mm512_setzero_ps(), odd = even;
        if (s < steps) even = _mm512_maskz_loadu_ps(inside, from + s * stride + row);
        if (s + 1 < steps) odd = _mm512_maskz_loadu_ps(inside, from + (s + 1) * stride + row);
        if (finite_only) {
          even = finite(even);
          odd = finite(odd);
        }
        words[pair] = paired(even, odd);
      }
      store_columns(words, to + row * to_stride + step, to_stride);
    }
  }
}

SEXTANT_BF16 void transpose(const bfloat16* from, std::int64_t stride, std::int64_t rows,
                            std::int64_t steps, bfloat16* to, std::int64_t to_stride) noexcept {
  for (std::int64_t step = 0; step < bf16_steps(steps); step += kBf16Steps) {
    for (std::int64_t row = 0; row < bf16_rows(rows); row += kBf16Rows) {
      const __mmask16 inside = first_lanes(rows - row);
      __m512i words[16];
#pragma GCC unroll 16
      for (std::int64_t pair = 0; pair < 16; ++pair) {
        const std::int64_t s = step + 2 * pair;
        __m256i even = _mm256_setzero_si256(), odd = even;
        if (s < steps) even = _mm256_maskz_loadu_epi16(inside, from + s * stride + row);
        if (s + 1 < steps) odd = _mm256_maskz_loadu_epi16(inside, from + (s + 1) * stride + row);
        words[pair] = _mm512_or_si512(_mm512_cvtepu16_epi32(even),
                                      _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
      }
      store_columns(words, to + row * to_stride + step, to_stride);
    }
  }
}

SEXTANT_BF16 void round_lanes(const float* from, std::int64_t stride, std::int64_t begin,
                              std::int64_t end, std::int64_t first, std::int64_t last,
                              std::uint32_t* to, std::int64_t to_stride) noexcept {
  const __m512 zero = _mm512_setzero_ps();
  const auto at = [&](std::int64_t s) { return from + s * stride; };
  for (std::int64_t s = first; s < last; s += 2) {
    const bool has_even = s >= begin && s < end, has_odd = s + 1 >= begin && s + 1 < end;
    const __m512 even = has_even ? _mm512_loadu_ps(at(s)) : zero;
    const __m512 odd = has_odd ? _mm512_loadu_ps(at(s + 1)) : zero;
    _mm512_storeu_si512(to + s / 2 * to_stride, paired(even, odd));
  }
}

}  // namespace sextant::kernels

#endif
