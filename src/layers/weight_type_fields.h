// Lists the options of loading weights.
#pragma once

#include "core/options/fields.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<WeightType> =
    meanings("as in the file", "half the memory, 8 bits of precision",
             "half the memory, 11 bits of precision, at most 65504");

template <>
inline constexpr auto kFields<WeightOptions> = std::tuple{
    field(&WeightOptions::dtype, "dtype", "type of the matrices in memory, rounded once")};

}  // namespace sextant
