#include "ranks/launch/launch.h"

#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <chrono>

namespace sextant::ranks {

std::string phases_program() { return SEXTANT_PHASES; }
std::string training_phases_program() { return SEXTANT_TRAINING_PHASES; }
std::string sextant_program() { return SEXTANT_APP; }

Ended run_alone(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  Ended ended;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 4096> bytes;
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    ended.text.append(bytes.data(), count);
  }
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return ended;
}

Ended launch(int count, const std::string& command) {
  return run_alone("timeout -k 5 100 " + std::string(SEXTANT_LAUNCH) + " -n " +
                   std::to_string(count) + " " + command);
}

}  // namespace sextant::ranks
