// One row of the operator, in the plainest form that is stable (see row.h).
#include "attention/plain/row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/forward/kernel_rows.h"
#include "core/arrays/each_dtype.h"

namespace sextant::attention_detail {
namespace {

using kernels::RotationRows;

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

// Copies a row of channels to float64 and rotates it by row n of the table, if there is one.
template <class T>
void load_row(const T* source, std::int64_t stride, std::int64_t channels,
              const RotationRows& rotation, std::int64_t n, double* row) noexcept {
  for (std::int64_t d = 0; d < channels; ++d) row[d] = static_cast<double>(source[d * stride]);
  if (rotation.cos != nullptr) rotate_row(rotation, n, row);
}

// Scores of one query with any key of its sequence and head.
template <class T>
class Scorer {
 public:
  Scorer(const Arguments<T>& a, const RowIndex& at, bool steps, const RowScratch& scratch) noexcept
      : query_(scratch.query),
        rotated_(a.rotation != nullptr ? scratch.key : nullptr),
        rotation_(key_rotation(a, at.sequence, a.key_head(at.head))),
        keys_(a.k.data() + at.sequence.batch * a.k.stride(0) + a.key_head(at.head) * a.k.stride(1) +
              at.sequence.k_begin * a.k.stride(2)),
        key_stride_(a.k.stride(2)),
        channel_stride_(a.k.stride(3)),
        channels_(a.head_dim),
        numbers_(steps ? a.numbers : a.numbers.without_steps()) {
    const T* source = a.q.data() + at.sequence.batch * a.q.stride(0) + at.head * a.q.stride(1) +
                      (at.sequence.q_begin + at.query) * a.q.stride(2);
    load_row(source, a.q.stride(3), channels_, query_rotation(a, at.sequence, at.head), at.query,
             scratch.query);
  }

  double operator()(std::int64_t j) const noexcept {
    return numbers_.score(numbers_.scale * product(j));
  }

 private:
  double product(std::int64_t j) const noexcept {
    const T* key = keys_ + j * key_stride_;
    if (rotated_ != nullptr) {
      load_row(key, channel_stride_, channels_, rotation_, j, rotated_);
      return dot(query_, rotated_, 1, channels_);
    }
    return channel_stride_ == 1 ? dot(query_, key, 1, channels_)
                                : dot(query_, key, channel_stride_, channels_);
  }

  const double* query_;
  double* rotated_;  // null: no rotation
  RotationRows rotation_;
  const T* keys_;
  std::int64_t key_stride_, channel_stride_, channels_;
  kernels::ScoreNumbers<double> numbers_;
};

// One row of a broadcast mask: element j belongs to key j of the sequence.
template <class M>
struct MaskRow {
  MaskRow(const BroadcastMask<M>& mask, const RowIndex& at) noexcept : stride(mask.strides[3]) {
    if (mask.data == nullptr) return;
    data = mask.data + at.sequence.batch * mask.strides[0] + at.head * mask.strides[1] +
           (at.sequence.q_begin + at.query) * mask.strides[2] + at.sequence.k_begin * stride;
  }
  M operator[](std::int64_t j) const noexcept { return data[j * stride]; }

  const M* data = nullptr;  // null: there is none
  std::int64_t stride;
};

template <class T>
void load_unrotated_query(const Arguments<T>& a, const RowIndex& at, const RowScratch& scratch) {
  const T* source = a.q.data() + at.sequence.batch * a.q.stride(0) + at.head * a.q.stride(1) +
                    (at.sequence.q_begin + at.query) * a.q.stride(2);
  load_row(source, a.q.stride(3), a.head_dim, {}, 0, scratch.unrotated_query);
}

// The sum of all biases and masks of one row; -infinity where a key is hidden.
template <class T>
class RowBiases {
 public:
  RowBiases(const Arguments<T>& a, const RowIndex& at, KeyRange range, const RowScratch& scratch)
      : a_(a),
        sequence_(at.sequence),
        allowed_(a.bool_mask, at),
        added_(a.float_mask, at),
        by_distance_(a.bias_row(at.head)),
        terms_(a.bias_terms.empty() ? nullptr : scratch.biases),
        position_(a.query_position(at.sequence, at.query)),
        origin_(a.bias != nullptr ? a.bias->origin : 0),
        slope_(a.slope(at.head)) {
    if (terms_ == nullptr || range.begin == range.end) return;
    std::fill(scratch.biases + range.begin, scratch.biases + range.end, 0.0);
    load_unrotated_query(a, at, scratch);
    for (const TermUse& use : a.bias_terms) add_term(a, use, at, range, scratch, scratch.biases);
  }

  double operator[](std::int64_t j) const noexcept {
    // One -infinity hides the pair, even with a +infinity in another bias.
    bool hidden = allowed_.data != nullptr && allowed_[j] == 0;
    double sum = 0;
    const auto add = [&](double bias) {
      hidden = hidden || bias == kHidden;
      sum += bias;
    };
    const std::int64_t distance = a_.key_position(sequence_, j) - position_;
    if (by_distance_ != nullptr) add(static_cast<double>(by_distance_[distance + origin_]));
    if (slope_ != 0) add(-slope_ * std::abs(static_cast<double>(distance)));
    if (terms_ != nullptr) add(terms_[j]);
    if (added_.data != nullptr) add(static_cast<double>(added_[j]));
    return hidden ? kHidden : sum;
  }

 private:
  const Arguments<T>& a_;
  const Sequence& sequence_;
  MaskRow<std::uint8_t> allowed_;
  MaskRow<typename Arguments<T>::Mask> added_;
  const float* by_distance_;
  const double* terms_;
  std::int64_t position_, origin_;
  double slope_;
};

}  // namespace

template <class T>
void add_term(const Arguments<T>& a, const TermUse& use, const RowIndex& at, KeyRange range,
              const RowScratch& scratch, double* scores) {
  for_each_term_tile(a, use, at, range, scratch, [&](const ScoreInputs<double>& inputs) {
    ScoreTile<double> tile{inputs};
    tile.scores = scores + tile.first_key;
    tile.stride = tile.keys;
    use.term->add(tile);
  });
}

void rotate_row(const RotationRows& table, std::int64_t n, double* row) noexcept {
  const float* cosines = table.cos + table.row_index(n) * table.stride;
  const float* sines = table.sin + table.row_index(n) * table.stride;
  for (std::int64_t p = 0; p < table.pairs; ++p) {
    double& x = row[table.first_channel + (table.interleaved ? 2 * p : p)];
    double& y = row[table.first_channel + (table.interleaved ? 2 * p + 1 : p + table.pairs)];
    const double cos = static_cast<double>(cosines[p]);
    const double sin = static_cast<double>(sines[p]) * (table.inverse ? -1 : 1);
    const double rotated = x * cos - y * sin;
    y = x * sin + y * cos;
    x = rotated;
  }
}

template <class T>
KeyRange scores_before_term(const Arguments<T>& a, const RowIndex& at, const RowScratch& scratch) {
  const KeyRange range = a.visible(at.sequence, at.query);
  if (range.begin == range.end) return range;
  const Scorer<T> score(a, at, false, scratch);
  const RowBiases<T> biases(a, at, range, scratch);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    scratch.scores[j] = biases[j] == kHidden ? kHidden : score(j);
  }
  load_unrotated_query(a, at, scratch);
  return range;
}

template <class T>
void plain_scores(const Arguments<T>& a, const RowIndex& at, std::int64_t keys, bool steps,
                  const RowScratch& scratch) {
  KeyRange with_term{0, 0};
  if (steps && a.logit_term.term != nullptr) {
    with_term = scores_before_term(a, at, scratch);
    add_term(a, a.logit_term, at, with_term, scratch, scratch.scores);
  }
  const Scorer<T> score(a, at, steps, scratch);
  const RowBiases<T> biases(a, at, with_term, scratch);
  for (std::int64_t j = 0; j < keys; ++j) {
    double& to = scratch.scores[j];
    if (j < with_term.begin || j >= with_term.end || biases[j] == kHidden) {
      to = score(j);
    } else {
      to = a.numbers.score(to);
    }
  }
}

template <class T>
KeyRange biased_scores(const Arguments<T>& a, const RowIndex& at, const RowScratch& scratch) {
  const KeyRange range = a.visible(at.sequence, at.query);
  if (range.begin == range.end) return range;
  if (a.logit_term.term != nullptr) {
    scores_before_term(a, at, scratch);
    add_term(a, a.logit_term, at, range, scratch, scratch.scores);
    const RowBiases<T> biases(a, at, range, scratch);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      double& score = scratch.scores[j];
      const double bias = biases[j];
      score = bias == kHidden ? kHidden : a.numbers.score(score) + bias;
    }
    return range;
  }
  const Scorer<T> score(a, at, true, scratch);
  const RowBiases<T> biases(a, at, range, scratch);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    const double bias = biases[j];
    scratch.scores[j] = bias == kHidden ? kHidden : score(j) + bias;
  }
  return range;
}

double softmax(double* scores, std::int64_t count, double sink) noexcept {
  double max = sink;
  bool any_nan = false;
  for (std::int64_t j = 0; j < count; ++j) {
    any_nan = any_nan || std::isnan(scores[j]);
    max = std::max(max, scores[j]);  // keeps `max` when the score is NaN
  }
  if (any_nan || max == kHidden) {
    const double rest = any_nan ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::int64_t j = 0; j < count; ++j) scores[j] = scores[j] == kHidden ? 0 : rest;
    return any_nan ? rest : kHidden;
  }
  double sum = std::exp(sink - max);
  for (std::int64_t j = 0; j < count; ++j) {
    // The maximum itself without a difference: infinity - infinity is NaN.
    scores[j] = scores[j] == max ? 1 : std::exp(scores[j] - max);
    sum += scores[j];
  }
  for (std::int64_t j = 0; j < count; ++j) scores[j] /= sum;
  return max + std::log(sum);
}

template <class T>
void output_row(const Arguments<T>& a, const RowIndex& at, KeyRange range, View<const T> v,
                const RowScratch& scratch, double* sum) noexcept {
  const Sequence& sequence = at.sequence;
  const View<const T> values = v.select(0, sequence.batch)
                                   .select(0, a.key_head(at.head))
                                   .narrow(0, sequence.k_begin, sequence.k_len);
  weighted_sum(scratch.scores, range, values, sum);
  if (range.begin == range.end) return;
  const ScoreRect row =
      a.rect(sequence, at.head, at.query, 1, range.begin, range.end - range.begin);
  const auto add_values = [&](const TermUse& use) {
    if (use.needs.value_dim == 0) return;
    use.term->add_values(row, scratch.scores + range.begin, sum);
  };
  if (a.logit_term.term != nullptr) add_values(a.logit_term);
  for (const TermUse& use : a.bias_terms) add_values(use);
}

template <class T>
void weighted_sum(const double* weights, KeyRange range, View<const T> v, double* sum) noexcept {
  const std::int64_t channels = v.size(1), stride = v.stride(1);
  std::fill_n(sum, channels, 0.0);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    if (weights[j] == 0) continue;
    const T* value = v.data() + j * v.stride(0);
    for (std::int64_t c = 0; c < channels; ++c) {
      sum[c] += weights[j] * static_cast<double>(value[c * stride]);
    }
  }
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template void add_term(const Arguments<T>&, const TermUse&, const RowIndex&, KeyRange,         \
                         const RowScratch&, double*);                                            \
  template KeyRange scores_before_term(const Arguments<T>&, const RowIndex&, const RowScratch&); \
  template void output_row(const Arguments<T>&, const RowIndex&, KeyRange, View<const T>,        \
                           const RowScratch&, double*) noexcept;                                 \
  template void plain_scores(const Arguments<T>&, const RowIndex&, std::int64_t, bool,           \
                             const RowScratch&);                                                 \
  template KeyRange biased_scores(const Arguments<T>&, const RowIndex&, const RowScratch&);      \
  template void weighted_sum(const double*, KeyRange, View<const T>, double*) noexcept;
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
