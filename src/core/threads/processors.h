// How many processors this process may use.
#pragma once

#include <filesystem>

namespace sextant {

// Gives the number of processors that the affinity mask allows, or the quota of processor time
// where that is less; at least 1. Read once.
int usable_processors() noexcept;

// Gives the number of processors to which control groups limit a process, rounded up: the least
// quota of its group and the groups above, `cpu.max` in version 2, `cpu.cfs_quota_us` in version 1.
// 0: no limit. `groups` is the path of /proc/self/cgroup, `mount` that of /sys/fs/cgroup.
int quota_processors(const std::filesystem::path& groups, const std::filesystem::path& mount);

}  // namespace sextant
