// A task of a backward call: one block of queries of one head of one sequence.
#pragma once

#include <algorithm>
#include <vector>

#include "attention/backward/bias_gradients.h"
#include "attention/backward/key_sums.h"
#include "attention/backward/order.h"
#include "attention/backward/sums.h"
#include "attention/backward/term_row_gradients.h"
#include "attention/forward/query_block.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/backward_block.h"
#include "kernels/attention/score_tiles.h"

namespace sextant::attention_detail {

using BackwardTask = BackwardOrder::TaskCursor::Task;

inline std::int64_t blocks_of(const Sequence& at) {
  return (at.q_len + kernels::kBackwardQueries - 1) / kernels::kBackwardQueries;
}

// The state that all tasks of a call share, and that of a thread.
struct BackwardContext {
  const BackwardArguments& arguments;
  BackwardSums& sums;
  KeySums& key_sums;
  BackwardOrder& order;
  KeySums::BufferPool& spare;

  const KeySums::Sums& key_sums_of(std::int64_t slice) const {
    const Sequence at = arguments.sequence_of_slice(slice);
    return key_sums.of(slice, at.k_len, arguments.group() * blocks_of(at), spare);
  }
};

// What terms add to the gradients of one slice after another.
class SliceTerms {
 public:
  explicit SliceTerms(const BackwardArguments& b) : b_(b) {
    const AttentionCall& a = b.scores;
    if (a.terms_read_rows()) {
      dq_.resize(static_cast<std::size_t>(kernels::kBackwardQueries * a.head_dim));
      dk_.reserve(static_cast<std::size_t>(a.k_len * a.head_dim));
    }
    parameters_.resize(static_cast<std::size_t>(a.logit_term.needs.parameters));
  }

  void begin_slice(std::int64_t slice) {
    const std::int64_t keys = b_.sequence_of_slice(slice).k_len;
    if (!dq_.empty()) dk_.assign(static_cast<std::size_t>(keys * b_.scores.head_dim), 0.0);
    std::fill(parameters_.begin(), parameters_.end(), 0.0);
  }
  TermGradients begin_task(std::int64_t first_query) {
    std::fill(dq_.begin(), dq_.end(), 0.0);
    return {.dq = dq_.empty() ? nullptr : dq_.data(),
            .dk = dk_.empty() ? nullptr : dk_.data(),
            .logit_parameters = parameters_.data(),
            .first_query = first_query};
  }
  const double* dk() const { return dk_.empty() ? nullptr : dk_.data(); }
  const double* logit_parameters() const { return parameters_.data(); }

 private:
  const BackwardArguments& b_;
  std::vector<double> dq_, dk_, parameters_;
};

// The place of a task's block of queries.
struct TaskPlace {
  Sequence sequence;
  std::int64_t head, first_query, queries;
};
inline TaskPlace place_of(const BackwardArguments& b, const BackwardTask& task) {
  const Sequence at = b.sequence_of_slice(task.slice);
  const std::int64_t blocks = blocks_of(at);
  // The last block first: with a causal mask it is the longest.
  const std::int64_t first = (blocks - 1 - task.number % blocks) * kernels::kBackwardQueries;
  return {at, b.key_head_of_slice(task.slice) * b.group() + task.number / blocks, first,
          std::min<std::int64_t>(kernels::kBackwardQueries, at.q_len - first)};
}

// One block of queries of one head of one sequence.
class BackwardBlockTask : QueryBlock {
 public:
  // `ticket` and `terms`: one of them. Without a ticket the tasks of a slice run one after another.
  BackwardBlockTask(const BackwardContext& context, const BackwardTask& task,
                    const BackwardOrder::TurnGuard* ticket, SliceTerms* terms)
      : BackwardBlockTask(context, task, ticket, terms, place_of(context.arguments, task)) {}

  // Returns whether all was finite.
  bool run() {
    constexpr std::int64_t kMargin = kernels::kQueryGroup;
    const std::int64_t line = line_floats() + 2 * kMargin;
    const DividedLease lease([&](ScratchDivider<float>& arrays) {
      return Scratch{.kernel = arrays.take(kernels::backward_block_scratch(block_)),
                     .tile_rows = arrays.take_if(b_.wants_tiles(), tile_floats()),
                     .line = arrays.take_if(b_.wants_distances(), line),
                     .biases = divide_biases(arrays),
                     .term_rows = a_.uses_term_rows()
                                      ? TermRowGradients::divide(arrays, a_, queries_, key_count())
                                      : TermRowGradients::Arrays()};
    });
    const Scratch& scratch = lease.arrays;
    tile_rows_ = scratch.tile_rows;
    if (scratch.line != nullptr) {
      std::fill_n(scratch.line, line, 0.0F);
      gradients_ = scratch.line + kMargin;
      block_.diagonal_bias_gradient = gradients_ + (end_key() - first_key());
    }
    prepare_biases(block_, scratch.biases);
    term_gradients_.memory = term_memory_;
    std::fill_n(mask_rows_, kernels::kBackwardQueries, 0.0);
    const KeySums::Sums& sums = context_.key_sums_of(task_.slice);
    block_.dk = sums.k;
    block_.dv = sums.v;
    block_.begins_span = task_.number % kernels::kSpanTasks == 0 && task_.number > 0;
    const bool by_rows = a_.uses_term_rows();
    if (by_rows) begin_term_rows(scratch.term_rows);
    bool finite = kernels::backward_block(block_, scratch.kernel);
    if (by_rows) finite &= add_term_rows();
    if (ticket_ != nullptr) ticket_->wait_for_all();
    add_to_sums();
    return finite;
  }

 private:
  struct Scratch {
    float *kernel, *tile_rows, *line;
    BiasScratch biases;
    TermRowGradients::Arrays term_rows;
  };

  BackwardBlockTask(const BackwardContext& context, const BackwardTask& task,
                    const BackwardOrder::TurnGuard* ticket, SliceTerms* terms,
                    const TaskPlace& place)
      : QueryBlock(context.arguments.scores, place.sequence, place.head, place.first_query,
                   place.queries, {kernels::kBackwardQueries, kernels::kBackwardKeys}),
        context_(context),
        b_(context.arguments),
        task_(task),
        ticket_(ticket),
        sequence_(place.sequence),
        head_(place.head),
        bias_gradients_(b_) {
    const Sequence& at = sequence_;
    const std::int64_t first_query = place.first_query;
    describe(block_);
    block_.scale_base_e = kernels::rounded(a_.numbers, 1).scale;
    block_.v = b_.v.rows(at, a_.key_head(head_));
    block_.out = query_rows(b_.out, at, head_, first_query);
    block_.dout = query_rows(b_.dout, at, head_, first_query);
    block_.v_dim = b_.v.size(3);
    if (is_given(b_.log_sum_exp)) {
      block_.log_sum_exp = &b_.log_sum_exp(at.batch, head_, at.q_begin + first_query);
      block_.log_sum_exp_stride = b_.log_sum_exp.stride(2);
    }
    if (b_.wanted.q.is_given()) block_.dq = query_output(b_.wanted.q, at, head_, first_query);
    if (terms != nullptr) term_gradients_ = terms->begin_task(first_query);
    block_.dq_terms = term_gradients_.dq;
    block_.value_vectors = value_vectors();
    block_.value_vector_gradients =
        bias_gradients_.of_value_vectors(head_, term_gradients_.logit_parameters);
    if (b_.wants_mask() || b_.wants_tiles()) block_.gradient_tiles = {take_gradients, this};
    block_.wants_line_gradient = b_.wants_distances();
    if (b_.wants_sinks()) block_.sink_gradient = &sink_gradient_;
    if (ticket != nullptr) block_.key_order = {wait, done, this};
  }

  // The kernel leaves the gradients of q for add_term_rows() to finish.
  void begin_term_rows(const TermRowGradients::Arrays& arrays) {
    term_row_gradients_.begin(term_rows_, arrays);
    if (b_.wanted.q.is_given()) {
      block_.dq = {arrays.of_kernel, a_.head_dim, 1, kernels::Storage::float32};
    }
  }
  // Returns whether all was finite.
  bool add_term_rows() {
    const TermRowGradients::Wanted wanted{b_.wanted.q.is_given(), b_.wanted.k.is_given()};
    if (!wanted.q && !wanted.k && !b_.wants_logit_term()) return true;
    std::fill_n(term_gradients_.dq, queries_ * a_.head_dim, 0.0);  // they are in the kernel's rows
    term_row_gradients_.add(biases_, term_gradients_, wanted);
    return !wanted.q || term_row_gradients_.write_queries(biases_, term_gradients_, b_.wanted.q);
  }

  const MaskSums& mask() const { return context_.sums.mask(); }
  // The index of the mask gradient's element for a query of the task and key 0.
  std::int64_t mask_at(std::int64_t query) const {
    const Sequence& at = sequence_;
    const auto& strides = mask().strides;
    return at.batch * strides[0] + head_ * strides[1] +
           (at.q_begin + first_query_ + query) * strides[2] + at.k_begin * strides[3];
  }

  // Along an axis of keys, gradients are added while the task may add to these keys; where the mask
  // is the same for all keys, at the end of the task.
  static void take_gradients(void* context, std::int64_t first_query, std::int64_t queries,
                             std::int64_t first_key, std::int64_t keys, const float* tile,
                             std::int64_t row) {
    auto& task = *static_cast<BackwardBlockTask*>(context);
    if (task.a_.uses_term_rows()) {
      task.term_row_gradients_.take(first_query, queries, first_key, keys, tile, row);
    }
    if (task.b_.wants_tiles()) {
      kernels::transpose_tile(tile, row, keys, queries, task.tile_rows_, kernels::kBackwardKeys);
      task.bias_gradients_.add(
          task.biases_,
          task.a_.rect(task.sequence_, task.head_, task.first_query_ + first_query, queries,
                       first_key, keys),
          task.tile_rows_, kernels::kBackwardKeys, task.term_gradients_);
    }
    if (!task.b_.wants_mask()) return;
    const std::int64_t stride = task.mask().strides[3];
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t query = first_query + i;
      const std::int64_t to = task.mask_at(query) + first_key * stride;
      for (std::int64_t j = 0; j < keys; ++j) {
        const auto term = static_cast<double>(tile[j * row + i]);
        if (stride == 0) {
          task.mask_rows_[query] += term;
        } else {
          task.mask().add(to + j * stride, term);
        }
      }
    }
  }

  static void wait(void* context, std::int64_t first_key) {
    const auto& task = *static_cast<BackwardBlockTask*>(context);
    task.ticket_->wait_for(first_key);
  }
  static void done(void* context, std::int64_t next_key) {
    const auto& task = *static_cast<BackwardBlockTask*>(context);
    task.ticket_->report(next_key);
  }

  // After all tasks before this one.
  void add_to_sums() {
    const Sequence& at = sequence_;
    if (gradients_ != nullptr && at.k_len > 0) {
      // gradients_[n] is that of query - key = n - end_key(), the query counted in the task.
      double* sums = context_.sums.distances(at, head_);
      const std::int64_t distances = at.q_len + at.k_len - 1;
      const std::int64_t last = at.q_len - 1 - first_query_ + end_key();
      const std::int64_t begin = std::max<std::int64_t>(0, last - distances + 1);
      const std::int64_t end = std::min(line_floats(), last + 1);
      for (std::int64_t n = begin; n < end; ++n) {
        sums[last - n] += static_cast<double>(gradients_[n]);
      }
    }
    if (b_.wants_sinks()) context_.sums.sink(at, head_) += sink_gradient_;
    if (b_.wants_ordered()) context_.sums.add(head_, bias_gradients_);
    if (!b_.wants_mask() || mask().strides[3] != 0) return;
    for (std::int64_t i = 0; i < queries_; ++i) mask().add(mask_at(i), mask_rows_[i]);
  }

  const BackwardContext& context_;
  const BackwardArguments& b_;
  BackwardTask task_;
  const BackwardOrder::TurnGuard* ticket_;
  const Sequence sequence_;
  const std::int64_t head_;
  kernels::BackwardBlock block_;
  // Sums over keys, for a mask that is the same for all of them.
  double mask_rows_[kernels::kBackwardQueries];
  float* tile_rows_ = nullptr;  // [64][64]: gradients of the scores of a tile
  float* gradients_ = nullptr;  // of the line of biases by distance
  double sink_gradient_ = 0;
  BiasGradients bias_gradients_;
  TermGradients term_gradients_{};
  TermRowGradients term_row_gradients_{};
};

}  // namespace sextant::attention_detail
