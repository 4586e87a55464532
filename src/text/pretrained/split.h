// Applies the chosen behaviour to the stretches that a splitting finds.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "text/pretrained/patterns/pattern.h"
#include "text/pretrained/pre_tokenizer.h"

namespace sextant::text {

// In the order of the names in a tokenizer.json: Removed, Isolated, MergedWithPrevious,
// MergedWithNext, Contiguous.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(const Field& field);

// Divides every part that is no added token.
void split(Parts& parts, const std::function<std::vector<Stretch>(std::string_view)>& find,
           Behavior behavior, bool invert = false);

}  // namespace sextant::text
