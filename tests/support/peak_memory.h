// How much memory something takes at its peak.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace sextant::tests {

// The bytes by which the resident memory of a process of its own grows while it runs body(), which
// must not throw. The parent should not have freed as much before: the child may use it.
inline std::int64_t peak_growth(const std::function<void()>& body) {
  const auto peak = [] {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
  };
  int ends[2] = {};
  std::int64_t grown = -1;
  if (::pipe(ends) != 0) return grown;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::int64_t before = peak();
    body();
    grown = peak() - before;
    ::_exit(::write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  }
  ::close(ends[1]);
  if (::read(ends[0], &grown, sizeof grown) != sizeof grown) ADD_FAILURE() << "no answer";
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return grown;
}

}  // namespace sextant::tests
