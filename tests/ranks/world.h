// The ranks that a test runs on.
#pragma once

#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

const Communicator& world();

}  // namespace sextant::ranks
