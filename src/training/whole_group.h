// What the loop over steps asks of a group, or of itself where there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sextant/layers/token_loss.h"
#include "sextant/training/checkpoint.h"
#include "sextant/training/trainer.h"

namespace sextant {

class WholeGroup {
 public:
  explicit WholeGroup(TrainingGroup* group)
      : group_(group != nullptr && group->size() > 1 ? group : nullptr) {}

  TrainingGroup* get() const noexcept { return group_; }
  bool is_first() const noexcept { return group_ == nullptr || group_->rank() == 0; }
  std::pair<std::int64_t, std::int64_t> parts(std::int64_t count) const;  // own ones, [first, last)

  void together(const std::function<void()>& work) const;
  bool any(bool value) const { return group_ == nullptr ? value : group_->any(value); }
  // The first one's clock, for all: each call is made by all.
  std::function<double()> clock(std::function<double()> own) const;

  // Throws on all where what results or the loop depend on differs: options, shapes, and the
  // instruction set, whose last bits would let the weights drift apart.
  void check_same(const TrainerOptions& options, const Parameters<float>& parameters) const;
  void check_same_step(std::int64_t targets, std::int64_t batches) const;
  // What the first one has.
  void broadcast(const Parameters<float>& parameters, AdamW& optimiser, TrainingState& state) const;
  void broadcast(LossSum& sum) const;
  // Those of the parts, of which each has its own.
  void share(std::vector<LossSum>& losses) const;

 private:
  TrainingGroup* group_;
};

}  // namespace sextant
