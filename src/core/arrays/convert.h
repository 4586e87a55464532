// Elements of any type as another one.
#pragma once

#include <cstddef>
#include <span>

#include "sextant/core/dtype.h"

namespace sextant {

// to.size() elements of type `from`, aligned to it, as Array::to() converts them.
template <class T>
void convert_elements(DType from, const std::byte* elements, std::span<T> to);

}  // namespace sextant
