// Explains the names of choices that several schemes share.
#pragma once

#include "core/options/fields.h"
#include "sextant/schemes/added/fourier.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<SinusoidalLayout> = meanings("sin, cos, sin, cos, ...",
                                                             "all sines, then all cosines",
                                                             "all cosines, then all sines");

// For w columns, pair k.
template <>
inline constexpr auto kMeanings<Ladder> =
    meanings("base^(-2k / w)", "base^(-k / (w/2 - 1)), the last exactly 1 / base");

template <>
inline constexpr auto kMeanings<Precision> = meanings("true values, rounded once",
                                                      "every step in float32, as in frameworks");

template <>
inline constexpr auto kMeanings<FourierInput> = meanings("left out", "before the features",
                                                         "after the features");

// For n rotated channels, pair k.
template <>
inline constexpr auto kMeanings<RotaryLayout> = meanings("2k and 2k + 1", "k and k + n/2");

template <>
inline constexpr auto kMeanings<RotarySpan> = meanings("the first channels of the head",
                                                       "the last channels of the head");

}  // namespace sextant
