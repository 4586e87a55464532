// Adds up partial sums in the order of sequences and heads, in float64.
#include "backward_sums.h"

#include <cmath>

namespace sextant::detail {

template <class T>
BackwardSums<T>::BackwardSums(const BackwardArguments<T>& b) : b_(b) {
  const Arguments<T>& a = b.scores;
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
  if (is_wanted(b.wanted.content)) {
    content_.resize(static_cast<std::size_t>(a.content->gradient_size()));
  }
  if (b.wants_sinks()) sinks_.resize(static_cast<std::size_t>(sequences * a.heads_q));
  if (b.wants_indexed()) indexed_.resize(static_cast<std::size_t>(a.indexed->gradient_size()));
}

template <class T>
typename BackwardSums<T>::Wide* BackwardSums<T>::distances(const Sequence& at,
                                                           std::int64_t head) noexcept {
  if (distances_.empty()) return nullptr;
  return distances_.data() + begins_[static_cast<std::size_t>(at.number)] +
         head * distance_count(at);
}

template <class T>
double& BackwardSums<T>::sink(const Sequence& at, std::int64_t head) noexcept {
  return sinks_[static_cast<std::size_t>(at.number * b_.scores.heads_q + head)];
}

template <class T>
void BackwardSums<T>::add_content(std::int64_t unit, const double* gradient) {
  if (!is_wanted(b_.wanted.content)) return;
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_unit_ == unit; });
  for (std::size_t n = 0; n < content_.size(); ++n) content_[n] += gradient[n];
  ++next_unit_;
  turn_.notify_all();
}

template <class T>
void BackwardSums<T>::finish() {
  for (std::size_t n = 0; n < content_.size(); ++n) {
    b_.wanted.content(static_cast<std::int64_t>(n)) = content_[n];
  }
  const Arguments<T>& a = b_.scores;
  const std::int64_t sequences = a.batch * a.segment_count();
  // use(distance from the own key, sum) for each distance of a sequence and head.
  const auto each_distance = [&](std::int64_t number, std::int64_t head, const auto& use) {
    const Sequence at = a.sequence(number);
    const std::int64_t count = distance_count(at);
    const std::int64_t first = -(at.q_len - 1) - a.own_key(at, 0);
    const Wide* sums = distances(at, head);
    for (std::int64_t n = 0; n < count; ++n) use(first + n, static_cast<double>(sums[n]));
  };
  if (is_wanted(b_.wanted.bias)) {
    const View<Wide> bias = b_.wanted.bias;
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
      for (std::int64_t c = 0; c < columns; ++c) {
        bias(r, c) = static_cast<Wide>(row[static_cast<std::size_t>(c)]);
      }
    }
  }
  for (std::int64_t head = 0; head < a.heads_q; ++head) {
    double slope = 0, sink_sum = 0;
    for (std::int64_t n = 0; n < sequences; ++n) {
      if (is_wanted(b_.wanted.slopes)) {
        each_distance(n, head, [&](std::int64_t distance, double sum) {
          slope -= std::abs(static_cast<double>(distance)) * sum;
        });
      }
      if (b_.wants_sinks()) sink_sum += sink(a.sequence(n), head);
    }
    if (is_wanted(b_.wanted.slopes)) b_.wanted.slopes(head) = static_cast<Wide>(slope);
    if (b_.wants_sinks()) b_.wanted.sinks(head) = static_cast<Wide>(sink_sum);
  }
  for (std::size_t n = 0; n < indexed_.size(); ++n) {
    b_.wanted.indexed(static_cast<std::int64_t>(n)) = indexed_[n];
  }
}

template class BackwardSums<float>;
template class BackwardSums<double>;
template class BackwardSums<float16>;
template class BackwardSums<bfloat16>;

}  // namespace sextant::detail
