// Computes sinusoidal positions: Vaswani et al. 2017 (1706.03762, section 3.5) and other forms in
// use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/names.h"
#include "sextant/core/tensor.h"

namespace sextant {

// The order of sines and cosines in a row.
enum class SinusoidalLayout {
  interleaved,  // sin, cos, sin, cos, ...                          the paper
  half_split,   // all sines, then all cosines                      tensor2tensor, fairseq, Marian,
                // Whisper
  cos_first,    // all cosines, then all sines                      Musicgen, diffusion timesteps
};

// The frequency of pair k, with n = floor(width / 2) pairs.
enum class Ladder {
  d,               // base^(-2k / width)                            the paper
  d_half_minus_1,  // base^(-k / (n - 1)): the last one is 1 / base tensor2tensor, fairseq
};

// The dependence of exponents on the index.
enum class Exponent {
  standard,
  doubled,           // every exponent twice as large: base^(-4k / width), for sine and cosine
  doubled_unpaired,  // the same mistake, and the cosine of a pair one step further: base^(-2(2k +
                     // 1) / width)
};

// The last column when the width is odd. The pairs then follow the ladder of the odd width itself
// (extra_sine), of width - 1 (zero_column) or of width + 1 (round_up).
enum class OddWidth {
  extra_sine,   // one more sine than cosines                       keras-hub, HF Marian; the rule
                // for ladder d
  zero_column,  // the last column is zero                          fairseq, timesteps; the rule for
                // ladder d/2-1
  round_up,     // the table of width + 1, last column cut off
};

enum class Precision {
  exact,      // the exact value rounded once
  framework,  // as float32 frameworks do: frequency rounded to float32, times the position rounded
              // to float32, rounded to float32; sine and cosine of that correctly rounded to
              // float32, times the scale in float32, converted to T
};

struct Sinusoidal {
  std::int64_t length = 0;  // rows, >= 0; unused if positions are given
  std::int64_t width = 0;   // columns, >= 1; ladder d/2-1 needs >= 4
  double base = 10000;      // > 0, finite
  std::int64_t first = 0;   // position of row 0, within +-2^53; unused if positions are given
  SinusoidalLayout layout = SinusoidalLayout::interleaved;
  Ladder ladder = Ladder::d;
  Exponent exponent = Exponent::standard;
  std::optional<OddWidth> odd_width =
      std::nullopt;  // unset: extra_sine for ladder d, zero_column for ladder d/2-1
  double scale = 1;  // multiplies every value before the rounding (MLX: sqrt(2 / width)); finite
  Precision precision = Precision::exact;
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns the table [length, width] of positions first, first + 1, ... With precision exact,
// float32, bfloat16 and float16 are within 0.5001 units in the last place of the exact value, and
// float64 within 0.51 (except results below 2^-1022), for every base that keeps the frequencies at
// or below 2^64 radians per position, and for |position| <= 2^53. The bits of a value depend only
// on its position, its column and the instruction set: not on the length, the first row, the
// threads, or whether its position was listed. Processors with and without fused multiply-add
// differ in about one float32 of 10^8. Throws Error if an option is out of its range, a position is
// beyond +-2^53, or length * width overflows.
template <Floating T = float>
Tensor<T> sinusoidal(const Sinusoidal& options);

// Returns the same for any positions, [positions.size(), width].
template <Floating T = float>
Tensor<T> sinusoidal(const Sinusoidal& options, std::span<const std::int64_t> positions);

// Returns the same for real-valued positions (diffusion timesteps, continuous time); each must be
// finite and within +-2^53. Every value is correctly rounded, so a float32 at a whole number may
// differ from that of the integer in the last bit (one in 10^7).
template <Floating T = float>
Tensor<T> sinusoidal(const Sinusoidal& options, std::span<const double> positions);

// Writes the same into the caller's memory, [length, width], columns adjacent, rows at any stride
// without overlap.
template <Floating T>
void sinusoidal_into(View<T> out, const Sinusoidal& options);

// Returns the frequencies in radians per position: entry k belongs to sine k (cosine = false) or
// cosine k.
Tensor<double> sinusoidal_frequencies(const Sinusoidal& options, bool cosine = false);

// The pair and function of a column: {k, cosine}, or {-1, false} for a zero column.
struct SinusoidalColumn {
  std::int64_t pair;
  bool cosine;
};
SinusoidalColumn sinusoidal_column(const Sinusoidal& options, std::int64_t column);

// Returns M_offset of the paper's remark: [width, width] with PE(p + offset) = M_offset PE(p) for
// every p. It is a rotation of each pair; the scale does not matter. Entries are correctly rounded,
// so |M_k PE(p) - PE(p + k)| is below 4 * 2^-53 in float64 for all p and k. Throws Error for forms
// that have no such matrix (a sine without its cosine: odd widths except zero_column, unpaired
// exponents).
Tensor<double> offset_matrix(const Sinusoidal& options, std::int64_t offset);

// Return the names used by the command line and by Python: "interleaved", "d/2-1",
// "doubled_unpaired", "zero_column", "framework".
std::string_view name_of(SinusoidalLayout) noexcept;
std::string_view name_of(Ladder) noexcept;
std::string_view name_of(Exponent) noexcept;
std::string_view name_of(OddWidth) noexcept;
std::string_view name_of(Precision) noexcept;

// Returns the options for parameters of the scheme "sinusoidal", by name and as text: {"base",
// "500"}, {"ladder", "d/2-1"}, {"odd_width", "auto"}, ... An absent one has its default; length,
// width, first and threads are not parameters of the scheme. Throws Error for an unknown name, with
// the known ones, and for a text that is not a value of its parameter.
Sinusoidal sinusoidal_from(const std::map<std::string, std::string>& parameters);

}  // namespace sextant
