// Errors of the bindings, and how the library's become Python's.
#pragma once

#include <stdexcept>

namespace sextant::python {

// An argument of another type: sextant.ArgumentTypeError.
class WrongType : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sextant::python
