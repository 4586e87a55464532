// Adds up partial sums in the order of sequences and heads, in float64.
#include "attention/backward/sums.h"

#include <cmath>
#include <utility>

namespace sextant::attention_detail {

BackwardSums::BackwardSums(const BackwardArguments& b) : b_(b) {
  const AttentionCall& a = b.scores;
  const std::int64_t sequences = a.batch * a.segment_count();
  if (b.wants_distances()) {
    std::int64_t used = 0;
    begins_.reserve(static_cast<std::size_t>(sequences));
    for (std::int64_t n = 0; n < sequences; ++n) {
      begins_.push_back(used);
      used += distance_count(a.sequence(n)) * a.heads_q;
    }
    distances_.resize(static_cast<std::size_t>(used));
  }
  begin_mask();
  if (wants_logit_term()) {
    logit_term_.resize(static_cast<std::size_t>(a.logit_term.needs.parameters));
  }
  if (b.wants_sinks()) sinks_.resize(static_cast<std::size_t>(sequences * a.heads_q));
  if (b.wants_bias_terms()) {
    std::size_t count = 0;
    for (const TermUse& use : a.bias_terms) count += static_cast<std::size_t>(use.needs.parameters);
    bias_terms_.resize(count);
  }
  if (b.wants_distances_by_ids()) {
    if (b.wanted.bias_values.is_given()) {
      bias_by_ids_.resize(static_cast<std::size_t>(a.bias->values.count()));
    }
    slopes_by_ids_.resize(static_cast<std::size_t>(a.heads_q));
  }
}

double* BackwardSums::distances(const Sequence& at, std::int64_t head) noexcept {
  if (distances_.empty()) return nullptr;
  return distances_.data() + begins_[static_cast<std::size_t>(at.number)] +
         head * distance_count(at);
}

double& BackwardSums::sink(const Sequence& at, std::int64_t head) noexcept {
  return sinks_[static_cast<std::size_t>(at.number * b_.scores.heads_q + head)];
}

void BackwardSums::add_logit_term(const double* parameters) noexcept {
  for (std::size_t n = 0; n < logit_term_.size(); ++n) logit_term_[n] += parameters[n];
}

void BackwardSums::add(std::int64_t head, const BiasGradients& gradients) noexcept {
  const auto add_to = [](double* sums, std::span<const double> terms) {
    for (std::size_t n = 0; n < terms.size(); ++n) sums[n] += terms[n];
  };
  add_to(bias_terms_.data(), gradients.terms());
  const bool shared = !bias_by_ids_.empty() && b_.scores.bias->values.size(0) == 1;
  add_to(
      bias_by_ids_.data() + (shared ? 0 : static_cast<std::size_t>(head) * gradients.bias().size()),
      gradients.bias());
  if (!slopes_by_ids_.empty()) slopes_by_ids_[static_cast<std::size_t>(head)] += gradients.slope();
}

void BackwardSums::take_ordered(BackwardSums& other) noexcept {
  bias_terms_.swap(other.bias_terms_);
  bias_by_ids_.swap(other.bias_by_ids_);
  slopes_by_ids_.swap(other.slopes_by_ids_);
  mask_sums_.swap(other.mask_sums_);
  logit_term_.swap(other.logit_term_);
  std::swap(mask_.sums, other.mask_.sums);
}

void BackwardSums::begin_mask() {
  if (!b_.wants_mask()) return;
  mask_ = {.in_place = b_.wanted.mask, .sums = nullptr, .strides = b_.mask_strides};
  const AttentionCall& a = b_.scores;
  const AnyOutput& wanted = b_.wanted.mask;
  if (wanted.count() == a.batch * a.heads_q * a.q_len * a.k_len) return;
  mask_sums_.resize(static_cast<std::size_t>(wanted.count()));
  mask_.sums = mask_sums_.data();
  std::int64_t step = 1;
  for (int axis = wanted.rank() - 1; axis >= 0; --axis) {
    mask_.strides[static_cast<std::size_t>(4 - wanted.rank() + axis)] =
        wanted.size(axis) == 1 ? 0 : step;
    step *= wanted.size(axis);
  }
}

void BackwardSums::finish_mask() {
  if (mask_sums_.empty()) return;
  const double* sums = mask_sums_.data();
  for_each_row_of(b_.wanted.mask, [&](const AnyRow<void>& row) {
    row.store(sums);
    sums += row.count;
  });
}

void BackwardSums::finish() {
  std::size_t begin = 0;  // of the next bias term
  for (std::size_t n = 0; n < b_.wanted.terms.size(); ++n) {
    const View<double> wanted = b_.wanted.terms[n];
    const TermNeeds& needs = b_.term_needs[n];
    const bool given = is_given(wanted);
    for (std::int64_t i = 0; given && i < needs.parameters; ++i) {
      const auto at = static_cast<std::size_t>(i);
      wanted(i) = needs.before_softcap ? logit_term_[at] : bias_terms_[begin + at];
    }
    if (!needs.before_softcap) begin += static_cast<std::size_t>(needs.parameters);
  }
  finish_mask();
  if (b_.wants_distances()) finish_lines();
  if (b_.wants_distances_by_ids()) {
    const double* values = bias_by_ids_.data();
    for_each_row_of(b_.wanted.bias_values, [&](const AnyRow<void>& row) {
      row.store(values);
      values += row.count;
    });
    if (b_.wanted.bias_slopes.is_given()) b_.wanted.bias_slopes.row().store(slopes_by_ids_.data());
  }
  if (!b_.wants_sinks()) return;
  const std::int64_t sequences = b_.scores.batch * b_.scores.segment_count();
  std::vector<double> of_heads(static_cast<std::size_t>(b_.scores.heads_q));
  for (std::int64_t head = 0; head < b_.scores.heads_q; ++head) {
    double& sum = of_heads[static_cast<std::size_t>(head)];
    for (std::int64_t n = 0; n < sequences; ++n) sum += sink(b_.scores.sequence(n), head);
  }
  b_.wanted.sinks.row().store(of_heads.data());
}

void BackwardSums::finish_lines() {
  const AttentionCall& a = b_.scores;
  const std::int64_t sequences = a.batch * a.segment_count();
  // use(distance from the diagonal key, sum) for each distance of a sequence and head.
  const auto each_distance = [&](std::int64_t number, std::int64_t head, const auto& use) {
    const Sequence at = a.sequence(number);
    const std::int64_t count = distance_count(at);
    const std::int64_t first = -(at.q_len - 1) - a.diagonal_key(at, 0);
    const double* sums = distances(at, head);
    for (std::int64_t n = 0; n < count; ++n) use(first + n, sums[n]);
  };
  if (const AnyOutput& bias = b_.wanted.bias_values; bias.is_given()) {
    const std::int64_t columns = bias.size(1), shared = bias.size(0) == 1 ? a.heads_q : 1;
    std::vector<double> row(static_cast<std::size_t>(columns));
    for (std::int64_t r = 0; r < bias.size(0); ++r) {
      row.assign(row.size(), 0.0);
      for (std::int64_t n = 0; n < sequences; ++n) {
        for (std::int64_t head = r * shared; head < (r + 1) * shared; ++head) {
          each_distance(n, head, [&](std::int64_t distance, double sum) {
            const std::int64_t column = distance + a.bias->origin;
            // Columns outside belong to pairs that are hidden.
            if (column >= 0 && column < columns) row[static_cast<std::size_t>(column)] += sum;
          });
        }
      }
      bias.row(r).store(row.data());
    }
  }
  if (!b_.wanted.bias_slopes.is_given()) return;
  std::vector<double> slopes(static_cast<std::size_t>(a.heads_q));
  for (std::int64_t head = 0; head < a.heads_q; ++head) {
    double& slope = slopes[static_cast<std::size_t>(head)];
    for (std::int64_t n = 0; n < sequences; ++n) {
      each_distance(n, head, [&](std::int64_t distance, double sum) {
        slope -= std::abs(static_cast<double>(distance)) * sum;
      });
    }
  }
  b_.wanted.bias_slopes.row().store(slopes.data());
}

}  // namespace sextant::attention_detail
