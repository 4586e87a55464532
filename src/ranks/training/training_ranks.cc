// What training asks of a group, in messages of a communicator.
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/training.h"

namespace sextant::ranks {

void TrainingRanks::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (const auto& [to, bytes, tag] : sends) out.push_back({to, bytes, tag});
  for (const auto& [from, bytes, tag] : receives) in.push_back({from, bytes, tag});
  comm_.start(out, in).finish();
}

bool TrainingRanks::any(bool value) { return comm_.largest(std::int64_t{value}) != 0; }

void TrainingRanks::together(const std::function<void()>& work) { ranks::together(comm_, work); }

void TrainingRanks::check_same(const std::vector<std::pair<std::string, std::string>>& values) {
  Agreement agreement;
  for (const auto& [name, value] : values) agreement.add(name, value);
  agreement.check(comm_);
}

}  // namespace sextant::ranks
