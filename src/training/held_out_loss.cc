// Each rank computes the losses of its own batches.
#include "training/held_out_loss.h"

#include <utility>
#include <vector>

namespace sextant {

LossSum held_out_loss(TrainingTask& task, int threads, const GroupOrSelf& group,
                      Workspace& memory) {
  std::int64_t batches = 0;
  group.run_or_fail_on_all([&] { batches = task.validation_batches(); });
  group.check_same_validation(batches);
  std::vector<LossSum> losses(static_cast<std::size_t>(group.parts(batches)));
  group.run_collective([&] {
    const auto [first, last] = group.own_parts(batches);
    for (std::int64_t part = first; part < last; ++part) {
      memory.reset();
      Pass pass{.memory = memory, .threads = threads, .context_parallel = group.context_parallel()};
      losses[static_cast<std::size_t>(part)] = task.validate(part % batches, pass);
    }
  });
  return group.add_up(std::move(losses), batches);
}

}  // namespace sextant
