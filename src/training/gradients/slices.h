// A range of an array for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sextant/training/group.h"

namespace sextant {

// Every rank has a range of bytes, [ends[r], ends[r + 1]) of `all`: afterwards each has all.
std::unique_ptr<TrainingGroup::Messages> start_all_gather(TrainingGroup& group,
                                                          std::span<std::byte> all,
                                                          std::span<const std::int64_t> ends,
                                                          int tag = 0);

}  // namespace sextant
