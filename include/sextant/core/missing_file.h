// Declares the error for a missing file or folder, for callers that distinguish it.
#pragma once

#include "sextant/core/error.h"

namespace sextant {

// Thrown instead of Error if a path does not exist; where() is the path.
class MissingFile : public Error {
 public:
  using Error::Error;
};

}  // namespace sextant
