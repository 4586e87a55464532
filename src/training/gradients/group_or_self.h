// Wraps the calls of a training to its group, or to itself if there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/layers/token_loss.h"
#include "sextant/training/checkpoint.h"
#include "sextant/training/trainer.h"

namespace sextant {

class GroupOrSelf {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;  // names and their values

  explicit GroupOrSelf(TrainingGroup* group)
      : group_(group != nullptr && group->size() > 1 ? group : nullptr) {}

  TrainingGroup* get() const noexcept { return group_; }
  bool is_first() const noexcept { return group_ == nullptr || group_->rank() == 0; }
  // For work in `batches` batches: returns the number of parts, and the parts that this rank makes.
  // If sequences are divided, part p belongs to batch p % batches on the ranks with the (p /
  // batches)-th part of each sequence.
  std::int64_t parts(std::int64_t batches) const noexcept;
  std::pair<std::int64_t, std::int64_t> own_parts(std::int64_t batches) const;  // [first, last)
  ContextParallel* context_parallel() const noexcept {
    return group_ == nullptr ? nullptr : group_->context_parallel();
  }

  void run_or_fail_on_all(const std::function<void()>& work) const;
  void run_collective(const std::function<void()>& work) const;
  int size() const noexcept { return group_ == nullptr ? 1 : group_->size(); }
  bool any(bool value) const { return group_ == nullptr ? value : group_->any(value); }
  // The first one's clock, for all: each call is made by all.
  std::function<double()> clock(std::function<double()> own) const;
  bool distribute(std::int64_t count, const TrainingGroup::Work& work) const;

  // Throws on all ranks if values differ on which results or the loop depend: options, shapes, and
  // the instruction set, whose last bits would make the weights differ.
  void check_same(const TrainerOptions& options, const Parameters<float>& parameters) const;
  void check_same(const std::function<Values()>& values) const;
  void check_same_step(std::int64_t targets, std::int64_t batches) const;
  void check_same_validation(std::int64_t batches) const;
  // Copies the data of the first rank.
  void broadcast(const Parameters<float>& parameters, Optimiser& optimiser,
                 TrainingState& state) const;
  void broadcast_number(std::int64_t& number) const;
  void broadcast_text(std::string& text) const;
  // Returns the sum over the parts, of which each rank has its own: batch by batch.
  LossSum add_up(std::vector<LossSum> losses, std::int64_t batches) const;

 private:
  TrainingGroup* group_;
};

}  // namespace sextant
