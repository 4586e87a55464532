// The fast path: a task is up to 256 queries of one head of one sequence, and independent of all
// others.
#include "attention/forward/fused.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "attention/decode/decode.h"
#include "attention/forward/kernel_rows.h"
#include "attention/forward/query_block.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/plain.h"
#include "core/arrays/each_dtype.h"
#include "core/threads/interruption.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/block.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

using kernels::kQueryBlock, kernels::kTaskQueries, kernels::kKeyBlock;

std::int64_t blocks_of(const Sequence& at, std::int64_t block_queries) {
  return (at.q_len + block_queries - 1) / block_queries;
}

// Whether keys are rotated before the tasks: where several tasks would rotate the same ones.
bool rotates_keys_first(const AttentionCall& a) {
  return a.rotation != nullptr && a.q_len * (a.heads_q / a.kv_heads) > kTaskQueries;
}

// Keys in float32, rotated, [batch, kv_heads, k_len, head_dim]; those that no query may see are
// uninitialised. The numbers have the bits of those that tasks would compute.
template <class T>
Tensor<float> rotated_keys(const Arguments<T>& a, int workers) {
  constexpr std::int64_t kRows = 512;  // per task
  auto keys = Tensor<float>::uninitialized(Shape{a.batch, a.kv_heads, a.k_len, a.head_dim});
  const std::int64_t sequences = a.batch * a.segment_count(),
                     blocks = (a.k_len + kRows - 1) / kRows;
  parallel_for(sequences * a.kv_heads * blocks, workers, [&](std::int64_t task) {
    const Sequence at = a.sequence(task / blocks / a.kv_heads);
    const std::int64_t head = task / blocks % a.kv_heads, first = task % blocks * kRows;
    const std::int64_t visible = at.q_len == 0 ? 0 : a.visible(at, at.q_len - 1).end;
    const std::int64_t rows = std::min(kRows, visible - first);
    if (rows <= 0) return;
    float* to = &keys(at.batch, head, at.k_begin + first, 0);
    for (std::int64_t j = 0; j < rows; ++j) {
      const T* from = &a.k(at.batch, head, at.k_begin + first + j, 0);
      for (std::int64_t d = 0; d < a.head_dim; ++d) {
        to[j * a.head_dim + d] = static_cast<float>(from[d * a.k.stride(3)]);
      }
    }
    kernels::rotate_rows(to, a.head_dim, rows, key_rotation(a, at, head).from(first));
  });
  return keys;
}

// One head of one sequence, on one thread. `rotated` are rotated_keys(), or empty.
template <class T>
class HeadTask : QueryBlock<T> {
 public:
  HeadTask(const Arguments<T>& a, const View<const T>& v, const View<T>& out,
           const Tensor<float>& rotated, const Sequence& sequence, std::int64_t head,
           std::int64_t first_query, std::int64_t queries)
      : QueryBlock<T>(a, sequence, head, first_query, queries, {kTaskQueries, kKeyBlock}),
        v_(v),
        out_(out) {
    const std::int64_t key_head = a.key_head(head);
    this->describe(block_);
    block_.v = key_rows(v, sequence, key_head);
    block_.out = query_output(out, sequence, head, first_query);
    block_.v_dim = v.size(3);
    if (rotated.count() > 0) {
      block_.k = key_rows(rotated.view(), sequence, key_head);
      block_.k_rotation = {};
    }
    if (a.log_sum_exp.data() != nullptr) {
      block_.log_sum_exp = &a.log_sum_exp(sequence.batch, head, sequence.q_begin + first_query);
      block_.log_sum_exp_stride = a.log_sum_exp.stride(2);
    }
  }

  void run() {
    const DividedLease scratch([&](ScratchDivider<float>& arrays) {
      const auto needs = kernels::scratch_shape_of(block_);
      float* const kernel = arrays.take(kernels::attention_block_scratch(needs));
      return std::pair(kernel, this->divide_biases(arrays));
    });
    const auto& [kernel, biases] = scratch.arrays;
    this->prepare_biases(block_, biases);
    const kernels::NonfiniteRows nonfinite = kernels::attention_block(block_, kernel);
    for (std::int64_t i = 0; i < this->queries_; ++i) {
      if ((nonfinite.bits[i / 64] >> (i % 64) & 1) == 0) continue;
      recompute_nonfinite_channels(this->a_, this->biases_.sequence, this->biases_.head,
                                   this->first_query_ + i, v_, out_);
    }
  }

 private:
  const View<const T>& v_;
  const View<T>& out_;
  kernels::AttentionBlock block_;
};

}  // namespace

template <class T>
TaskGrid task_grid(const Arguments<T>& a, View<const T> v) {
  if (is_decode(a)) return decode_grid(a, v);
  TaskGrid grid;
  const double work = a.pairs() * static_cast<double>(a.heads_q * (a.head_dim + v.size(3)));
  const bool measures = a.bias != nullptr, by_distance = measures && !a.by_ids;
  const bool by_pair = a.bool_mask.data != nullptr || a.float_mask.data != nullptr ||
                       a.has_terms() || (measures && a.by_ids);
  const bool widens = !std::same_as<T, float>, rotated = rotates_keys_first(a);
  if (rotated) grid.shared_floats = a.batch * a.kv_heads * a.k_len * a.head_dim;
  grid.scratch_floats = kernels::attention_block_scratch(
      {.queries = std::min<std::int64_t>(a.q_len, kTaskQueries),
       .head_dim = a.head_dim,
       .v_dim = v.size(3),
       .spans = a.k_len > kernels::kSpan,
       .tiles = by_pair,
       .copies_k = !rotated && (widens || a.k.stride(3) != 1 || a.rotation != nullptr),
       .copies_v = widens || v.stride(3) != 1});
  if (by_distance) grid.scratch_floats += kTaskQueries + kKeyBlock + a.k_len;
  if (by_pair) grid.scratch_floats += kQueryBlock * kKeyBlock;
  grid.scratch_floats += term_floats(a);

  const int threads = allowed_threads(a.threads);
  const std::int64_t sequences = a.batch * a.segment_count();
  const auto count = [&] {
    if (a.segments.empty()) {
      return sequences * a.heads_q * blocks_of({.q_len = a.q_len}, grid.block_queries);
    }
    std::int64_t blocks = 0;
    for (std::int64_t n = 0; n < a.segment_count(); ++n) {
      blocks += blocks_of(a.sequence(n), grid.block_queries);
    }
    return a.batch * a.heads_q * blocks;
  };
  // Smaller tasks only where there would be too few to balance the load.
  grid.block_queries = kTaskQueries;
  grid.tasks = count();
  while (threads > 1 && grid.tasks < 4 * threads && grid.block_queries > kQueryBlock) {
    grid.block_queries /= 2;
    grid.tasks = count();
  }
  grid.workers = static_cast<int>(
      std::min<std::int64_t>(useful_threads(a.threads, work, kThreadWork), grid.tasks));
  if (grid.workers > 0) {
    const double short_tasks = kThreadWork / 2 * static_cast<double>(grid.tasks) / (work + 1);
    grid.chunk = std::clamp<std::int64_t>(grid.tasks / (kMinChunks * grid.workers), 1,
                                          static_cast<std::int64_t>(short_tasks) + 1);
  }
  return grid;
}

template <class T>
void fused_attention(const Arguments<T>& a, View<const T> v, View<T> out) {
  const TaskGrid grid = task_grid(a, v);
  if (grid.tasks == 0) return;
  if (is_decode(a)) return decode_attention(a, v, out, grid);
  const Tensor<float> rotated =
      grid.shared_floats > 0 ? rotated_keys(a, grid.workers) : Tensor<float>();
  // Tasks are numbered by sequence, then head, then block, the last block first: with a causal mask
  // it is the longest.
  std::atomic<std::int64_t> next{0};
  parallel_for(grid.workers, grid.workers, [&](std::int64_t) {
    TaskWalk walk(
        a, [&](const Sequence& at) { return blocks_of(at, grid.block_queries) * a.heads_q; });
    for (std::int64_t task = 0, end = 0;; ++task) {
      check_interruption();
      if (task == end) {
        task = next.fetch_add(grid.chunk);
        if (task >= grid.tasks) break;
        end = std::min(task + grid.chunk, grid.tasks);
      }
      const auto [at, number] = walk.find(task);
      const std::int64_t blocks = blocks_of(at, grid.block_queries), head = number / blocks;
      const std::int64_t first = (blocks - 1 - number % blocks) * grid.block_queries;
      const std::int64_t queries = std::min(grid.block_queries, at.q_len - first);
      HeadTask<T>(a, v, out, rotated, at, head, first, queries).run();
    }
  });
}

#define SEXTANT_INSTANTIATE(T)                                     \
  template TaskGrid task_grid(const Arguments<T>&, View<const T>); \
  template void fused_attention(const Arguments<T>&, View<const T>, View<T>);
SEXTANT_FOR_EACH_FUSED(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
