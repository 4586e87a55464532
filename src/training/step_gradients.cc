// Each rank makes its own batches; their gradients are added in a tree.
#include "training/step_gradients.h"

#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "training/gradient_tree.h"
#include "training/mixed.h"

namespace sextant {
namespace {

// Of dropout: a function of all bits of both.
std::uint64_t step_seed(std::uint64_t seed, std::int64_t step) {
  return mixed(mixed(mixed(seed, 0) ^ static_cast<std::uint64_t>(step), 0), 0);
}

}  // namespace

LossSum sum_gradients(TrainingTask& task, std::int64_t step, const TrainerOptions& options,
                      const WholeGroup& group, Workspace& memory) {
  std::int64_t targets = 0, batches = 0;
  const std::string at = " at step " + std::to_string(step + 1);
  group.together([&] {
    targets = task.target_tokens(step);
    batches = task.batches(step);
    if (targets >= 1 && batches >= 1) return;
    throw Error("task", "must have targets and batches" + at + ", got " + std::to_string(targets) +
                            " and " + std::to_string(batches));
  });
  group.check_same_step(targets, batches);

  const bool alone = batches == 1 && group.get() == nullptr;  // nothing to add up
  GradientTree tree(batches, group.get());
  std::vector<LossSum> losses(static_cast<std::size_t>(batches));
  group.together([&] {
    const auto [first, last] = group.parts(batches);
    for (std::int64_t batch = first; batch < last; ++batch) {
      memory.reset();
      Pass pass{.memory = memory,
                .threads = options.threads,
                .dropout = options.dropout,
                .random = {.seed = step_seed(options.seed, step)},
                .word_dropout = options.word_dropout};
      losses[static_cast<std::size_t>(batch)] =
          task.accumulate(step, batch, 1 / static_cast<double>(targets), pass);
      if (!alone) tree.take(batch, task.gradients());
    }
  });
  if (!alone) tree.finish(task.gradients());
  group.share(losses);

  LossSum sum;
  for (const LossSum& each : losses) sum.add(each);
  if (sum.tokens == targets) return sum;
  throw Error("task.accumulate", "must sum over the " + std::to_string(targets) + " targets" + at +
                                     ", got " + std::to_string(sum.tokens));
}

}  // namespace sextant
