// Errors that name the argument of a call: "<function>.<argument>".
#pragma once

#include <string>
#include <string_view>

#include "core/arrays/any_view.h"
#include "core/arrays/overlap.h"
#include "sextant/core/error.h"

namespace sextant::attention_detail {

inline std::string name_in(std::string_view function, std::string_view argument) {
  return std::string(function) + "." + std::string(argument);
}

[[noreturn]] inline void refuse(std::string_view function, std::string_view argument,
                                const std::string& what) {
  throw Error(name_in(function, argument), what);
}

inline void check_array(std::string_view function, std::string_view argument, const AnyView& view,
                        std::string_view axes) {
  if (view.rank() != 4) {
    refuse(function, argument,
           "must be " + std::string(axes) + ", got " + view.shape().to_string());
  }
  check_memory(name_in(function, argument), view);
}

// For a View, or one of any element type.
template <class V>
void check_shape(std::string_view function, std::string_view argument, const V& view,
                 const Shape& wanted) {
  if (!(view.shape() == wanted)) {
    refuse(function, argument,
           "must be " + wanted.to_string() + ", got " + view.shape().to_string());
  }
}

}  // namespace sextant::attention_detail
