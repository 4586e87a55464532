// The error for a file or folder that is not there, for those who tell it from others.
#pragma once

#include "sextant/core/error.h"

namespace sextant {

// Thrown in place of Error where a path leads to nothing: where() is the path.
class MissingFile : public Error {
 public:
  using Error::Error;
};

}  // namespace sextant
