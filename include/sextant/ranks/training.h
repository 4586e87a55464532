// Training on ranks: each computes the gradients of some parts of a step, or trains some models.
#pragma once

#include <atomic>

#include "sextant/ranks/communicator.h"
#include "sextant/training/group.h"

namespace sextant::ranks {

// The ranks of a communicator, for TrainerOptions::group and ExtrapolationOptions::group. All of
// them make the same call with the same options; docs/ranks.md says what each does.
class TrainingRanks final : public TrainingGroup {
 public:
  explicit TrainingRanks(const Communicator& comm)
      : comm_(comm.duplicate()), work_comm_(comm.duplicate()) {}

  int rank() const noexcept override { return comm_.rank(); }
  int size() const noexcept override { return comm_.size(); }
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) override;
  void broadcast(std::span<std::byte> bytes) override { comm_.broadcast(0, bytes); }
  bool any(bool value) override;
  // What is thrown is a SharedError.
  void together(const std::function<void()>& work) override;
  void check_same(const std::vector<std::pair<std::string, std::string>>& values) override;
  bool hand_out(std::int64_t count, const Work& work) override;
  bool others_stop() override;

 private:
  Communicator comm_, work_comm_;
  std::atomic<bool> stopped_ = false;  // rank 0: no more work is handed out
};

}  // namespace sextant::ranks
