// Trains on ranks: each computes the gradients of some batches of a step or of a part of each
// sequence, or trains some models.
#pragma once

#include <atomic>
#include <memory>

#include "sextant/ranks/communicator.h"
#include "sextant/training/group.h"

namespace sextant::ranks {

// The ranks of a communicator, for TrainerOptions::group and ExtrapolationOptions::group. All of
// them make the same call with the same options; docs/parallel.md describes their work.
class TrainingRanks final : public TrainingGroup {
 public:
  // `context_parallel_size` neighbours hold a part of each sequence, divided as zigzag, for
  // language models in float32 and texts whose activations do not fit one rank. They communicate in
  // ranks::attention(), algorithm ring (for content terms the choice of plan()). Throws Error, on
  // all ranks, unless the number is the same on all and divides their number.
  explicit TrainingRanks(const Communicator& comm, int context_parallel_size = 1);
  ~TrainingRanks() override;

  int rank() const noexcept override { return comm_.rank(); }
  int size() const noexcept override { return comm_.size(); }
  int context_parallel_size() const noexcept override { return context_parallel_size_; }
  ContextParallel* context_parallel() noexcept override { return context_parallel_.get(); }
  std::unique_ptr<Messages> start(std::span<const Outgoing> sends,
                                  std::span<const Incoming> receives) override;
  void broadcast(std::span<std::byte> bytes) override { comm_.broadcast(0, bytes); }
  bool any(bool value) override;
  // Throws a SharedError.
  void run_or_fail_on_all(const std::function<void()>& work) override;
  // If sequences are divided, an exception other than a SharedError is printed and ends all ranks
  // by MPI_Abort.
  void run_collective(const std::function<void()>& work) override;
  void check_same(const std::vector<std::pair<std::string, std::string>>& values) override;
  bool distribute(std::int64_t count, const Work& work) override;
  bool cancelled() override;

 private:
  Communicator comm_, work_comm_;
  int context_parallel_size_;
  std::unique_ptr<ContextParallel> context_parallel_;
  std::atomic<bool> stopped_ = false;  // rank 0: no more work is distributed
};

}  // namespace sextant::ranks
