// Cuts a call into tasks for the backward kernel and sums their results.
#include "attention/backward/fused_backward.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "attention/backward/block_task.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/each_row.h"
#include "attention/plain/plain_backward.h"
#include "core/threads/interruption.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

using Task = BackwardTask;
using TurnGuard = BackwardOrder::TurnGuard;

// The largest number of slices that a thread takes at once, because their counters share cache
// lines.
constexpr std::int64_t kMaxChunk = 8;

// `dk_terms`: what terms add to the gradients of the keys, or null.
bool finish_slice(const BackwardContext& context, std::int64_t slice, const double* dk_terms) {
  const BackwardArguments& b = context.arguments;
  const Sequence at = b.sequence_of_slice(slice);
  const std::int64_t key_head = b.key_head_of_slice(slice);
  const KeySums::Sums& sums = context.key_sums_of(slice);
  const auto store = [&](const AnyOutput& to, const kernels::QuerySums& of, const double* terms,
                         double scale, const kernels::RotationRows& rotation) {
    return !to.is_given() || kernels::store_key_gradients(
                                 {of.chain, at.k_len, to.size(3), of.spans, terms},
                                 static_cast<float>(scale), rotation, key_output(to, at, key_head));
  };
  const bool k_finite = store(b.wanted.k, sums.k, dk_terms, b.scores.numbers.scale,
                              key_rotation(b.scores, at, key_head));
  const bool v_finite = store(b.wanted.v, sums.v, nullptr, 1, {});
  context.key_sums.release(slice, context.spare);
  return k_finite && v_finite;
}

// Runs a task and, after the last one of a slice, writes the slice's gradients.
bool run_task(const BackwardContext& context, const Task& task) {
  const TurnGuard ticket(context.order, task);
  const bool finite = BackwardBlockTask(context, task, &ticket, nullptr).run();
  return (!context.order.is_last(task) || finish_slice(context, task.slice, nullptr)) && finite;
}

// Runs all tasks of a slice, whose terms add to its gradients. `task` is the slice's only one in
// the order, which is that of the sums over slices.
bool run_slice(const BackwardContext& context, const Task& task, SliceTerms& terms) {
  const BackwardArguments& b = context.arguments;
  const TurnGuard ticket(context.order, task);
  if (b.slices_share_sums()) ticket.wait_for_all();
  terms.begin_slice(task.slice);
  const std::int64_t tasks = b.group() * blocks_of(b.sequence_of_slice(task.slice));
  bool finite = true;
  for (std::int64_t number = 0; number < tasks; ++number) {
    finite &= BackwardBlockTask(context, {task.slice, number}, nullptr, &terms).run();
  }
  finite &= finish_slice(context, task.slice, terms.dk());
  if (b.wants_logit_term()) {
    ticket.wait_for_all();
    context.sums.add_logit_term(terms.logit_parameters());
  }
  return finite;
}

// The plain path defines the gradients of slices with infinities or NaN.
void recompute_plainly(const BackwardArguments& b, BackwardSums& sums,
                       const std::vector<std::int64_t>& slices) {
  BackwardArguments of_slices = b;
  of_slices.wanted.mask = {};
  of_slices.wanted.terms.clear();
  if (b.wants_distances_by_ids()) of_slices.wanted.bias_values = of_slices.wanted.bias_slopes = {};
  for_each_row(static_cast<std::int64_t>(slices.size()), kRowThreadWork, b.scores.threads,
               plain_backward_scratch(b), [&](std::int64_t n, double* memory) {
                 plain_backward_slice(of_slices, slices[static_cast<std::size_t>(n)], sums, memory);
               });
  if (!b.wants_mask() && !b.wants_ordered() && !b.wants_logit_term()) return;
  // Sums over slices cannot be separated: these gradients are recomputed as a whole.
  BackwardArguments of_all = b;
  of_all.wanted.q = of_all.wanted.k = of_all.wanted.v = of_all.wanted.sinks = {};
  if (b.wants_distances()) of_all.wanted.bias_values = of_all.wanted.bias_slopes = {};
  BackwardSums again(of_all);
  for_each_row_of(b.wanted.mask, [](const auto& row) { row.fill(0); });
  plain_backward(of_all, again);
  sums.take_ordered(again);
}

}  // namespace

void fused_backward(const BackwardArguments& b, BackwardSums& sums) {
  const AttentionCall& a = b.scores;
  const std::int64_t slices = b.slices();
  KeySums key_sums(b);
  // The tasks of a slice run one after another where terms add to its gradients.
  const bool by_slices = b.terms_add_to_slices();
  BackwardOrder order(
      slices, b.slices_share_sums() || b.wants_logit_term(), [&](std::int64_t slice) {
        const std::int64_t tasks = b.group() * blocks_of(b.sequence_of_slice(slice));
        return by_slices ? std::min<std::int64_t>(tasks, 1) : tasks;
      });
  std::vector<std::int64_t> nonfinite;  // slices that are not finite
  std::mutex mutex;
  KeySums::BufferPool spare;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    if (b.sequence_of_slice(slice).q_len > 0) continue;
    finish_slice({b, sums, key_sums, order, spare}, slice, nullptr);
  }

  const double work = 2.5 * a.pairs() * static_cast<double>(a.heads_q * (a.head_dim + b.v.size(3)));
  const int workers = static_cast<int>(
      std::min<std::int64_t>(useful_threads(a.threads, work, kThreadWork), order.tasks()));
  if (workers == 0) return;  // every sequence is empty
  const std::int64_t chunk =
      std::clamp<std::int64_t>(slices / (kMinChunks * workers), 1, kMaxChunk);
  parallel_for(workers, workers, [&](std::int64_t) {
    KeySums::BufferPool spare_of_thread;
    BackwardOrder::TaskCursor walk(order, chunk);
    std::optional<SliceTerms> terms;
    if (by_slices) terms.emplace(b);
    const BackwardContext context{b, sums, key_sums, order, spare_of_thread};
    for (Task task{}; walk.next(task);) {
      const bool finite = by_slices ? run_slice(context, task, *terms) : run_task(context, task);
      check_interruption();  // not before: others wait for a task that is taken
      if (finite) continue;
      const std::lock_guard lock(mutex);
      nonfinite.push_back(task.slice);
    }
  });
  if (nonfinite.empty()) return;
  std::sort(nonfinite.begin(), nonfinite.end());
  nonfinite.erase(std::unique(nonfinite.begin(), nonfinite.end()), nonfinite.end());
  recompute_plainly(b, sums, nonfinite);
}

}  // namespace sextant::attention_detail
