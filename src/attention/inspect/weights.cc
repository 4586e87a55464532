// Attention weights on demand: chosen rows and heads at a stage. Tasks of up to 64 rows go through
// the kernel; float64 calls, and rows with infinities or NaN, through the plain path.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "attention/call/arguments.h"
#include "attention/forward/fused.h"
#include "attention/inspect/score_task.h"
#include "attention/plain/each_row.h"
#include "attention/plain/row.h"
#include "core/arrays/each_dtype.h"
#include "core/threads/interruption.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/score_tiles.h"
#include "sextant/attention/attention.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using kernels::kQueryBlock, kernels::kKeyBlock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The list itself, or 0 .. count - 1 when it is empty.
std::vector<std::int64_t> all_if_empty(const std::vector<std::int64_t>& chosen,
                                       std::int64_t count) {
  if (!chosen.empty()) return chosen;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// A call after checking, with the weights to fill.
struct Call {
  const attention_detail::AttentionCall& a;
  std::vector<std::int64_t> heads, rows;
  Stage stage;
  AnyOutput weights;  // [batch, heads, rows, k_len]

  // The value of a hidden pair; pairs of different segments have no scores.
  double hidden() const { return stage == Stage::probabilities ? 0 : -kInfinity; }
  // The keys of a sequence that the stage shows: padding too where it hides nothing.
  std::int64_t shown_keys(const attention_detail::Sequence& at) const {
    return a.segments.empty() && !attention_detail::hides(stage) ? a.k_len : at.k_len;
  }
};

void plain_weights(const Call& call, std::int64_t batch, std::int64_t head, std::int64_t query,
                   double* memory, const AnyRow<void>& target) {
  const auto& a = call.a;
  const auto scratch = attention_detail::row_scratch(memory, a);
  attention_detail::RowIndex at{a.sequence_of(batch, query), head, 0};
  at.query = query - at.sequence.q_begin;
  attention_detail::KeyRange range{0, call.shown_keys(at.sequence)};
  if (attention_detail::hides(call.stage)) {
    range = attention_detail::biased_scores(a, at, scratch);
  } else {
    attention_detail::plain_scores(a, at, range.end, call.stage == Stage::capped, scratch);
  }
  if (call.stage == Stage::probabilities) {
    attention_detail::softmax(scratch.scores + range.begin, range.end - range.begin, a.sink(head));
  }
  target.fill(call.hidden());
  target.narrow(at.sequence.k_begin + range.begin, range.end - range.begin)
      .store(scratch.scores + range.begin);
}

void plain_weights(const Call& call) {
  const auto& a = call.a;
  const auto head_count = static_cast<std::int64_t>(call.heads.size());
  const auto row_count = static_cast<std::int64_t>(call.rows.size());
  attention_detail::for_each_row(
      a.batch * head_count * row_count, a.k_len * a.head_dim, a.threads,
      attention_detail::row_scratch_size(a), [&](std::int64_t number, double* memory) {
        const std::int64_t batch = number / (head_count * row_count);
        const std::int64_t head = number / row_count % head_count, index = number % row_count;
        plain_weights(call, batch, call.heads[static_cast<std::size_t>(head)],
                      call.rows[static_cast<std::size_t>(index)], memory,
                      call.weights.row(batch, head, index));
      });
}

// Rows that go through the kernel together: of one sequence, ascending.
struct Group {
  std::int64_t count = 0;
  std::int64_t rows[kQueryBlock];     // as numbered by the caller
  std::int64_t indices[kQueryBlock];  // where they are in the choice
};

std::vector<Group> groups_of(const Call& call) {
  std::vector<std::int64_t> order = all_if_empty({}, static_cast<std::int64_t>(call.rows.size()));
  const auto row_at = [&](std::int64_t index) {
    return call.rows[static_cast<std::size_t>(index)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t x, std::int64_t y) { return row_at(x) < row_at(y); });
  std::vector<Group> groups;
  std::int64_t end = 0;  // of the sequence of the last group
  for (const std::int64_t index : order) {
    const std::int64_t row = row_at(index);
    if (groups.empty() || row >= end || groups.back().count == kQueryBlock) {
      const attention_detail::Sequence at = call.a.sequence_of(0, row);  // equal in all batch rows
      end = at.q_begin + at.q_len;
      groups.emplace_back();
    }
    Group& group = groups.back();
    group.rows[group.count] = row;
    group.indices[group.count++] = index;
  }
  return groups;
}

// One group of rows of one head, on one thread.
class RowWriter {
 public:
  RowWriter(const Call& call, std::int64_t batch, std::int64_t head, const Group& group)
      : call_(call), group_(group), at_(call.a.sequence_of(batch, group.rows[0])) {
    at_.k_len = call.shown_keys(at_);
    std::int64_t queries[kQueryBlock];
    for (std::int64_t i = 0; i < group.count; ++i) {
      targets_[i] = call.weights.row(batch, head, group.indices[i]);
      queries[i] = group.rows[i] - at_.q_begin;
    }
    const std::int64_t head_q = call.heads[static_cast<std::size_t>(head)];
    attention_detail::ScoreTask task(call.a, at_, head_q,
                                     {queries, static_cast<std::size_t>(group.count)}, call.stage);
    hide(0, at_.k_begin);
    next_ = at_.k_begin;
    nonfinite_ |= task.run({take, this}, nullptr, nullptr);
    hide(next_, call.a.k_len);
    std::vector<double> memory;
    for (std::int64_t i = 0; i < group.count; ++i) {
      if ((nonfinite_ >> i & 1) == 0) continue;
      memory.resize(static_cast<std::size_t>(attention_detail::row_scratch_size(call.a)));
      plain_weights(call, batch, head_q, group.rows[i], memory.data(), targets_[i]);
    }
  }

 private:
  void hide(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = 0; begin < end && i < group_.count; ++i) {
      targets_[i].narrow(begin, end - begin).fill(call_.hidden());
    }
  }

  static void take(void* context, std::int64_t first_key, std::int64_t keys, const float* tile) {
    static_cast<RowWriter*>(context)->write(first_key, keys, tile);
  }

  void write(std::int64_t first_key, std::int64_t keys, const float* tile) {
    const std::int64_t begin = at_.k_begin + first_key;
    hide(next_, begin);
    next_ = begin + keys;
    float* const rows = rows_.data();
    kernels::transpose_tile(tile, kQueryBlock, keys, group_.count, rows, kKeyBlock);
    // The kernel reports nonfinite weights; of scores only hidden ones may be infinite.
    const bool checks = call_.stage != Stage::probabilities;
    const float lowest = call_.stage == Stage::biased ? -std::numeric_limits<float>::infinity()
                                                      : std::numeric_limits<float>::lowest();
    for (std::int64_t i = 0; i < group_.count; ++i) {
      const float* from = rows + i * kKeyBlock;
      targets_[i].narrow(begin, keys).store(from);
      if (!checks) continue;
      bool fine = true;
      for (std::int64_t j = 0; j < keys; ++j) {
        fine &= (from[j] >= lowest) & (from[j] <= std::numeric_limits<float>::max());
      }
      if (!fine) nonfinite_ |= std::uint64_t{1} << i;
    }
  }

  const Call& call_;
  const Group& group_;
  attention_detail::Sequence at_;
  AnyRow<void> targets_[kQueryBlock];
  ScratchLease rows_{kQueryBlock * kKeyBlock};  // a tile rotated
  std::int64_t next_ = 0;                       // the first key that is not written yet
  std::uint64_t nonfinite_ = 0;
};

void fused_weights(const Call& call) {
  const auto& a = call.a;
  const std::vector<Group> groups = groups_of(call);
  const auto group_count = static_cast<std::int64_t>(groups.size());
  const auto head_count = static_cast<std::int64_t>(call.heads.size());
  const std::int64_t tasks = a.batch * head_count * group_count;
  const std::int64_t workers =
      attention_detail::row_grid(tasks, kQueryBlock * a.k_len * a.head_dim, a.threads).workers;
  std::atomic<std::int64_t> next{0};
  parallel_for(workers, static_cast<int>(workers), [&](std::int64_t) {
    for (std::int64_t task = next++; task < tasks; task = next++) {
      check_interruption();
      RowWriter(call, task / group_count / head_count, task / group_count % head_count,
                groups[static_cast<std::size_t>(task % group_count)]);
    }
  });
}

// The stages that hide nothing rotate padding too, so the rotation must have its positions.
template <class M>
void check_padding(const AnyView& q, const AnyView& k, const AttentionOptionsOf<M>& options) {
  if (options.key_lengths.empty() || options.rotation == nullptr) return;
  AttentionOptionsOf<M> whole = options;
  std::vector<std::int64_t> offsets;
  if (options.causal == Causal::at_lengths) {
    for (const std::int64_t length : options.key_lengths) offsets.push_back(length - q.size(2));
    whole.causal = Causal::at_offsets;
    whole.query_offsets = offsets;
  }
  whole.key_lengths = {};
  // Nothing is added to the scores of padding.
  whole.bias = nullptr;
  whole.terms.clear();
  attention_detail::check_scores("attention_weights", q, k, whole);
}

}  // namespace

template <AttentionElement T>
Tensor<T> attention_weights(View<const T> q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options,
                            const WeightsOptions& chosen) {
  const auto a = attention_detail::check_scores("attention_weights", q, k, options);
  attention_detail::check_no_dropout("attention_weights", a,
                                     "the weights are those before dropout");
  if (name_of(chosen.stage) == "unknown") {
    throw Error("attention_weights.stage", "must be one of the named values, got " +
                                               std::to_string(static_cast<int>(chosen.stage)));
  }
  if (!attention_detail::hides(chosen.stage)) check_padding(q, k, options);
  attention_detail::check_indices("attention_weights.heads", chosen.heads, a.heads_q);
  attention_detail::check_indices("attention_weights.rows", chosen.rows, a.q_len);
  auto heads = all_if_empty(chosen.heads, a.heads_q);
  auto rows = all_if_empty(chosen.rows, a.q_len);
  const Shape shape{a.batch, static_cast<std::int64_t>(heads.size()),
                    static_cast<std::int64_t>(rows.size()), a.k_len};
  auto weights = Tensor<T>::uninitialized(shape);
  if (weights.count() == 0) return weights;
  const Call call{a, std::move(heads), std::move(rows), chosen.stage, AnyOutput(weights.view())};
  // The kernel adds all terms as biases, which the stage `capped` does not show.
  const bool fused = attention_detail::takes_fused_path(a) &&
                     !(a.logit_term.term != nullptr && chosen.stage == Stage::capped);
  fused ? fused_weights(call) : plain_weights(call);
  return weights;
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template Tensor<T> attention_weights(View<const T>, View<const T>, const AttentionOptions<T>&, \
                                       const WeightsOptions&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
