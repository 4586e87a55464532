// One row of the operator, in the plainest form that is stable (see row.h).
#include "row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::detail {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// <query, key>. Four partial sums, so that compilers can use lanes without reordering anything; the
// same order for every stride.
template <class T>
double dot(const double* query, const T* key, std::int64_t stride, std::int64_t count) noexcept {
  double sums[4] = {};
  std::int64_t d = 0;
  for (; d + 4 <= count; d += 4) {
    for (int c = 0; c < 4; ++c) {
      sums[c] += query[d + c] * static_cast<double>(key[(d + c) * stride]);
    }
  }
  for (int c = 0; d < count; ++d, ++c) {
    sums[c] += query[d] * static_cast<double>(key[d * stride]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Scores of one query with any key of its head.
template <class T>
class Scorer {
 public:
  Scorer(const Arguments<T>& a, RowIndex at, bool capped, double* query) noexcept
      : query_(query),
        keys_(a.k.data() + at.sequence * a.k.stride(0) + a.key_head(at.head) * a.k.stride(1)),
        key_stride_(a.k.stride(2)),
        channel_stride_(a.k.stride(3)),
        channels_(a.head_dim),
        scale_(a.scale),
        softcap_(capped ? a.softcap : 0) {
    const T* source = a.q.data() + at.sequence * a.q.stride(0) + at.head * a.q.stride(1) +
                      at.query * a.q.stride(2);
    for (std::int64_t d = 0; d < a.head_dim; ++d) {
      query[d] = static_cast<double>(source[d * a.q.stride(3)]);
    }
  }

  double operator()(std::int64_t j) const noexcept {
    const T* key = keys_ + j * key_stride_;
    const double score =
        scale_ * (channel_stride_ == 1 ? dot(query_, key, 1, channels_)
                                       : dot(query_, key, channel_stride_, channels_));
    return softcap_ > 0 ? softcap_ * std::tanh(score / softcap_) : score;
  }

 private:
  const double* query_;
  const T* keys_;
  std::int64_t key_stride_, channel_stride_, channels_;
  double scale_, softcap_;
};

// One row of a broadcast mask: element j belongs to key j.
template <class M>
struct MaskRow {
  MaskRow(const BroadcastMask<M>& mask, RowIndex at) noexcept : stride(mask.strides[3]) {
    if (mask.data == nullptr) return;
    data = mask.data + at.sequence * mask.strides[0] + at.head * mask.strides[1] +
           at.query * mask.strides[2];
  }
  M operator[](std::int64_t j) const noexcept { return data[j * stride]; }

  const M* data = nullptr;  // null: there is none
  std::int64_t stride;
};

}  // namespace

template <class T>
void plain_scores(const Arguments<T>& a, RowIndex at, bool capped, RowScratch scratch) {
  const Scorer<T> score(a, at, capped, scratch.query);
  for (std::int64_t j = 0; j < a.k_len; ++j) scratch.scores[j] = score(j);
}

template <class T>
KeyRange biased_scores(const Arguments<T>& a, RowIndex at, RowScratch scratch) {
  const KeyRange range = a.visible(at.sequence, at.query);
  if (range.first == range.last) return range;
  const Scorer<T> score(a, at, true, scratch.query);
  const MaskRow<bool> allowed(a.bool_mask, at);
  const MaskRow<T> added(a.float_mask, at);
  const BiasRow biases = a.bias_row(at.sequence, at.head, at.query);
  for (std::int64_t j = range.first; j < range.last; ++j) {
    // Anything that says "hidden" wins, also over a +infinity beside it.
    const double bias =
        biases.data != nullptr ? static_cast<double>(biases.data[j + biases.shift]) : 0;
    const double mask = added.data != nullptr ? static_cast<double>(added[j]) : 0;
    const bool hidden =
        bias == kHidden || mask == kHidden || (allowed.data != nullptr && !allowed[j]);
    scratch.scores[j] = hidden ? kHidden : score(j) + (bias + mask);
  }
  return range;
}

void softmax(double* scores, std::int64_t count) noexcept {
  double most = kHidden;
  bool any_nan = false;
  for (std::int64_t j = 0; j < count; ++j) {
    any_nan = any_nan || std::isnan(scores[j]);
    most = std::max(most, scores[j]);  // keeps `most` when the score is NaN
  }
  if (any_nan || most == kHidden) {
    const double rest = any_nan ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::int64_t j = 0; j < count; ++j) scores[j] = scores[j] == kHidden ? 0 : rest;
    return;
  }
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    // The maximum itself without a difference: infinity - infinity is NaN.
    scores[j] = scores[j] == most ? 1 : std::exp(scores[j] - most);
    sum += scores[j];
  }
  for (std::int64_t j = 0; j < count; ++j) scores[j] /= sum;
}

template <class T>
void weigh_values(const double* weights, KeyRange range, View<const T> v, double* sum) noexcept {
  const std::int64_t channels = v.size(1), stride = v.stride(1);
  std::fill_n(sum, channels, 0.0);
  for (std::int64_t j = range.first; j < range.last; ++j) {
    if (weights[j] == 0) continue;
    const T* value = v.data() + j * v.stride(0);
    for (std::int64_t c = 0; c < channels; ++c) {
      sum[c] += weights[j] * static_cast<double>(value[c * stride]);
    }
  }
}

template void plain_scores(const Arguments<float>&, RowIndex, bool, RowScratch);
template void plain_scores(const Arguments<double>&, RowIndex, bool, RowScratch);
template KeyRange biased_scores(const Arguments<float>&, RowIndex, RowScratch);
template KeyRange biased_scores(const Arguments<double>&, RowIndex, RowScratch);
template void weigh_values(const double*, KeyRange, View<const float>, double*) noexcept;
template void weigh_values(const double*, KeyRange, View<const double>, double*) noexcept;

}  // namespace sextant::detail
