// The gradients' formulas (2307.08691, section 3.1) row by row; a row's scores come from row.cc.
#include "attention/plain/plain_backward.h"

#include <algorithm>
#include <cmath>

#include "attention/backward/order.h"
#include "attention/forward/kernel_rows.h"
#include "attention/plain/each_row.h"
#include "attention/plain/row.h"
#include "core/interruption.h"

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
    capped_ = take(at_.k_len);
    ds_ = take(at_.k_len);
    if (a_.content != nullptr) {
      uncapped_ = take(at_.k_len);
      content_ds_ = take(at_.k_len);
      content_dq_ = take(channels_);
      content_dk_ = take(at_.k_len * channels_);
      content_ = take(a_.content->gradient_size());
      std::fill(content_dk_, memory, 0.0);
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
    write_keys(b_.wanted.k, dk_, channels_, a_.scale, key_rotation_, content_dk_);
    write_keys(b_.wanted.v, dv_, v_dim_, 1, {}, nullptr);
    if (ticket == nullptr) return;
    ticket->wait_for_all();
    sums_.add_content(content_);
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
    if (a_.content != nullptr) {
      prepare_content(at);
    } else if (a_.softcap > 0) {
      RowScratch capped = row_;
      capped.scores = capped_;
      plain_scores(a_, at, at_.k_len, true, capped);
    }
    const KeyRange range = biased_scores(a_, at, row_);
    const double sink = a_.sink(at.head);
    const double log_sum = softmax(row_.scores + range.first, range.last - range.first, sink);
    std::fill_n(dq_, channels_, 0.0);
    if (a_.content != nullptr) std::fill_n(content_dq_, channels_, 0.0);
    double sink_gradient = 0;
    if (log_sum != -std::numeric_limits<double>::infinity()) {
      const auto dout = head_rows(b_.dout, at.head);
      for (std::int64_t c = 0; c < v_dim_; ++c) {
        dout_row_[c] = static_cast<double>(dout(at_.q_begin + at.query, c));
      }
      const double delta = dot_dout(head_rows(b_.out, at.head), at_.q_begin + at.query);
      std::fill(ds_ + range.first, ds_ + range.last, 0.0);
      if (a_.content != nullptr) {
        content_row_pairs(at, range, delta);
      } else {
        for (std::int64_t j = range.first; j < range.last; ++j) {
          if (row_.scores[j] != 0)
            add_products(j, pair(at, j, dot_dout(v_, at_.k_begin + j) - delta));
        }
      }
      if (b_.wants_ordered()) add_to_bias_gradients(at, range);
      const double share = std::exp(sink - log_sum);
      if (share != 0) sink_gradient = -share * delta;
    }
    if (is_given(b_.wanted.q)) write_query(at);
    return sink_gradient;
  }

  // The row before the content term, and after term and softcap.
  void prepare_content(const RowIndex& at) {
    RowScratch uncapped = row_;
    uncapped.scores = uncapped_;
    const KeyRange range = scores_before_content(a_, at, uncapped);
    if (a_.softcap == 0 || range.first == range.last) return;
    std::copy(uncapped_ + range.first, uncapped_ + range.last, capped_ + range.first);
    a_.content->add(content_row(a_, at.sequence, at.head, at.query, row_.unrotated_query), capped_,
                    row_.content);
    for (std::int64_t j = range.first; j < range.last; ++j) {
      capped_[j] = a_.softcap * std::tanh(capped_[j] / a_.softcap);
    }
  }

  // All pairs of a row with a content term, which may want the gradients of the whole row at once.
  void content_row_pairs(const RowIndex& at, KeyRange range, double delta) {
    const auto row = content_row(a_, at.sequence, at.head, at.query, row_.unrotated_query);
    std::fill(content_ds_ + range.first, content_ds_ + range.last, 0.0);
    if (a_.content->value_dim() > 0) {
      a_.content->values_backward(row, row_.scores, dout_row_, content_ds_, content_);
    }
    for (std::int64_t j = range.first; j < range.last; ++j) {
      content_ds_[j] = row_.scores[j] == 0
                           ? 0
                           : pair(at, j, dot_dout(v_, at_.k_begin + j) + content_ds_[j] - delta);
    }
    a_.content->backward(row, uncapped_, content_ds_, content_dq_, content_dk_, content_,
                         row_.content);
    for (std::int64_t j = range.first; j < range.last; ++j) {
      if (content_ds_[j] != 0) add_products(j, content_ds_[j]);
    }
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
    if (a_.softcap > 0) {
      const double tanh = capped_[j] / a_.softcap;
      ds *= 1 - tanh * tanh;
    }
    return ds;
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

  // Generators take float32 and are linear: the rounding errors of float64 are passed in a second
  // call.
  void add_to_bias_gradients(const RowIndex& at, KeyRange range) {
    const std::int64_t keys = range.last - range.first;
    float* rounded = row_.biases;
    for (const bool rest : {false, true}) {
      for (std::int64_t j = 0; j < keys; ++j) {
        double& ds = ds_[range.first + j];
        rounded[j] = static_cast<float>(ds);
        ds = rest || !std::isfinite(rounded[j]) ? 0 : ds - static_cast<double>(rounded[j]);
      }
      bias_gradients_.add(at_, at.head, at.query, 1, range.first, keys, rounded, keys);
    }
  }

  void write_query(const RowIndex& at) {
    for (std::int64_t d = 0; d < channels_; ++d) dq_[d] *= a_.scale;
    if (a_.rotation != nullptr) {
      RotationRows back = query_rotation(a_, at_, at.head);
      back.inverse = true;
      rotate_row(back, at.query, dq_);
    }
    for (std::int64_t d = 0; d < channels_; ++d) {
      if (a_.content != nullptr) dq_[d] += content_dq_[d];
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
  double* capped_;  // [keys], with a softcap
  double* ds_;      // [keys]: gradients of the scores of a row, before the softcap
  // With a content term: the row's scores before it, the gradients of those after it, its terms of
  // the gradients of q [head_dim] and k [keys, head_dim], and the gradient of its parameters.
  double *uncapped_ = nullptr, *content_ds_ = nullptr;
  double *content_dq_ = nullptr, *content_dk_ = nullptr, *content_ = nullptr;
  RowScratch row_;
  double* distances_ = nullptr;
};

}  // namespace

template <class T>
std::int64_t plain_backward_scratch(const BackwardArguments<T>& b) {
  const Arguments<T>& a = b.scores;
  const std::int64_t v_dim = b.v.size(3);
  const std::int64_t content =
      a.content == nullptr ? 0
                           : 2 * a.k_len + a.head_dim * (a.k_len + 1) + a.content->gradient_size();
  return a.k_len * (a.head_dim + v_dim + 2) + 2 * a.head_dim + v_dim + content +
         row_scratch_size(a);
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
  if (!sums.wants_content()) {
    return for_each_row(
        slices, slice_work, threads, doubles,
        [&](std::int64_t slice, double* memory) { plain_backward_slice(b, slice, sums, memory); });
  }
  BackwardOrder order(slices, true, [](std::int64_t) { return 1; });
  const std::int64_t workers = row_grid(slices, slice_work, threads).workers;
  for_each_row(workers, kBlockWork, threads, doubles, [&](std::int64_t, double* memory) {
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
