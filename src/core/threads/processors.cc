// The affinity mask, and the quotas of control groups as containers set them.
#include "core/threads/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace sextant {
namespace {

namespace fs = std::filesystem;

// The processors of the mask; more than a mask of fixed size holds: those of the machine.
[[maybe_unused]] int affine_processors() noexcept {
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Microseconds of processor time in a period; "max" and -1 are no limit.
struct Quota {
  double time = -1, period = 0;
};

Quota read_quota(const fs::path& group) {
  Quota quota;
  if (std::ifstream file(group / "cpu.max"); file) {
    std::string time;
    file >> time >> quota.period;
    if (time != "max") quota.time = std::strtod(time.c_str(), nullptr);
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota.time;
    std::ifstream(group / "cpu.cfs_period_us") >> quota.period;
  }
  return quota;
}

}  // namespace

int quota_processors(const fs::path& groups, const fs::path& mount) {
  double least = 0;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    const fs::path top = unified ? mount : mount / "cpu";
    for (fs::path path = line.substr(second + 1);; path = path.parent_path()) {
      const Quota quota = read_quota(top / path.relative_path());
      if (quota.time > 0 && quota.period > 0) {
        const double processors = std::ceil(quota.time / quota.period);
        least = least == 0 ? processors : std::min(least, processors);
      }
      if (path == path.parent_path()) break;
    }
  }
  return static_cast<int>(std::min(least, 1e6));
}

int usable_processors() noexcept {
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
  return 1;  // it has no threads
#else
  static const int processors = [] {
    int usable = std::max(1, affine_processors());
    try {
      if (const int quota = quota_processors("/proc/self/cgroup", "/sys/fs/cgroup"); quota > 0) {
        usable = std::min(usable, quota);
      }
    } catch (...) {  // an unreadable file is no limit
    }
    return usable;
  }();
  return processors;
#endif
}

}  // namespace sextant
