// What a program says to options that it does not have, and to --help.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace sextant::bench {

// Prints the usage: to stdout for --help, else to stderr behind what was wrong. Ends with 0 or 2.
[[noreturn]] inline void end_with_usage(const std::string& option, const char* usage) {
  const bool asked = option == "--help" || option == "-h";
  if (!asked) std::fprintf(stderr, "%s is no option, or lacks its value\n", option.c_str());
  std::fputs(usage, asked ? stdout : stderr);
  std::exit(asked ? 0 : 2);
}

}  // namespace sextant::bench
