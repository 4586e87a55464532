// Makes the data of tasks that need no file.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/text/pairs.h"

namespace sextant {

// The data of a training with a seed; the data for the loss and for the final check is held out.
struct BuiltInData {
  SentencePairs training, validation, check;
};

// Returns the data of "dates" (dates.h), "copy", "reverse" and "sort" (letters.h): 20000, 500 and
// 1000 pairs. Throws Error for another task.
BuiltInData built_in_data(std::string_view task, std::uint64_t seed);
bool is_built_in(std::string_view task) noexcept;

}  // namespace sextant
