// Describes the build and the machine, for the foot of a page and for reports of bugs.
#pragma once

#include <cstddef>
#include <string>

namespace sextant::figures {

struct Environment {
  std::string version;                          // version of the library, "0.1.0"
  std::string compiler;                         // "g++ 12.2.0"
  std::string compiled_targets, chosen_target;  // instruction sets, as in kernels.h
  int threads = 0;                              // threads of a call that does not set them
  std::size_t schemes = 0;                      // number of schemes

  std::string line() const;  // returns "sextant 0.1.0, g++ 12.2.0, AVX2, 8 threads"
  std::string json() const;
};
Environment environment();

}  // namespace sextant::figures
