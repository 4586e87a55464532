// Each rank makes its own parts of a step; their gradients are added in a tree meanwhile.
#include "training/gradients/step_gradients.h"

#include <exception>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "training/gradients/gradient_sum.h"
#include "training/splitmix64.h"

namespace sextant {
namespace {

// The seed of dropout: a function of all bits of both.
std::uint64_t step_seed(std::uint64_t seed, std::int64_t step) {
  return splitmix64(splitmix64(splitmix64(seed, 0) ^ static_cast<std::uint64_t>(step), 0), 0);
}

// Makes the own parts. `sum`: nullptr where there is nothing to add up.
void make_parts(TrainingTask& task, std::int64_t step, double scale, const TrainerOptions& options,
                const GroupOrSelf& group, Workspace& memory, GradientSum* sum,
                std::vector<LossSum>& losses) {
  const std::int64_t batches = task.batches(step);
  const auto [first, last] = group.own_parts(batches);
  for (std::int64_t part = first; part < last; ++part) {
    memory.reset();
    Pass pass{.memory = memory,
              .threads = options.threads,
              .dropout = options.dropout,
              .random = {.seed = step_seed(options.seed, step)},
              .word_dropout = options.word_dropout,
              .attention_dropout = options.attention_dropout,
              .context_parallel = group.context_parallel()};
    if (sum != nullptr)
      pass.on_gradients_ready = [&](const void* gradient) { sum->ready(part, gradient); };
    losses[static_cast<std::size_t>(part)] = task.accumulate(step, part % batches, scale, pass);
    if (sum != nullptr) sum->ready(part, nullptr);
  }
}

}  // namespace

LossSum sum_gradients(TrainingTask& task, std::int64_t step, const TrainerOptions& options,
                      const GroupOrSelf& group, Workspace& memory) {
  std::int64_t targets = 0, batches = 0;
  const std::string at = " at step " + std::to_string(step + 1);
  group.run_or_fail_on_all([&] {
    targets = task.target_tokens(step);
    batches = task.batches(step);
    if (targets >= 1 && batches >= 1) return;
    throw Error("task", "must have targets and batches" + at + ", got " + std::to_string(targets) +
                            " and " + std::to_string(batches));
  });
  group.check_same_step(targets, batches);

  std::vector<LossSum> losses(static_cast<std::size_t>(group.parts(batches)));
  const double scale = 1 / static_cast<double>(targets);
  if (batches == 1 && group.get() == nullptr) {  // nothing to add up
    make_parts(task, step, scale, options, group, memory, nullptr, losses);
  } else {
    GradientSum gradients(task.gradients(), group.parts(batches), group.get());
    std::exception_ptr problem;
    try {
      group.run_collective([&] {
        try {
          make_parts(task, step, scale, options, group, memory, &gradients, losses);
        } catch (...) {
          gradients.close();  // others wait for the missing parts
          throw;
        }
      });
    } catch (...) {
      problem = std::current_exception();
    }
    gradients.finish();
    if (problem) std::rethrow_exception(problem);
  }

  const LossSum sum = group.add_up(std::move(losses), batches);
  if (sum.tokens == targets) return sum;
  throw Error("task.accumulate", "must sum over the " + std::to_string(targets) + " targets" + at +
                                     ", got " + std::to_string(sum.tokens));
}

}  // namespace sextant
