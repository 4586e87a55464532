// Each rank sends its range to every other one.
#include "training/gradients/slices.h"

namespace sextant {

std::unique_ptr<TrainingGroup::Messages> start_all_gather(TrainingGroup& group,
                                                          std::span<std::byte> all,
                                                          std::span<const std::int64_t> ends,
                                                          int tag) {
  std::vector<TrainingGroup::Outgoing> sends;
  std::vector<TrainingGroup::Incoming> receives;
  const auto range = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return all.subspan(static_cast<std::size_t>(ends[r]),
                       static_cast<std::size_t>(ends[r + 1] - ends[r]));
  };
  const auto mine = range(group.rank());
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == group.rank()) continue;
    if (!mine.empty()) sends.push_back({rank, mine, tag});
    if (!range(rank).empty()) receives.push_back({rank, range(rank), tag});
  }
  return group.start(sends, receives);
}

}  // namespace sextant
