// The fast path: a task is up to 256 queries of one head of one sequence, and independent of all
// others.
#include "attention/forward/fused.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "attention/decode/decode.h"
#include "attention/forward/kernel_rows.h"
#include "attention/forward/query_block.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/plain.h"
#include "core/threads/interruption.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/block.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

using kernels::kQueryBlock, kernels::kTaskQueries, kernels::kKeyBlock;

// Those of sequences for the decode kernel are not counted.
std::int64_t blocks_of(const AttentionCall& a, const Sequence& at, std::int64_t block_queries) {
  return is_decode(a, at) ? 0 : (at.q_len + block_queries - 1) / block_queries;
}

// Whether keys are rotated before the tasks: where several tasks would rotate the same ones.
bool rotates_keys_first(const AttentionCall& a) {
  return a.rotation != nullptr && a.q_len * (a.heads_q / a.kv_heads) > kTaskQueries;
}

// Keys in float32, rotated, of the sequences that are not for the decode kernel; those that no
// query may see are uninitialised. The numbers have the bits of those that tasks would compute.
struct RotatedKeys {
  Tensor<float> rows{};               // [kv_heads, keys of all sequences, head_dim]
  std::vector<std::int64_t> begin{};  // [sequences]: the first key of each

  bool is_empty() const noexcept { return begin.empty(); }
  kernels::KeyRows of(const Sequence& at, std::int64_t key_head) const noexcept {
    kernels::KeyRows keys{};
    const std::int64_t first = begin[static_cast<std::size_t>(at.number)];
    keys.data = rows.data() + (key_head * rows.size(1) + first) * rows.size(2);
    keys.row_stride = rows.size(2);
    keys.channel_stride = 1;
    return keys;
  }
};

// The number of rows of RotatedKeys.
std::int64_t rotated_rows(const AttentionCall& a, std::vector<std::int64_t>* begin = nullptr) {
  std::int64_t rows = 0;
  for (std::int64_t n = 0; n < a.sequences(); ++n) {
    const Sequence at = a.sequence(n);
    if (begin != nullptr) begin->push_back(rows);
    if (!is_decode(a, at)) rows += at.k_len;
  }
  return rows;
}

RotatedKeys rotated_keys(const AttentionCall& a, int workers) {
  constexpr std::int64_t kRows = 512;  // per task
  RotatedKeys keys;
  const std::int64_t count = rotated_rows(a, &keys.begin);
  keys.rows = Tensor<float>::uninitialized(Shape{a.kv_heads, count, a.head_dim});
  const std::int64_t blocks = (a.k_len + kRows - 1) / kRows;
  parallel_for(a.sequences() * a.kv_heads * blocks, workers, [&](std::int64_t task) {
    const Sequence at = a.sequence(task / blocks / a.kv_heads);
    if (is_decode(a, at)) return;
    const std::int64_t head = task / blocks % a.kv_heads, first = task % blocks * kRows;
    const std::int64_t visible = at.q_len == 0 ? 0 : a.visible(at, at.q_len - 1).end;
    const std::int64_t rows = std::min(kRows, visible - first);
    if (rows <= 0) return;
    float* to = &keys.rows(head, keys.begin[static_cast<std::size_t>(at.number)] + first, 0);
    for (std::int64_t j = 0; j < rows; ++j) {
      a.k.row(at, head, first + j).load(to + j * a.head_dim);
    }
    kernels::rotate_rows(to, a.head_dim, rows, key_rotation(a, at, head).from(first));
  });
  return keys;
}

// One head of one sequence, on one thread. `rotated` may be empty.
class HeadTask : QueryBlock {
 public:
  HeadTask(const AttentionCall& a, const KeyArray& v, const AnyOutput& out,
           const RotatedKeys& rotated, const Sequence& sequence, std::int64_t head,
           std::int64_t first_query, std::int64_t queries)
      : QueryBlock(a, sequence, head, first_query, queries, {kTaskQueries, kKeyBlock}),
        v_(v),
        out_(out) {
    const std::int64_t key_head = a.key_head(head);
    describe(block_);
    block_.v = v.rows(sequence, key_head);
    block_.out = query_output(out, sequence, head, first_query);
    block_.v_dim = v.size(3);
    block_.value_vectors = value_vectors();
    block_.rounded = a.rounded;
    if (!rotated.is_empty()) {
      block_.k = rotated.of(sequence, key_head);
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
      return std::pair(kernel, divide_biases(arrays));
    });
    const auto& [kernel, biases] = scratch.arrays;
    prepare_biases(block_, biases);
    const kernels::NonfiniteRows nonfinite = kernels::attention_block(block_, kernel);
    for (std::int64_t i = 0; i < queries_; ++i) {
      if ((nonfinite.bits[i / 64] >> (i % 64) & 1) == 0) continue;
      recompute_nonfinite_channels(a_, biases_.sequence, biases_.head, first_query_ + i, v_, out_);
    }
  }

 private:
  const KeyArray& v_;
  const AnyOutput& out_;
  kernels::AttentionBlock block_;
};

}  // namespace

TaskGrid task_grid(const AttentionCall& a, const KeyArray& v) {
  if (is_decode(a)) return decode_grid(a, v);
  TaskGrid grid;
  const double work = a.pairs() * static_cast<double>(a.heads_q * (a.head_dim + v.size(3)));
  const bool measures = a.bias != nullptr, by_distance = measures && !a.by_ids;
  const bool by_pair = a.has_mask() || a.has_terms() || (measures && a.by_ids);
  const bool widens = a.k.dtype() != DType::float32, rotated = rotates_keys_first(a);
  if (rotated) grid.shared_floats = a.kv_heads * rotated_rows(a) * a.head_dim;
  const std::int64_t most_queries = a.uses_term_rows() ? kQueryBlock : kTaskQueries;
  grid.scratch_floats = kernels::attention_block_scratch(
      {.queries = std::min<std::int64_t>(a.q_len, most_queries),
       .head_dim = a.head_dim,
       .v_dim = v.size(3),
       .spans = a.k_len > kernels::kSpan,
       .tiles = by_pair,
       .value_vectors = a.value_term != nullptr ? a.value_term->value_vectors(0).count : 0,
       .copies_k = !rotated && (widens || a.k.stride(3) != 1 || a.rotation != nullptr),
       .copies_v = widens || v.stride(3) != 1,
       .rounded = a.rounded != nullptr});
  if (by_distance) grid.scratch_floats += kTaskQueries + kKeyBlock + a.k_len;
  if (by_pair) grid.scratch_floats += kQueryBlock * kKeyBlock;
  grid.scratch_floats += term_floats(a);
  if (a.uses_term_rows()) {
    ScratchDivider<float> rows;
    TermRows::divide(rows, a, std::min(a.q_len, most_queries), a.k_len);
    grid.scratch_floats += rows.size() + TermRows::key_floats(a, a.k_len);
  }

  const int threads = allowed_threads(a.threads);
  const auto count = [&] {
    std::int64_t blocks = 0;
    for (std::int64_t n = 0; n < a.segment_count(); ++n) {
      blocks += blocks_of(a, a.sequence(n), grid.block_queries);
    }
    return a.batch * a.heads_q * blocks;
  };
  // Smaller tasks only where there would be too few to balance the load.
  grid.block_queries = most_queries;
  grid.tasks = count();
  while (threads > 1 && grid.tasks < 4 * threads && grid.block_queries > kQueryBlock) {
    grid.block_queries /= 2;
    grid.tasks = count();
  }
  const TaskGrid decode = decode_grid(a, v);
  grid.decode_tasks = decode.tasks;
  if (decode.tasks > 0) grid.scratch_floats = std::max(grid.scratch_floats, decode.scratch_floats);
  grid.workers = static_cast<int>(std::min<std::int64_t>(
      useful_threads(a.threads, work, kThreadWork), grid.tasks + grid.decode_tasks));
  if (grid.workers > 0) {
    const double short_tasks = kThreadWork / 2 * static_cast<double>(grid.tasks) / (work + 1);
    grid.chunk = std::clamp<std::int64_t>(grid.tasks / (kMinChunks * grid.workers), 1,
                                          static_cast<std::int64_t>(short_tasks) + 1);
  }
  return grid;
}

void fused_attention(const AttentionCall& a, const KeyArray& v, const AnyOutput& out) {
  const TaskGrid grid = task_grid(a, v);
  if (grid.tasks == 0) return;
  if (is_decode(a)) return decode_attention(a, v, out, grid);
  const RotatedKeys rotated =
      grid.shared_floats > 0 ? rotated_keys(a, grid.workers) : RotatedKeys();
  // Tasks are numbered by sequence, then head, then block, the last block first: with a causal mask
  // it is the longest. Those of the decode kernel, which are short, come after them.
  std::atomic<std::int64_t> next{0}, next_decode{0};
  parallel_for(grid.workers, grid.workers, [&](std::int64_t) {
    TaskWalk walk(
        a, [&](const Sequence& at) { return blocks_of(a, at, grid.block_queries) * a.heads_q; });
    for (std::int64_t task = 0, end = 0;; ++task) {
      check_interruption();
      if (task == end) {
        task = next.fetch_add(grid.chunk);
        if (task >= grid.tasks) break;
        end = std::min(task + grid.chunk, grid.tasks);
      }
      const auto [at, number] = walk.find(task);
      const std::int64_t blocks = blocks_of(a, at, grid.block_queries), head = number / blocks;
      const std::int64_t first = (blocks - 1 - number % blocks) * grid.block_queries;
      const std::int64_t queries = std::min(grid.block_queries, at.q_len - first);
      HeadTask(a, v, out, rotated, at, head, first, queries).run();
    }
    run_decode_tasks(a, v, out, grid.decode_tasks, next_decode);
  });
}

}  // namespace sextant::attention_detail
