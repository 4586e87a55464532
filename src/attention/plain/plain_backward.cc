// The gradients' formulas (2307.08691, section 3.1) row by row; a row's scores come from row.cc.
#include "attention/plain/plain_backward.h"

#include <algorithm>
#include <cmath>

#include "attention/backward/order.h"
#include "attention/forward/kernel_rows.h"
#include "attention/plain/each_row.h"
#include "attention/plain/row.h"
#include "core/threads/interruption.h"

namespace sextant::attention_detail {
namespace {

using kernels::RotationRows;

// The arrays of a sequence and key head.
struct SliceScratch {
  double *dk, *dv;  // [keys, head_dim], [keys, v_dim]
  double *dq, *key, *dout_row;
  double* finished;  // [keys], with steps before biases
  double* ds;        // [keys]: gradients of the scores of a row, biases added
  double* weights;   // [keys]: the row's weights after dropout; null without
  RowScratch row;
  // With terms: the row's scores before that of the logits, the gradients of those after it, what
  // terms add to the gradients of q [head_dim] and k [keys, head_dim], and the gradient of the
  // parameters of the term of the logits.
  double *uncapped = nullptr, *term_ds = nullptr;
  double *term_dq = nullptr, *term_dk = nullptr, *logit_parameters = nullptr;
};

SliceScratch slice_scratch(ScratchDivider<double>& arrays, const AttentionCall& a,
                           std::int64_t keys, std::int64_t v_dim) {
  SliceScratch s{.dk = arrays.take(keys * a.head_dim),
                 .dv = arrays.take(keys * v_dim),
                 .dq = arrays.take(a.head_dim),
                 .key = arrays.take(a.head_dim),
                 .dout_row = arrays.take(v_dim),
                 .finished = arrays.take(keys),
                 .ds = arrays.take(keys),
                 .weights = arrays.take_if(a.dropout.is_on(), keys),
                 .row = row_scratch(arrays, a)};
  if (!a.has_terms()) return s;
  s.uncapped = arrays.take(keys);
  s.term_ds = arrays.take(keys);
  s.term_dq = arrays.take(a.head_dim);
  s.term_dk = arrays.take(keys * a.head_dim);
  s.logit_parameters = arrays.take(a.logit_term.needs.parameters);
  return s;
}

// One sequence and key head. Queries and keys count in the sequence.
class SliceBackward {
 public:
  SliceBackward(const BackwardArguments& b, std::int64_t slice, BackwardSums& sums,
                ScratchDivider<double> arrays)
      : b_(b),
        a_(b.scores),
        sums_(sums),
        at_(b.sequence_of_slice(slice)),
        key_head_(b.key_head_of_slice(slice)),
        channels_(a_.head_dim),
        v_dim_(b.v.size(3)),
        key_rotation_(key_rotation(a_, at_, key_head_)),
        bias_gradients_(b),
        s_(slice_scratch(arrays, a_, at_.k_len, v_dim_)) {
    std::fill_n(s_.dk, at_.k_len * channels_, 0.0);
    std::fill_n(s_.dv, at_.k_len * v_dim_, 0.0);
    if (!a_.has_terms()) return;
    std::fill_n(s_.term_dk, at_.k_len * channels_, 0.0);
    std::fill_n(s_.logit_parameters, a_.logit_term.needs.parameters, 0.0);
  }

  // `ticket` is null where sums over slices need no order.
  void run(const BackwardOrder::TurnGuard* ticket) {
    for (std::int64_t h = 0; h < b_.group(); ++h) {
      const std::int64_t head = key_head_ * b_.group() + h;
      distances_ = sums_.distances(at_, head);
      if (distances_ != nullptr && at_.q_len > 0 && at_.k_len > 0) {
        std::fill_n(distances_, at_.q_len + at_.k_len - 1, 0.0);
      }
      bias_gradients_.clear();
      double sink = 0;
      for (std::int64_t query = 0; query < at_.q_len; ++query) {
        check_interruption();
        sink += row({at_, head, query});
      }
      if (b_.wants_sinks()) sums_.sink(at_, head) = sink;
      if (b_.wants_ordered()) sums_.add(head, bias_gradients_);
    }
    write_keys(b_.wanted.k, s_.dk, channels_, a_.numbers.scale, key_rotation_, s_.term_dk);
    write_keys(b_.wanted.v, s_.dv, v_dim_, 1, {}, nullptr);
    if (ticket == nullptr) return;
    ticket->wait_for_all();
    sums_.add_logit_term(s_.logit_parameters);
  }

 private:
  // The product of the values of key j with the row of dout.
  double values_dout(std::int64_t j) const { return b_.v.row(at_, key_head_, j).dot(s_.dout_row); }

  // The gradients from one query; returns that of the sink.
  double row(const RowIndex& at) {
    if (has_logit_term()) {
      prepare_logit_term(at);
    } else if (a_.numbers.has_steps()) {
      RowScratch finished = s_.row;
      finished.scores = s_.finished;
      plain_scores(a_, at, at_.k_len, true, finished);
    }
    const KeyRange range = biased_scores(a_, at, s_.row);
    const double sink = a_.sink(at.head);
    const double log_sum = softmax(s_.row.scores + range.begin, range.end - range.begin, sink);
    std::fill_n(s_.dq, channels_, 0.0);
    if (a_.has_terms()) std::fill_n(s_.term_dq, channels_, 0.0);
    double sink_gradient = 0;
    if (log_sum != -std::numeric_limits<double>::infinity()) {
      const std::int64_t query = at_.q_begin + at.query;
      b_.dout.row(at_.batch, at.head, query).load(s_.dout_row);
      const double delta = b_.out.row(at_.batch, at.head, query).dot(s_.dout_row);
      std::fill(s_.ds + range.begin, s_.ds + range.end, 0.0);
      if (s_.weights != nullptr) {
        std::copy(s_.row.scores + range.begin, s_.row.scores + range.end, s_.weights + range.begin);
        drop_weights(a_, at, range, s_.weights);
      }
      if (a_.has_terms()) {
        row_with_terms(at, range, delta);
      } else {
        for (std::int64_t j = range.begin; j < range.end; ++j) {
          if (s_.row.scores[j] != 0) add_products(j, pair(at, j, values_dout(j), delta));
        }
      }
      if (b_.wants_distances_by_ids()) {
        bias_gradients_.add_by_ids(at_, at.query, range.begin, range.end - range.begin,
                                   s_.ds + range.begin);
      }
      const double share = std::exp(sink - log_sum);
      if (share != 0) sink_gradient = -share * delta;
    }
    if (b_.wanted.q.is_given()) write_query(at);
    return sink_gradient;
  }

  bool has_logit_term() const { return a_.logit_term.term != nullptr; }

  // The row before the term of the logits, and after the term and the steps.
  void prepare_logit_term(const RowIndex& at) {
    RowScratch uncapped = s_.row;
    uncapped.scores = s_.uncapped;
    const KeyRange range = scores_before_term(a_, at, uncapped);
    if (!a_.numbers.has_steps() || range.begin == range.end) return;
    std::copy(s_.uncapped + range.begin, s_.uncapped + range.end, s_.finished + range.begin);
    add_term(a_, a_.logit_term, at, range, s_.row, s_.finished);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      s_.finished[j] = a_.numbers.score(s_.finished[j]);
    }
  }

  // All pairs of a row with terms, which may want the gradients of the whole row at once.
  void row_with_terms(const RowIndex& at, KeyRange range, double delta) {
    if (range.begin == range.end) return;
    const ScoreRect row =
        a_.rect(at.sequence, at.head, at.query, 1, range.begin, range.end - range.begin);
    std::fill(s_.term_ds + range.begin, s_.term_ds + range.end, 0.0);
    const auto values_backward = [&](const TermUse& use, double* parameters) {
      if (use.needs.value_dim == 0) return;
      use.term->values_backward(row, weights() + range.begin, s_.dout_row, s_.term_ds + range.begin,
                                parameters);
    };
    if (has_logit_term()) values_backward(a_.logit_term, s_.logit_parameters);
    for (std::size_t n = 0; n < a_.bias_terms.size(); ++n) {
      values_backward(a_.bias_terms[n], bias_gradients_.parameters(n));
    }
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      s_.term_ds[j] =
          s_.row.scores[j] == 0 ? 0 : pair(at, j, values_dout(j) + s_.term_ds[j], delta);
    }
    for (std::size_t n = 0; n < a_.bias_terms.size(); ++n) {
      term_backward(a_.bias_terms[n], at, range, s_.ds, bias_gradients_.parameters(n));
    }
    if (has_logit_term()) term_backward(a_.logit_term, at, range, s_.term_ds, s_.logit_parameters);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      if (s_.term_ds[j] != 0) add_products(j, s_.term_ds[j]);
    }
  }

  // The gradients of a term from those of the scores that it was added to.
  void term_backward(const TermUse& use, const RowIndex& at, KeyRange range, double* ds,
                     double* parameters) {
    if (parameters == nullptr && !use.needs.reads_rows()) return;
    for_each_term_tile(a_, use, at, range, s_.row, [&](const ScoreInputs<double>& inputs) {
      ScoreGradient<double> tile{inputs};
      tile.scores = s_.uncapped + tile.first_key;
      tile.dscores = ds + tile.first_key;
      tile.stride = tile.keys;
      tile.dq = s_.term_dq;
      tile.dk = s_.term_dk + tile.first_key * channels_;
      tile.parameters = parameters;
      use.term->backward(tile);
    });
  }

  // The weights that values are multiplied by.
  const double* weights() const { return s_.weights != nullptr ? s_.weights : s_.row.scores; }

  // Adds a pair to the gradients of v, biases and masks; `dweight` is that of its weight. Returns
  // the gradient of its score before the softcap.
  double pair(const RowIndex& at, std::int64_t j, double dweight, double delta) {
    const double p = s_.row.scores[j], weight = weights()[j];
    if (weight != 0) {
      for (std::int64_t c = 0; c < v_dim_; ++c) s_.dv[j * v_dim_ + c] += weight * s_.dout_row[c];
    }
    double ds = p * (dweight - delta);
    if (s_.weights != nullptr) ds = (weight == 0 ? 0 : weight * dweight) - p * delta;
    s_.ds[j] = ds;
    if (distances_ != nullptr) distances_[j - at.query + at_.q_len - 1] += ds;
    if (b_.wants_mask()) {
      const auto& strides = sums_.mask().strides;
      sums_.mask().add(at_.batch * strides[0] + at.head * strides[1] +
                           (at_.q_begin + at.query) * strides[2] + (at_.k_begin + j) * strides[3],
                       ds);
    }
    return a_.numbers.has_steps() ? a_.numbers.backward(ds, s_.finished[j]) : ds;
  }

  // Adds the gradient of a score to those of the query and the key.
  void add_products(std::int64_t j, double ds) {
    a_.k.row(at_, key_head_, j).load(s_.key);
    if (a_.rotation != nullptr) rotate_row(key_rotation_, j, s_.key);
    for (std::int64_t d = 0; d < channels_; ++d) {
      s_.dq[d] += ds * s_.key[d];
      s_.dk[j * channels_ + d] += ds * s_.row.query[d];
    }
  }

  void write_query(const RowIndex& at) {
    for (std::int64_t d = 0; d < channels_; ++d) s_.dq[d] *= a_.numbers.scale;
    if (a_.rotation != nullptr) {
      RotationRows back = query_rotation(a_, at_, at.head);
      back.inverse = true;
      rotate_row(back, at.query, s_.dq);
    }
    for (std::int64_t d = 0; d < channels_ && a_.has_terms(); ++d) s_.dq[d] += s_.term_dq[d];
    b_.wanted.q.row(at_.batch, at.head, at_.q_begin + at.query).store(s_.dq);
  }

  void write_keys(const AnyOutput& wanted, double* rows, std::int64_t channels, double factor,
                  RotationRows rotation, const double* more) const {
    if (!wanted.is_given()) return;
    rotation.inverse = true;
    for (std::int64_t j = 0; j < at_.k_len; ++j, rows += channels) {
      for (std::int64_t d = 0; d < channels; ++d) rows[d] *= factor;
      if (rotation.cos != nullptr) rotate_row(rotation, j, rows);
      for (std::int64_t d = 0; d < channels && more != nullptr; ++d) {
        rows[d] += more[j * channels + d];
      }
      wanted.row(at_.batch, key_head_, at_.k_begin + j).store(rows);
    }
  }

  const BackwardArguments& b_;
  const AttentionCall& a_;
  BackwardSums& sums_;
  Sequence at_;
  std::int64_t key_head_;
  std::int64_t channels_, v_dim_;
  RotationRows key_rotation_;
  BiasGradients bias_gradients_;
  SliceScratch s_;
  double* distances_ = nullptr;
};

}  // namespace

std::int64_t plain_backward_scratch(const BackwardArguments& b) {
  ScratchDivider<double> arrays;
  slice_scratch(arrays, b.scores, b.scores.k_len, b.v.size(3));
  return arrays.size();
}

void plain_backward_slice(const BackwardArguments& b, std::int64_t slice, BackwardSums& sums,
                          double* memory) {
  SliceBackward(b, slice, sums, ScratchDivider(memory)).run(nullptr);
}

void plain_backward(const BackwardArguments& b, BackwardSums& sums) {
  const AttentionCall& a = b.scores;
  const std::int64_t slice_work = a.q_len * a.k_len * (a.head_dim + b.v.size(3)) * b.group();
  const std::int64_t slices = b.slices(), doubles = plain_backward_scratch(b);
  // Sums of slices are added in order.
  const int threads = b.slices_share_sums() ? 1 : a.threads;
  if (!sums.wants_logit_term()) {
    return for_each_row(
        slices, slice_work, threads, doubles,
        [&](std::int64_t slice, double* memory) { plain_backward_slice(b, slice, sums, memory); });
  }
  BackwardOrder order(slices, true, [](std::int64_t) { return 1; });
  const std::int64_t workers = row_grid(slices, slice_work, threads).workers;
  for_each_row(workers, kRowThreadWork, threads, doubles, [&](std::int64_t, double* memory) {
    BackwardOrder::TaskCursor walk(order, 1);
    for (BackwardOrder::TaskCursor::Task task{}; walk.next(task);) {
      const BackwardOrder::TurnGuard ticket(order, task);
      SliceBackward(b, task.slice, sums, ScratchDivider(memory)).run(&ticket);
    }
  });
}

}  // namespace sextant::attention_detail
