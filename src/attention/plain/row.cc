// One row of the operator, in the plainest form that is stable (see row.h).
#include "attention/plain/row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/forward/kernel_rows.h"

namespace sextant::attention_detail {
namespace {

using kernels::RotationRows;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// <query, key>. Four partial sums, so that compilers can use lanes without reordering anything; the
// same order for every stride.
template <class Elements>
double dot(const double* query, Elements key, std::int64_t stride, std::int64_t count) noexcept {
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
void load_row(const AnyRow<const void>& source, const RotationRows& rotation, std::int64_t n,
              double* row) noexcept {
  source.load(row);
  if (rotation.cos != nullptr) rotate_row(rotation, n, row);
}

// Scores of one query with any key of its sequence and head.
class Scorer {
 public:
  Scorer(const AttentionCall& a, const RowIndex& at, bool steps, const RowScratch& scratch) noexcept
      : a_(a),
        at_(at),
        query_(scratch.query),
        rotated_(a.rotation != nullptr ? scratch.key : nullptr),
        rotation_(key_rotation(a, at.sequence, a.key_head(at.head))),
        numbers_(steps ? a.numbers : a.numbers.without_steps()) {
    load_row(query_row(a, at), query_rotation(a, at.sequence, at.head), at.query, scratch.query);
  }

  double operator()(std::int64_t j) const noexcept {
    return numbers_.score(numbers_.scale * product(j));
  }

 private:
  double product(std::int64_t j) const noexcept {
    const AnyRow<const void> key = key_row(a_, at_, j);
    if (rotated_ != nullptr) {
      load_row(key, rotation_, j, rotated_);
      return dot(query_, rotated_, 1, key.count);
    }
    return key.visit([&](auto channels) {
      return key.stride == 1 ? dot(query_, channels, 1, key.count)
                             : dot(query_, channels, key.stride, key.count);
    });
  }

  const AttentionCall& a_;
  const RowIndex& at_;
  const double* query_;
  double* rotated_;  // null: no rotation
  RotationRows rotation_;
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

// The sum of all biases and masks of one row; -infinity where a key is hidden.
class RowBiases {
 public:
  RowBiases(const AttentionCall& a, const RowIndex& at, KeyRange range, const RowScratch& scratch)
      : a_(a),
        sequence_(at.sequence),
        allowed_(a.bool_mask, at),
        added_(a.float_mask, at),
        added_doubles_(a.double_mask, at),
        by_distance_(a.bias_row(at.head)),
        terms_(a.bias_terms.empty() ? nullptr : scratch.biases),
        position_(a.query_position(at.sequence, at.query)),
        origin_(a.bias != nullptr ? a.bias->origin : 0),
        slope_(a.slope(at.head)) {
    if (terms_ == nullptr || range.begin == range.end) return;
    std::fill(scratch.biases + range.begin, scratch.biases + range.end, 0.0);
    query_row(a, at).load(scratch.unrotated_query);
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
    if (added_doubles_.data != nullptr) add(added_doubles_[j]);
    return hidden ? kHidden : sum;
  }

 private:
  const AttentionCall& a_;
  const Sequence& sequence_;
  MaskRow<std::uint8_t> allowed_;
  MaskRow<float> added_;
  MaskRow<double> added_doubles_;
  const float* by_distance_;
  const double* terms_;
  std::int64_t position_, origin_;
  double slope_;
};

}  // namespace

void add_term(const AttentionCall& a, const TermUse& use, const RowIndex& at, KeyRange range,
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

KeyRange scores_before_term(const AttentionCall& a, const RowIndex& at, const RowScratch& scratch) {
  const KeyRange range = a.visible(at.sequence, at.query);
  if (range.begin == range.end) return range;
  const Scorer score(a, at, false, scratch);
  const RowBiases biases(a, at, range, scratch);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    scratch.scores[j] = biases[j] == kHidden ? kHidden : score(j);
  }
  query_row(a, at).load(scratch.unrotated_query);
  return range;
}

void plain_scores(const AttentionCall& a, const RowIndex& at, std::int64_t keys, bool steps,
                  const RowScratch& scratch) {
  KeyRange with_term{0, 0};
  if (steps && a.logit_term.term != nullptr) {
    with_term = scores_before_term(a, at, scratch);
    add_term(a, a.logit_term, at, with_term, scratch, scratch.scores);
  }
  const Scorer score(a, at, steps, scratch);
  const RowBiases biases(a, at, with_term, scratch);
  for (std::int64_t j = 0; j < keys; ++j) {
    double& to = scratch.scores[j];
    if (j < with_term.begin || j >= with_term.end || biases[j] == kHidden) {
      to = score(j);
    } else {
      to = a.numbers.score(to);
    }
  }
}

KeyRange biased_scores(const AttentionCall& a, const RowIndex& at, const RowScratch& scratch) {
  const KeyRange range = a.visible(at.sequence, at.query);
  if (range.begin == range.end) return range;
  if (a.logit_term.term != nullptr) {
    scores_before_term(a, at, scratch);
    add_term(a, a.logit_term, at, range, scratch, scratch.scores);
    const RowBiases biases(a, at, range, scratch);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      double& score = scratch.scores[j];
      const double bias = biases[j];
      score = bias == kHidden ? kHidden : a.numbers.score(score) + bias;
    }
    return range;
  }
  const Scorer score(a, at, true, scratch);
  const RowBiases biases(a, at, range, scratch);
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

void drop_weights(const AttentionCall& a, const RowIndex& at, KeyRange range,
                  double* weights) noexcept {
  if (!a.dropout.is_on()) return;
  const kernels::WeightDropout dropout = a.dropout_of(at.sequence, at.head, at.query);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    weights[j] = dropout.keeps(0, j) ? weights[j] * dropout.factor : 0;
  }
}

void output_row(const AttentionCall& a, const RowIndex& at, KeyRange range, const KeyArray& v,
                const RowScratch& scratch, double* sum) noexcept {
  const Sequence& sequence = at.sequence;
  std::fill_n(sum, v.size(3), 0.0);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    if (scratch.scores[j] == 0) continue;
    v.row(sequence, a.key_head(at.head), j).add_to(scratch.scores[j], sum);
  }
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

}  // namespace sextant::attention_detail
