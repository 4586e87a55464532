// What each form costs, of counted pairs and keys.
#include <algorithm>

#include "ranks/attention/costs.h"
#include "ranks/attention/heads.h"
#include "ranks/attention/travel.h"

namespace sextant::ranks {
namespace {

// Rounds of short messages among all ranks, before a call computes: whether they make the same
// call, how many queries and keys each has, and whether the whole is a call.
constexpr int kAgreements = 2;

}  // namespace

template <class T>
double Costs<T>::seconds_of(double pairs) const noexcept {
  return pairs * static_cast<double>(call_.all.head_dim + call_.v_dim) / machine_.multiply_adds;
}

template <class T>
std::int64_t Costs<T>::messages_of(std::int64_t keys) const noexcept {
  const std::int64_t most = slice_keys(call_);
  return (keys + most - 1) / most;
}

template <class T>
double Costs<T>::travel(std::int64_t keys) const noexcept {
  return static_cast<double>(slice_bytes(call_, keys)) / machine_.bytes +
         static_cast<double>(messages_of(keys)) * machine_.latency;
}

// A rank computes with what it has while the next part comes.
template <class T>
AttentionPlan::Cost Costs<T>::ring() const {
  AttentionPlan::Cost cost{.form = Form::ring, .why_not = {}};
  for (int t = 0; t < size_; ++t) {
    double compute = 0, next = 0;
    for (int r = 0; r < size_; ++r) {
      const int from = (r + size_ - t) % size_, then = (r + 2 * size_ - t - 1) % size_;
      compute = std::max(compute, seconds_of(at(pairs_, r, from)));
      if (t + 1 < size_) next = std::max(next, travel(at(keys_, r, then)));
    }
    cost.seconds += std::max(compute, next);
    cost.seconds_exposed += std::max(0.0, next - compute);
  }
  receive(cost);
  agree(cost);
  std::int64_t slice = 0;
  for (const auto& row : keys_) {
    for (const std::int64_t keys : row) slice = std::max(slice, std::min(keys, slice_keys(call_)));
  }
  cost.memory =
      4 * slice_bytes(call_, slice) + call_.all.batch * call_.all.heads_q * most_queries() * 8;
  return cost;
}

template <class T>
AttentionPlan::Cost Costs<T>::gather() const {
  AttentionPlan::Cost cost{.form = Form::gather, .why_not = {}};
  double compute = 0;
  for (int r = 0; r < size_; ++r) {
    double pairs = 0, wait = 0;
    for (int owner = 0; owner < size_; ++owner) {
      pairs += at(pairs_, r, owner);
      if (owner != r) wait += travel(at(keys_, r, owner));
    }
    compute = std::max(compute, seconds_of(pairs));
    cost.seconds_exposed = std::max(cost.seconds_exposed, wait);
  }
  cost.seconds = compute + cost.seconds_exposed;
  receive(cost);
  agree(cost);
  cost.memory = call_.all.batch * call_.all.kv_heads * call_.k_layout.length() *
                (call_.all.head_dim + call_.v_dim) * std::int64_t{sizeof(T)};
  return cost;
}

template <class T>
AttentionPlan::Cost Costs<T>::ulysses() const {
  AttentionPlan::Cost cost{.form = Form::ulysses, .why_not = {}};
  std::int64_t most = 0;
  const HeadShare share(call_.all.kv_heads, size_, false);
  for (int r = 0; r < size_; ++r) most = std::max(most, share.of(r).size());
  const std::int64_t numbers = call_.all.batch * most * (call_.all.head_dim + call_.v_dim) *
                               (call_.q_layout.length() * call_.group() + call_.k_layout.length());
  cost.memory = 2 * numbers * std::int64_t{sizeof(T)};
  cost.bytes = cost.memory / 2 / size_ * (size_ - 1);
  cost.messages = 4 * (size_ - 1);
  cost.seconds_exposed = static_cast<double>(cost.bytes) / machine_.bytes +
                         static_cast<double>(cost.messages) * machine_.latency;
  cost.seconds = cost.seconds_exposed + seconds_of(pairs() * static_cast<double>(most) /
                                                   static_cast<double>(call_.all.kv_heads));
  agree(cost);
  return cost;
}

template <class T>
void Costs<T>::receive(AttentionPlan::Cost& cost) const {
  for (int r = 0; r < size_; ++r) {
    std::int64_t bytes = 0, messages = 0;
    for (int owner = 0; owner < size_; ++owner) {
      if (owner == r) continue;
      bytes += slice_bytes(call_, at(keys_, r, owner));
      messages += messages_of(at(keys_, r, owner));
    }
    cost.bytes = std::max(cost.bytes, bytes);
    cost.messages = std::max(cost.messages, messages);
  }
}

template <class T>
void Costs<T>::agree(AttentionPlan::Cost& cost) const {
  int rounds = 0;  // each doubles the ranks that know of one another
  while ((std::int64_t{1} << rounds) < size_) ++rounds;
  const double seconds = kAgreements * rounds * machine_.latency;
  cost.seconds += seconds;
  cost.seconds_exposed += seconds;
}

template <class T>
std::int64_t Costs<T>::most_queries() const noexcept {
  std::int64_t most = 0;
  for (int r = 0; r < size_; ++r) most = std::max(most, call_.q_layout.count(r));
  return most;
}

template class Costs<float>;
template class Costs<double>;
template class Costs<float16>;
template class Costs<bfloat16>;

}  // namespace sextant::ranks
