// Determines the contents of each column of a sinusoidal table: resolves the options to frequencies
// and a map of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "core/numbers/wide_float.h"
#include "kernels/sines/sine_table.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// Throws Error if an option is out of its range, for any rows.
void check_sinusoidal(const Sinusoidal& options);

// The rule for the last column of an odd width, the default resolved.
OddWidth odd_width_rule(const Sinusoidal& options) noexcept;

// Radians per position of every sine, or every cosine, of checked options.
std::vector<WideFloat> sinusoidal_ladder(const Sinusoidal& options, bool cosine);

// sinusoidal_column() of checked options and a column below their width.
SinusoidalColumn column_of(const Sinusoidal& options, std::int64_t column) noexcept;

// Frequencies and columns of checked options. Sines and cosines share their frequencies unless they
// are unpaired, where those of the cosines follow the sines'.
struct SinusoidalColumns {
  std::vector<WideFloat> frequencies;
  std::vector<kernels::SineColumn> columns;
};
SinusoidalColumns sinusoidal_columns(const Sinusoidal& options);

std::vector<kernels::Turns> turns_of(const std::vector<WideFloat>& frequencies);

}  // namespace sextant
