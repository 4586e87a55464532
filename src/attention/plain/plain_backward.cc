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

// One sequence and key head. Queries and keys count in the sequence.
template <class T>
class SliceBackward {
 public:
  SliceBackward(const BackwardArguments<T>& b, std::int64_t slice, BackwardSums<T>& sums,
                double* memory)
      : b_(b),
        a_(b.scores),
        sums_(sums),
        at_(b.sequence_of_slice(slice)),
        key_head_(b.key_head_of_slice(slice)),
        k_(head_rows(a_.k, key_head_)),
        v_(head_rows(b.v, key_head_)),
        channels_(a_.head_dim),
        v_dim_(b.v.size(3)),
        key_rotation_(key_rotation(a_, at_, key_head_)),
        bias_gradients_(b) {
    const auto take = [&](std::int64_t count) {
      double* array = memory;
      memory += count;
      return array;
    };
    dk_ = take(at_.k_len * channels_);
    dv_ = take(at_.k_len * v_dim_);
    dq_ = take(channels_);
    key_ = take(channels_);
    dout_row_ = take(v_dim_);
    finished_ = take(at_.k_len);
    ds_ = take(at_.k_len);
    if (a_.has_terms()) {
      uncapped_ = take(at_.k_len);
      term_ds_ = take(at_.k_len);
      term_dq_ = take(channels_);
      term_dk_ = take(at_.k_len * channels_);
      logit_parameters_ = take(a_.logit_term.needs.parameters);
      std::fill(term_dk_, memory, 0.0);
    }
    row_ = row_scratch(memory, a_);
    std::fill(dk_, dq_, 0.0);
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
    write_keys(b_.wanted.k, dk_, channels_, a_.numbers.scale, key_rotation_, term_dk_);
    write_keys(b_.wanted.v, dv_, v_dim_, 1, {}, nullptr);
    if (ticket == nullptr) return;
    ticket->wait_for_all();
    sums_.add_logit_term(logit_parameters_);
  }

 private:
  // The sequence's rows of one head, [rows, channels].
  View<const T> head_rows(View<const T> x, std::int64_t head) const {
    return x.select(0, at_.batch).select(0, head);
  }

  // `row` counts in the batch row.
  double dot_dout(const View<const T>& rows, std::int64_t row) const {
    double sum = 0;
    for (std::int64_t c = 0; c < v_dim_; ++c) {
      sum += dout_row_[c] * static_cast<double>(rows(row, c));
    }
    return sum;
  }

  // The gradients from one query; returns that of the sink.
  double row(const RowIndex& at) {
    if (has_logit_term()) {
      prepare_logit_term(at);
    } else if (a_.numbers.has_steps()) {
      RowScratch finished = row_;
      finished.scores = finished_;
      plain_scores(a_, at, at_.k_len, true, finished);
    }
    const KeyRange range = biased_scores(a_, at, row_);
    const double sink = a_.sink(at.head);
    const double log_sum = softmax(row_.scores + range.first, range.last - range.first, sink);
    std::fill_n(dq_, channels_, 0.0);
    if (a_.has_terms()) std::fill_n(term_dq_, channels_, 0.0);
    double sink_gradient = 0;
    if (log_sum != -std::numeric_limits<double>::infinity()) {
      const auto dout = head_rows(b_.dout, at.head);
      for (std::int64_t c = 0; c < v_dim_; ++c) {
        dout_row_[c] = static_cast<double>(dout(at_.q_begin + at.query, c));
      }
      const double delta = dot_dout(head_rows(b_.out, at.head), at_.q_begin + at.query);
      std::fill(ds_ + range.first, ds_ + range.last, 0.0);
      if (a_.has_terms()) {
        row_with_terms(at, range, delta);
      } else {
        for (std::int64_t j = range.first; j < range.last; ++j) {
          if (row_.scores[j] != 0)
            add_products(j, pair(at, j, dot_dout(v_, at_.k_begin + j) - delta));
        }
      }
      if (b_.wants_distances_by_ids()) {
        bias_gradients_.add_by_ids(at_, at.query, range.first, range.last - range.first,
                                   ds_ + range.first);
      }
      const double share = std::exp(sink - log_sum);
      if (share != 0) sink_gradient = -share * delta;
    }
    if (is_given(b_.wanted.q)) write_query(at);
    return sink_gradient;
  }

  bool has_logit_term() const { return a_.logit_term.term != nullptr; }

  // The row before the term of the logits, and after the term and the steps.
  void prepare_logit_term(const RowIndex& at) {
    RowScratch uncapped = row_;
    uncapped.scores = uncapped_;
    const KeyRange range = scores_before_term(a_, at, uncapped);
    if (!a_.numbers.has_steps() || range.first == range.last) return;
    std::copy(uncapped_ + range.first, uncapped_ + range.last, finished_ + range.first);
    add_term(a_, a_.logit_term, at, range, row_, finished_);
    for (std::int64_t j = range.first; j < range.last; ++j) {
      finished_[j] = a_.numbers.score(finished_[j]);
    }
  }

  // All pairs of a row with terms, which may want the gradients of the whole row at once.
  void row_with_terms(const RowIndex& at, KeyRange range, double delta) {
    if (range.first == range.last) return;
    const ScoreRect row =
        a_.rect(at.sequence, at.head, at.query, 1, range.first, range.last - range.first);
    std::fill(term_ds_ + range.first, term_ds_ + range.last, 0.0);
    const auto values_backward = [&](const TermUse& use, double* parameters) {
      if (use.needs.value_dim == 0) return;
      use.term->values_backward(row, row_.scores + range.first, dout_row_, term_ds_ + range.first,
                                parameters);
    };
    if (has_logit_term()) values_backward(a_.logit_term, logit_parameters_);
    for (std::size_t n = 0; n < a_.bias_terms.size(); ++n) {
      values_backward(a_.bias_terms[n], bias_gradients_.parameters(n));
    }
    for (std::int64_t j = range.first; j < range.last; ++j) {
      term_ds_[j] = row_.scores[j] == 0
                        ? 0
                        : pair(at, j, dot_dout(v_, at_.k_begin + j) + term_ds_[j] - delta);
    }
    for (std::size_t n = 0; n < a_.bias_terms.size(); ++n) {
      term_backward(a_.bias_terms[n], at, range, ds_, bias_gradients_.parameters(n));
    }
    if (has_logit_term()) term_backward(a_.logit_term, at, range, term_ds_, logit_parameters_);
    for (std::int64_t j = range.first; j < range.last; ++j) {
      if (term_ds_[j] != 0) add_products(j, term_ds_[j]);
    }
  }

  // The gradients of a term from those of the scores that it was added to.
  void term_backward(const TermUse& use, const RowIndex& at, KeyRange range, double* ds,
                     double* parameters) {
    if (parameters == nullptr && !use.needs.reads_rows()) return;
    for_each_term_tile(a_, use, at, range, row_, [&](const ScoreInputs<double>& inputs) {
      ScoreGradient tile{inputs};
      tile.scores = uncapped_ + tile.first_key;
      tile.dscores = ds + tile.first_key;
      tile.stride = tile.keys;
      tile.dq = term_dq_;
      tile.dk = term_dk_ + tile.first_key * channels_;
      tile.parameters = parameters;
      use.term->backward(tile);
    });
  }

  // Adds a pair to the gradients of v, biases and masks; `dp` is that of its weight, less delta.
  // Returns the gradient of its score before the softcap.
  double pair(const RowIndex& at, std::int64_t j, double dp) {
    const double p = row_.scores[j];
    for (std::int64_t c = 0; c < v_dim_; ++c) dv_[j * v_dim_ + c] += p * dout_row_[c];
    double ds = p * dp;
    ds_[j] = ds;
    if (distances_ != nullptr) distances_[j - at.query + at_.q_len - 1] += ds;
    if (b_.mask != nullptr) {
      const auto& strides = sums_.mask().strides;
      sums_.mask().add(at_.batch * strides[0] + at.head * strides[1] +
                           (at_.q_begin + at.query) * strides[2] + (at_.k_begin + j) * strides[3],
                       ds);
    }
    return a_.numbers.has_steps() ? a_.numbers.backward(ds, finished_[j]) : ds;
  }

  // Adds the gradient of a score to those of the query and the key.
  void add_products(std::int64_t j, double ds) {
    for (std::int64_t d = 0; d < channels_; ++d) {
      key_[d] = static_cast<double>(k_(at_.k_begin + j, d));
    }
    if (a_.rotation != nullptr) rotate_row(key_rotation_, j, key_);
    for (std::int64_t d = 0; d < channels_; ++d) {
      dq_[d] += ds * key_[d];
      dk_[j * channels_ + d] += ds * row_.query[d];
    }
  }

  void write_query(const RowIndex& at) {
    for (std::int64_t d = 0; d < channels_; ++d) dq_[d] *= a_.numbers.scale;
    if (a_.rotation != nullptr) {
      RotationRows back = query_rotation(a_, at_, at.head);
      back.inverse = true;
      rotate_row(back, at.query, dq_);
    }
    for (std::int64_t d = 0; d < channels_; ++d) {
      if (a_.has_terms()) dq_[d] += term_dq_[d];
      b_.wanted.q(at_.batch, at.head, at_.q_begin + at.query, d) = static_cast<T>(dq_[d]);
    }
  }

  void write_keys(const View<T>& wanted, double* rows, std::int64_t channels, double factor,
                  RotationRows rotation, const double* more) const {
    if (!is_given(wanted)) return;
    rotation.inverse = true;
    for (std::int64_t j = 0; j < at_.k_len; ++j, rows += channels) {
      for (std::int64_t d = 0; d < channels; ++d) rows[d] *= factor;
      if (rotation.cos != nullptr) rotate_row(rotation, j, rows);
      for (std::int64_t d = 0; d < channels; ++d) {
        if (more != nullptr) rows[d] += more[j * channels + d];
        wanted(at_.batch, key_head_, at_.k_begin + j, d) = static_cast<T>(rows[d]);
      }
    }
  }

  const BackwardArguments<T>& b_;
  const Arguments<T>& a_;
  BackwardSums<T>& sums_;
  Sequence at_;
  std::int64_t key_head_;
  View<const T> k_, v_;
  std::int64_t channels_, v_dim_;
  RotationRows key_rotation_;
  BiasGradients<T> bias_gradients_;
  double *dk_, *dv_;  // [keys, head_dim], [keys, v_dim]
  double *dq_, *key_, *dout_row_;
  double* finished_;  // [keys], with steps before biases
  double* ds_;        // [keys]: gradients of the scores of a row, biases added
  // With terms: the row's scores before that of the logits, the gradients of those after it, what
  // terms add to the gradients of q [head_dim] and k [keys, head_dim], and the gradient of the
  // parameters of the term of the logits.
  double *uncapped_ = nullptr, *term_ds_ = nullptr;
  double *term_dq_ = nullptr, *term_dk_ = nullptr, *logit_parameters_ = nullptr;
  RowScratch row_;
  double* distances_ = nullptr;
};

}  // namespace

template <class T>
std::int64_t plain_backward_scratch(const BackwardArguments<T>& b) {
  const Arguments<T>& a = b.scores;
  const std::int64_t v_dim = b.v.size(3);
  const std::int64_t terms =
      a.has_terms() ? 2 * a.k_len + a.head_dim * (a.k_len + 1) + a.logit_term.needs.parameters : 0;
  return a.k_len * (a.head_dim + v_dim + 2) + 2 * a.head_dim + v_dim + terms + row_scratch_size(a);
}

template <class T>
void plain_backward_slice(const BackwardArguments<T>& b, std::int64_t slice, BackwardSums<T>& sums,
                          double* memory) {
  SliceBackward<T>(b, slice, sums, memory).run(nullptr);
}

template <class T>
void plain_backward(const BackwardArguments<T>& b, BackwardSums<T>& sums) {
  const Arguments<T>& a = b.scores;
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
      SliceBackward<T>(b, task.slice, sums, memory).run(&ticket);
    }
  });
}

#define SEXTANT_INSTANTIATE(T)                                                                    \
  template std::int64_t plain_backward_scratch(const BackwardArguments<T>&);                      \
  template void plain_backward_slice(const BackwardArguments<T>&, std::int64_t, BackwardSums<T>&, \
                                     double*);                                                    \
  template void plain_backward(const BackwardArguments<T>&, BackwardSums<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
