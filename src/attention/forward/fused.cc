// The fast path: a task is up to 256 queries of one head of one sequence, and independent of all
// others.
#include "attention/forward/fused.h"

#include <algorithm>
#include <atomic>

#include "attention/call/biases.h"
#include "attention/decode/decode.h"
#include "attention/forward/kernel_numbers.h"
#include "attention/forward/kernel_rows.h"
#include "attention/forward/thread_work.h"
#include "attention/plain/plain.h"
#include "core/interruption.h"
#include "core/scratch_lease.h"
#include "kernels/attention/block.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

using kernels::kQueryBlock, kernels::kTaskQueries, kernels::kKeyBlock, kernels::kLog2E;

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
    const std::int64_t visible = at.q_len == 0 ? 0 : a.visible(at, at.q_len - 1).last;
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
class HeadTask {
 public:
  HeadTask(const Arguments<T>& a, const View<const T>& v, const View<T>& out,
           const Tensor<float>& rotated, const Sequence& sequence, std::int64_t head,
           std::int64_t first_query, std::int64_t queries)
      : a_(a), v_(v), out_(out), biases_{a, sequence, head}, first_query_(first_query) {
    const std::int64_t key_head = a.key_head(head);
    const KernelNumbers numbers = kernel_numbers(a, head);
    block_ = {.q = query_rows(a.q, sequence, head, first_query),
              .k = key_rows(a.k, sequence, key_head),
              .v = key_rows(v, sequence, key_head),
              .out = query_output(out, sequence, head, first_query),
              .queries = queries,
              .head_dim = a.head_dim,
              .v_dim = v.size(3),
              .scale = numbers.scale,
              .softcap = numbers.softcap,
              .sink = numbers.sink,
              .first = first_,
              .last = last_};
    for (std::int64_t i = 0; i < queries; ++i) {
      const KeyRange range = a.visible(sequence, first_query + i);
      first_[i] = static_cast<std::int32_t>(range.first);
      last_[i] = static_cast<std::int32_t>(range.last);
    }
    if (rotated.count() > 0) {
      block_.k = key_rows(rotated.view(), sequence, key_head);
    } else {
      block_.k_rotation = key_rotation(a, sequence, key_head);
    }
    block_.q_rotation = query_rotation(a, sequence, head).from(first_query);
    if (a.log_sum_exp.data() != nullptr) {
      const View<float>& to_log = a.log_sum_exp;
      block_.log_sum_exp = to_log.data() + sequence.batch * to_log.stride(0) +
                           head * to_log.stride(1) +
                           (sequence.q_begin + first_query) * to_log.stride(2);
      block_.log_sum_exp_stride = to_log.stride(2);
    }
    if (biases_.by_pair()) block_.tiles = {fill_tile, this};
  }

  HeadTask(const HeadTask&) = delete;
  HeadTask& operator=(const HeadTask&) = delete;

  void run() {
    const std::int64_t kernel_floats =
        kernels::attention_block_scratch(kernels::scratch_shape_of(block_));
    const std::int64_t lines = biases_.by_distance() ? diagonal_bias_floats() : 0;
    const std::int64_t rows = biases_.by_pair() ? kQueryBlock * kKeyBlock : 0;
    const ScratchLease memory(kernel_floats + lines + rows + term_floats(a_));
    rows_ = memory.data() + kernel_floats;
    term_memory_ = rows_ + rows + lines;
    if (biases_.by_distance()) prepare_distances(rows_ + rows);
    const kernels::NonfiniteRows nonfinite = kernels::attention_block(block_, memory.data());
    finish(nonfinite);
  }

 private:
  // Of all blocks of keys that the kernel reads.
  std::int64_t first_key() const { return first_[0] / kKeyBlock * kKeyBlock; }
  std::int64_t last_key() const { return std::max(last_[block_.queries - 1], first_[0]); }
  std::int64_t diagonal_bias_floats() const { return kTaskQueries + last_key() - first_key(); }

  // Distances for the tiles, or the line that the kernel reads: ascending with the query.
  void prepare_distances(float* memory) {
    const std::int64_t diagonal = a_.diagonal_key(biases_.sequence, first_query_);
    const std::int64_t count = diagonal_bias_floats();
    first_distance_ = first_key() - (diagonal + kTaskQueries - 1);
    distances_ = memory;
    biases_.fill_distances(first_distance_, count, biases_.by_pair() ? 1 : kLog2E, memory);
    if (biases_.by_pair()) return;
    std::reverse(memory, memory + count);
    // The line's first number is that of query 0 and key last_key, one past the last visible
    // distance.
    block_.line = memory + (last_key() - first_key());
    block_.diagonal_bias_key = first_key();
  }

  static void fill_tile(const void* context, std::int64_t first_query, std::int64_t queries,
                        std::int64_t first_key, std::int64_t keys, float* tile) {
    const auto& task = *static_cast<const HeadTask*>(context);
    if (queries < kQueryBlock) std::fill_n(tile, keys * kQueryBlock, 0.0F);
    // A mask without other biases can be read in place.
    const auto& mask = task.a_.float_mask;
    if (mask.data != nullptr && mask.strides[3] == 1 && task.a_.bool_mask.data == nullptr &&
        task.biases_.is_mask_alone()) {
      const Sequence& at = task.biases_.sequence;
      const float* from =
          mask.data + at.batch * mask.strides[0] + task.biases_.head * mask.strides[1] +
          (at.q_begin + task.first_query_ + first_query) * mask.strides[2] + at.k_begin + first_key;
      kernels::biases_to_lanes(from, mask.strides[2], queries, keys, tile);
      return;
    }
    task.biases_.fill_rows(task.first_query_ + first_query, queries, first_key, keys,
                           task.distances_, task.first_distance_, task.rows_, kKeyBlock,
                           task.term_memory_);
    kernels::biases_to_lanes(task.rows_, kKeyBlock, queries, keys, tile);
  }

  void finish(const kernels::NonfiniteRows& nonfinite) const {
    for (std::int64_t i = 0; i < block_.queries; ++i) {
      if ((nonfinite.bits[i / 64] >> (i % 64) & 1) == 0) continue;
      recompute_nonfinite_channels(a_, biases_.sequence, biases_.head, first_query_ + i, v_, out_);
    }
  }

  const Arguments<T>& a_;
  const View<const T>& v_;
  const View<T>& out_;
  HeadBiases<T> biases_;
  std::int64_t first_query_;
  kernels::AttentionBlock block_;
  std::int32_t first_[kTaskQueries], last_[kTaskQueries];
  float* rows_ = nullptr;             // [64][128]: biases of a tile before they become lanes
  float* term_memory_ = nullptr;      // scratch of terms
  const float* distances_ = nullptr;  // biases by distance, from first_distance_ on
  std::int64_t first_distance_ = 0;
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

  const int threads = a.threads == 0 ? default_threads() : a.threads;
  const std::int64_t useful = static_cast<std::int64_t>(std::min(work / kThreadWork, 4096.0)) + 1;
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
  grid.workers =
      static_cast<int>(std::min({static_cast<std::int64_t>(threads), useful, grid.tasks}));
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
  // it is the longest. Each worker walks along with the counter.
  std::atomic<std::int64_t> next{0};
  parallel_for(grid.workers, grid.workers, [&](std::int64_t) {
    std::int64_t number = 0, begin = 0;  // the sequence and its first task
    for (std::int64_t task = 0, end = 0;; ++task) {
      check_interruption();
      if (task == end) {
        task = next.fetch_add(grid.chunk);
        if (task >= grid.tasks) break;
        end = std::min(task + grid.chunk, grid.tasks);
      }
      Sequence at = a.sequence(number);
      std::int64_t blocks = blocks_of(at, grid.block_queries);
      while (task >= begin + blocks * a.heads_q) {
        begin += blocks * a.heads_q;
        at = a.sequence(++number);
        blocks = blocks_of(at, grid.block_queries);
      }
      const std::int64_t head = (task - begin) / blocks;
      const std::int64_t first = (blocks - 1 - (task - begin) % blocks) * grid.block_queries;
      const std::int64_t queries = std::min(grid.block_queries, at.q_len - first);
      HeadTask<T>(a, v, out, rotated, at, head, first, queries).run();
    }
  });
}

#define SEXTANT_INSTANTIATE(T)                                     \
  template TaskGrid task_grid(const Arguments<T>&, View<const T>); \
  template void fused_attention(const Arguments<T>&, View<const T>, View<T>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
