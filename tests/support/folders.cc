// The one file that is compiled with this build's paths.
#include "support/folders.h"

namespace sextant::tests {

std::string data_folder() { return SEXTANT_TEST_DATA; }
std::string shared_folder() { return SEXTANT_SHARED; }
std::string program() { return SEXTANT_PROGRAM; }

}  // namespace sextant::tests
