// The fast path for few queries. A task is one key head of one sequence and up to 16 rows, a row
// being one query of one of its heads; tasks are independent. When there are too few of them, all
// threads work at each task, in stages.
#include "attention/decode/decode.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <tuple>
#include <vector>

#include "attention/forward/query_block.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/plain.h"
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
class DecodeTask {
 public:
  DecodeTask(const AttentionCall& a, const KeyArray& v, const AnyOutput& out,
             const Sequence& sequence, std::int64_t key_head, std::int64_t first_row,
             std::int64_t rows)
      : a_(a), v_(v), out_(out), sequence_(sequence) {
    block_.count = static_cast<int>(rows);
    block_.k = a.k.rows(sequence, key_head);
    block_.v = v.rows(sequence, key_head);
    block_.q_stride = a.q.stride(3);
    block_.out_stride = out.stride(3);
    block_.q_storage = storage_of(a.q.dtype());
    block_.out_storage = storage_of(out.dtype());
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
        return view.row(sequence.batch, head, sequence.q_begin + query).data;
      };
      const KeyRange range = a.visible(sequence, query);
      block_.rows[row] = {
          .q = at(a.q),
          .out = at(out),
          .key_begin = static_cast<std::int32_t>(range.begin),
          .key_end = static_cast<std::int32_t>(range.end),
          .sink = kernel_sink(a, head),
          .rotation = query_rotation(a, sequence, head).from(query),
          .log_sum_exp = a.log_sum_exp.data() != nullptr
                             ? &a.log_sum_exp(sequence.batch, head, sequence.q_begin + query)
                             : nullptr};
      const HeadBiases biases{a, sequence, head};
      biased = biased || biases.by_pair() || biases.by_distance();
    }
    block_.context = this;
    if (biased) block_.fill = fill;
    if (!a.bias_terms.empty()) block_.hides = hides;
    if (a.uses_term_rows()) compute_term_rows();
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
  void compute_term_rows() {
    // Rows share all arrays but those of their numbers, and the keys of their head.
    const KeyRange keys{a_.visible(sequence_, 0).begin,
                        a_.visible(sequence_, sequence_.q_len - 1).end};
    const std::int64_t count = std::max<std::int64_t>(keys.end - keys.begin, 0);
    const std::int64_t stride = TermRows::stride_of(count);
    float* numbers = term_memory_.emplace(block_.count * stride).data();
    const DividedLease shared([&](ScratchDivider<float>& arrays) {
      return std::tuple(TermRows::divide(arrays, a_, 1, count),
                        arrays.take(TermRows::key_floats(a_, count)), arrays.take(count),
                        arrays.take(term_floats(a_)));
    });
    auto [arrays, key_memory, distances, term] = shared.arrays;
    const TermRows::Keys loaded = TermRows::load_keys(HeadBiases{a_, sequence_, queries_[0].head},
                                                      {keys.begin, keys.begin + count}, key_memory);
    term_rows_.resize(static_cast<std::size_t>(block_.count));
    for (int row = 0; row < block_.count; ++row) {
      const HeadQuery at = queries_[row];
      const HeadBiases biases{a_, sequence_, at.head};
      const std::int64_t first_distance = keys.begin - a_.diagonal_key(sequence_, at.query);
      const bool by_distance = biases.by_distance();
      if (by_distance) biases.fill_distances(first_distance, count, 1, distances);
      arrays.numbers = numbers + row * stride;
      term_rows_[static_cast<std::size_t>(row)].compute(biases, at.query, 1,
                                                        by_distance ? distances : nullptr,
                                                        first_distance, loaded, arrays, term);
    }
  }

  // The biases that HeadTask gives to the forward kernel.
  static void fill(const void* context, int row, std::int64_t first_key, std::int64_t keys,
                   float* to) {
    const auto& task = *static_cast<const DecodeTask*>(context);
    const HeadQuery at = task.queries_[row];
    HeadBiases biases{task.a_, task.sequence_, at.head};
    if (!task.term_rows_.empty())
      biases.term_rows = &task.term_rows_[static_cast<std::size_t>(row)];
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

  static bool hides(const void* context, std::int64_t first_key, std::int64_t keys) {
    const auto& task = *static_cast<const DecodeTask*>(context);
    return std::all_of(task.queries_, task.queries_ + task.block_.count, [&](const HeadQuery& at) {
      return HeadBiases{task.a_, task.sequence_, at.head}.effect(at.query, 1, first_key, keys) ==
             TermEffect::hides;
    });
  }

  struct HeadQuery {
    std::int64_t head, query;
  };

  const AttentionCall& a_;
  const KeyArray& v_;
  const AnyOutput& out_;
  Sequence sequence_;
  DecodeBlock block_;
  HeadQuery queries_[kDecodeRows];
  // Of calls that use them, for each row.
  std::optional<ScratchLease> term_memory_{};
  std::vector<TermRows> term_rows_{};
};

// Rows of a key head are divided evenly into as few passes as possible.
std::int64_t passes_of(std::int64_t rows) { return (rows + kDecodeRows - 1) / kDecodeRows; }

std::int64_t stage_floats(const DecodeScratchShape& needs, int workers) {
  return std::max(kernels::decode_thread_scratch(needs),
                  decode_block_scratch(needs) / workers + kQueryGroup) /
         kQueryGroup * kQueryGroup;
}

// All threads at one task, in stages.
void run_in_stages(const DecodeTask& task, int workers) {
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

// Rows [first, first + rows) of a key head of a sequence.
struct DecodePlace {
  Sequence sequence;
  std::int64_t key_head, first, rows;
};

// Calls run(place) for the tasks that `next` gives, numbered by sequence, then key head, then pass.
template <class Run>
void for_decode_tasks(const AttentionCall& a, std::int64_t tasks, std::atomic<std::int64_t>& next,
                      const Run& run) {
  const std::int64_t group = a.heads_q / a.kv_heads;
  const auto passes_at = [&](const Sequence& at) {
    return is_decode(a, at) ? passes_of(group * at.q_len) : 0;
  };
  TaskWalk walk(a, [&](const Sequence& at) { return passes_at(at) * a.kv_heads; });
  for (std::int64_t task = next++; task < tasks; task = next++) {
    check_interruption();
    const auto [at, number] = walk.find(task);
    const std::int64_t rows = group * at.q_len, passes = passes_at(at), pass = number % passes;
    const std::int64_t first = rows * pass / passes, end = rows * (pass + 1) / passes;
    run({at, number / passes, first, end - first});
  }
}

}  // namespace

bool is_decode(const AttentionCall& a) {
  for (std::int64_t n = 0; n < a.segment_count(); ++n) {
    if (!is_decode(a, a.sequence(n))) return false;
  }
  return true;
}

TaskGrid decode_grid(const AttentionCall& a, const KeyArray& v) {
  TaskGrid grid;
  grid.block_queries = a.q_len;
  const std::int64_t group = a.heads_q / a.kv_heads;
  std::int64_t max_rows = 0;
  double pairs = 0;
  for (std::int64_t n = 0; n < a.segment_count() && a.batch > 0; ++n) {
    const Sequence at = a.sequence(n);
    if (!is_decode(a, at)) continue;
    const std::int64_t rows = group * at.q_len;
    grid.tasks += a.batch * a.kv_heads * passes_of(rows);
    max_rows = std::max(max_rows, rows);
    pairs += static_cast<double>(a.batch * at.q_len) * static_cast<double>(at.k_len);
  }
  const std::int64_t v_dim = v.size(3);
  const double work = pairs * static_cast<double>(a.heads_q * (a.head_dim + v_dim));
  grid.workers = useful_threads(a.threads, work, kDecodeThreadWork);
  // All threads at each task where one task per thread would leave threads idle at the end.
  grid.in_stages = grid.tasks % grid.workers != 0 && grid.tasks < 4 * grid.workers;
  if (!grid.in_stages) {
    grid.workers = static_cast<int>(std::min<std::int64_t>(grid.workers, grid.tasks));
  }
  const DecodeScratchShape needs = kernels::decode_needs(
      static_cast<int>(std::min<std::int64_t>(max_rows, kDecodeRows)), a.k_len,
      {nullptr, 0, a.k.stride(3), storage_of(a.k.dtype())}, a.head_dim,
      {nullptr, 0, v.stride(3), storage_of(v.dtype())}, v_dim, a.rotation != nullptr);
  if (max_rows > 0 && grid.in_stages) {
    const std::int64_t blocks = (a.k_len + kKeyBlock - 1) / kKeyBlock;
    grid.scratch_floats = kernels::decode_shared_scratch(needs, blocks) / grid.workers +
                          stage_floats(needs, grid.workers);
  } else if (max_rows > 0) {
    grid.scratch_floats = decode_block_scratch(needs);
  }
  if (max_rows > 0 && a.uses_term_rows()) {
    ScratchDivider<float> rows;
    TermRows::divide(rows, a, 1, a.k_len);
    const std::int64_t numbers =
        std::min<std::int64_t>(max_rows, kDecodeRows) * TermRows::stride_of(a.k_len);
    const std::int64_t floats =
        numbers + rows.size() + TermRows::key_floats(a, a.k_len) + a.k_len + term_floats(a);
    grid.scratch_floats += grid.in_stages ? floats / grid.workers : floats;
  }
  return grid;
}

void run_decode_tasks(const AttentionCall& a, const KeyArray& v, const AnyOutput& out,
                      std::int64_t tasks, std::atomic<std::int64_t>& next) {
  for_decode_tasks(a, tasks, next, [&](const DecodePlace& at) {
    const DecodeTask task(a, v, out, at.sequence, at.key_head, at.first, at.rows);
    const ScratchLease memory(decode_block_scratch(kernels::scratch_shape_of(task.block())));
    task.finish(kernels::decode_block(task.block(), memory.data()));
  });
}

void decode_attention(const AttentionCall& a, const KeyArray& v, const AnyOutput& out,
                      const TaskGrid& grid) {
  std::atomic<std::int64_t> next{0};
  if (!grid.in_stages) {
    return parallel_for(grid.workers, grid.workers,
                        [&](std::int64_t) { run_decode_tasks(a, v, out, grid.tasks, next); });
  }
  for_decode_tasks(a, grid.tasks, next, [&](const DecodePlace& at) {
    run_in_stages(DecodeTask(a, v, out, at.sequence, at.key_head, at.first, at.rows), grid.workers);
  });
}

}  // namespace sextant::attention_detail
