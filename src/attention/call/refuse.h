// Errors that name the argument of a call: "<function>.<argument>".
#pragma once

#include <string>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/core/tensor.h"

namespace sextant::attention_detail {

inline std::string name_in(std::string_view function, std::string_view argument) {
  return std::string(function) + "." + std::string(argument);
}

[[noreturn]] inline void refuse(std::string_view function, std::string_view argument,
                                const std::string& what) {
  throw Error(name_in(function, argument), what);
}

template <class T>
void check_array(std::string_view function, std::string_view argument, View<T> view,
                 std::string_view axes) {
  if (view.rank() != 4) {
    refuse(function, argument,
           "must be " + std::string(axes) + ", got " + view.shape().to_string());
  }
  check_memory(name_in(function, argument), view);
}

template <class T>
void check_shape(std::string_view function, std::string_view argument, View<T> view,
                 const Shape& wanted) {
  if (!(view.shape() == wanted)) {
    refuse(function, argument,
           "must be " + wanted.to_string() + ", got " + view.shape().to_string());
  }
}

}  // namespace sextant::attention_detail
