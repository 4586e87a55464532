// How many processors this process may use.
#pragma once

#include <filesystem>

namespace sextant {

// The processors that the process may run on, no more than its quota of processor time allows; at
// least 1. Looked up once.
int usable_processors() noexcept;

// Processors by which the control groups of a process are limited, of a part of one a whole: the
// least `cpu.max` (version 2) or `cpu.cfs_quota_us` (version 1) of its group and those above. 0: no
// limit. `groups` is the process's /proc/self/cgroup, `mount` where the file system of groups is.
int quota_processors(const std::filesystem::path& groups, const std::filesystem::path& mount);

}  // namespace sextant
