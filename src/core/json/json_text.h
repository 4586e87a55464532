// JSON for a person to read: a matrix looks like one.
#pragma once

#include <string>

#include "core/json/json.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Objects one field per line, rows of numbers on one; bytes that are not UTF-8 are replaced, never
// a failure.
std::string to_text(const Json& json);

// Nested arrays of numbers, any rank; nonfinite numbers are null.
Json rows_as_json(View<const double> values);

}  // namespace sextant
