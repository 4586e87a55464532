// The fast path for few queries. A task is one key head of one sequence and up to 16 rows, a row
// being one query of one of its heads; tasks are independent. When there are too few of them, all
// threads work at each task, in stages.
#include "attention/decode/decode.h"

#include <algorithm>
#include <atomic>

#include "attention/forward/query_block.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/plain.h"
#include "core/arrays/each_dtype.h"
#include "core/threads/interruption.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/block.h"
#include "kernels/decode/decode_block.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

using kernels::DecodeBlock, kernels::DecodeScratchShape, kernels::decode_block_scratch,
    kernels::kDecodeRows, kernels::kQueryGroup, kernels::kKeyBlock, kernels::kLog2E;

// Rows [first_row, first_row + rows) of one key head of one sequence: query head and query count
// up, the query faster.
template <class T>
class DecodeTask {
 public:
  DecodeTask(const Arguments<T>& a, View<const T> v, View<T> out, const Sequence& sequence,
             std::int64_t key_head, std::int64_t first_row, std::int64_t rows)
      : a_(a), v_(v), out_(out), sequence_(sequence) {
    block_.count = static_cast<int>(rows);
    block_.k = key_rows(a.k, sequence, key_head);
    block_.v = key_rows(v, sequence, key_head);
    block_.q_stride = a.q.stride(3);
    block_.out_stride = out.stride(3);
    block_.head_dim = a.head_dim;
    block_.v_dim = v.size(3);
    block_.numbers = kernels::rounded(a.numbers, kLog2E);
    block_.k_rotation = key_rotation(a, sequence, key_head);
    const std::int64_t group = a.heads_q / a.kv_heads;
    bool biased = false;
    for (int row = 0; row < block_.count; ++row) {
      const std::int64_t head = key_head * group + (first_row + row) / sequence.q_len;
      const std::int64_t query = (first_row + row) % sequence.q_len;
      queries_[row] = {head, query};
      const auto at = [&](const auto& view) {
        return view.data() + sequence.batch * view.stride(0) + head * view.stride(1) +
               (sequence.q_begin + query) * view.stride(2);
      };
      const KeyRange range = a.visible(sequence, query);
      block_.rows[row] = {
          .q = at(a.q),
          .out = at(out),
          .key_begin = static_cast<std::int32_t>(range.begin),
          .key_end = static_cast<std::int32_t>(range.end),
          .sink = kernel_sink(a, head),
          .rotation = query_rotation(a, sequence, head).from(query),
          .log_sum_exp = a.log_sum_exp.data() != nullptr ? at(a.log_sum_exp) : nullptr};
      const HeadBiases<T> biases{a, sequence, head};
      biased = biased || biases.by_pair() || biases.by_distance();
    }
    if (biased) {
      block_.fill = fill;
      block_.context = this;
    }
  }

  DecodeTask(const DecodeTask&) = delete;
  DecodeTask& operator=(const DecodeTask&) = delete;

  const DecodeBlock& block() const { return block_; }

  void finish(std::uint32_t nonfinite) const {
    for (int row = 0; row < block_.count; ++row) {
      if ((nonfinite >> row & 1) == 0) continue;
      recompute_nonfinite_channels(a_, sequence_, queries_[row].head, queries_[row].query, v_,
                                   out_);
    }
  }

 private:
  // The biases that HeadTask gives to the forward kernel.
  static void fill(const void* context, int row, std::int64_t first_key, std::int64_t keys,
                   float* to) {
    const auto& task = *static_cast<const DecodeTask*>(context);
    const HeadQuery at = task.queries_[row];
    const HeadBiases<T> biases{task.a_, task.sequence_, at.head};
    const std::int64_t first_distance = first_key - task.a_.diagonal_key(task.sequence_, at.query);
    if (!biases.by_pair()) return biases.fill_distances(first_distance, keys, kLog2E, to);
    float distances[kKeyBlock];
    const bool by_distance = biases.by_distance();
    if (by_distance) biases.fill_distances(first_distance, keys, 1, distances);
    const ScratchLease memory(term_floats(task.a_));
    biases.fill_rows(at.query, 1, first_key, keys, by_distance ? distances : nullptr,
                     first_distance, to, keys, memory.data());
    kernels::biases_to_log2(to, keys);
  }

  struct HeadQuery {
    std::int64_t head, query;
  };

  const Arguments<T>& a_;
  View<const T> v_;
  View<T> out_;
  Sequence sequence_;
  DecodeBlock block_;
  HeadQuery queries_[kDecodeRows];
};

// Rows of a key head are divided evenly into as few passes as possible.
std::int64_t passes_of(std::int64_t rows) { return (rows + kDecodeRows - 1) / kDecodeRows; }

std::int64_t stage_floats(const DecodeScratchShape& needs, int workers) {
  return std::max(kernels::decode_thread_scratch(needs),
                  decode_block_scratch(needs) / workers + kQueryGroup) /
         kQueryGroup * kQueryGroup;
}

// All threads at one task, in stages.
template <class T>
void run_in_stages(const DecodeTask<T>& task, int workers) {
  const DecodeBlock& block = task.block();
  const DecodeScratchShape needs = kernels::scratch_shape_of(block);
  const std::int64_t first = block.first_block(), blocks = block.end_block() - first;
  const std::int64_t shared_floats = kernels::decode_shared_scratch(needs, blocks);
  const std::int64_t thread_floats = stage_floats(needs, workers);
  const ScratchLease memory(shared_floats + workers * thread_floats);
  float* shared = memory.data();
  float* thread_scratch = shared + shared_floats;
  // Runs stage(begin, end, thread_memory) for `parts` parts of [0, count), each worker with its own
  // scratch.
  const auto share_out = [&](std::int64_t count, std::int64_t parts, const auto& stage) {
    std::atomic<std::int64_t> next{0};
    parallel_for(workers, workers, [&](std::int64_t worker) {
      for (std::int64_t part = next++; part < parts; part = next++) {
        check_interruption();
        stage(count * part / parts, count * (part + 1) / parts,
              thread_scratch + worker * thread_floats);
      }
    });
  };
  kernels::decode_begin(block, shared);
  share_out(blocks, std::min<std::int64_t>(blocks, 8 * workers),
            [&](std::int64_t begin, std::int64_t end, float* thread_memory) {
              kernels::decode_scores(block, first + begin, first + end, shared, thread_memory);
            });
  kernels::decode_softmax(block, shared);
  // Four groups of channels make the best tile.
  const std::int64_t groups =
      std::max<std::int64_t>(1, (block.v_dim + kQueryGroup - 1) / kQueryGroup);
  const std::int64_t parts = std::min(groups, std::max<std::int64_t>((groups + 3) / 4, workers));
  share_out(groups, parts, [&](std::int64_t begin, std::int64_t end, float* thread_memory) {
    kernels::decode_values(block, begin * kQueryGroup, end * kQueryGroup, shared, thread_memory);
  });
  std::uint32_t nonfinite = kernels::decode_finish(block, shared);
  if (nonfinite != 0) nonfinite = kernels::decode_nan_safe(block, nonfinite, thread_scratch);
  task.finish(nonfinite);
}

}  // namespace

template <class T>
TaskGrid decode_grid(const Arguments<T>& a, View<const T> v) {
  TaskGrid grid;
  grid.block_queries = a.q_len;
  const std::int64_t group = a.heads_q / a.kv_heads;
  std::int64_t max_rows = 0;
  for (std::int64_t n = 0; n < a.segment_count() && a.batch > 0; ++n) {
    const std::int64_t rows = group * a.sequence(n).q_len;
    grid.tasks += a.batch * a.kv_heads * passes_of(rows);
    max_rows = std::max(max_rows, rows);
  }
  const std::int64_t v_dim = v.size(3);
  const double work = static_cast<double>(a.batch * a.heads_q) * static_cast<double>(a.q_len) *
                      static_cast<double>(a.k_len) * static_cast<double>(a.head_dim + v_dim);
  grid.workers = useful_threads(a.threads, work, kDecodeThreadWork);
  // All threads at each task where one task per thread would leave threads idle at the end.
  grid.in_stages = grid.tasks % grid.workers != 0 && grid.tasks < 4 * grid.workers;
  if (!grid.in_stages) {
    grid.workers = static_cast<int>(std::min<std::int64_t>(grid.workers, grid.tasks));
  }
  const DecodeScratchShape needs = kernels::decode_needs(
      static_cast<int>(std::min<std::int64_t>(max_rows, kDecodeRows)), a.k_len,
      {nullptr, 0, a.k.stride(3), kernels::storage_of<T>}, a.head_dim,
      {nullptr, 0, v.stride(3), kernels::storage_of<T>}, v_dim, a.rotation != nullptr);
  if (max_rows > 0 && grid.in_stages) {
    const std::int64_t blocks = (a.k_len + kKeyBlock - 1) / kKeyBlock;
    grid.scratch_floats = kernels::decode_shared_scratch(needs, blocks) / grid.workers +
                          stage_floats(needs, grid.workers);
  } else if (max_rows > 0) {
    grid.scratch_floats = decode_block_scratch(needs);
  }
  return grid;
}

template <class T>
void decode_attention(const Arguments<T>& a, View<const T> v, View<T> out, const TaskGrid& grid) {
  const std::int64_t group = a.heads_q / a.kv_heads;
  const auto run = [&](const Sequence& at, std::int64_t key_head, std::int64_t pass) {
    const std::int64_t rows = group * at.q_len, passes = passes_of(rows);
    const std::int64_t first = rows * pass / passes, end = rows * (pass + 1) / passes;
    const DecodeTask<T> task(a, v, out, at, key_head, first, end - first);
    if (grid.in_stages) return run_in_stages(task, grid.workers);
    const ScratchLease memory(decode_block_scratch(kernels::scratch_shape_of(task.block())));
    task.finish(kernels::decode_block(task.block(), memory.data()));
  };
  // Tasks are numbered by sequence, then key head, then pass.
  std::atomic<std::int64_t> next{0};
  const auto work = [&](std::int64_t) {
    TaskWalk walk(a, [&](const Sequence& at) { return passes_of(group * at.q_len) * a.kv_heads; });
    for (std::int64_t task = next++; task < grid.tasks; task = next++) {
      check_interruption();
      const auto [at, number] = walk.find(task);
      const std::int64_t passes = passes_of(group * at.q_len);
      run(at, number / passes, number % passes);
    }
  };
  if (grid.in_stages) return work(0);
  parallel_for(grid.workers, grid.workers, work);
}

#define SEXTANT_INSTANTIATE(T)                                       \
  template TaskGrid decode_grid(const Arguments<T>&, View<const T>); \
  template void decode_attention(const Arguments<T>&, View<const T>, View<T>, const TaskGrid&);
SEXTANT_FOR_EACH_FUSED(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
