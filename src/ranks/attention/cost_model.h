// Computes the cost of each algorithm of a call: it counts visible pairs and keys, and converts
// them to seconds with the numbers of a machine.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "ranks/attention/communication.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {

// Rounds of short messages among all ranks, before a call computes: whether they make the same
// call, how many queries and keys each has, and whether the whole is a call.
inline constexpr int kAgreements = 2;

template <class T>
class CostModel {
 public:
  explicit CostModel(const CallShape<T>& call)
      : call_(call), machine_(call.ranks.machine), size_(static_cast<std::size_t>(call.size())) {
    for (int reader = 0; reader < call.size(); ++reader) {
      std::vector<double>& counts = pairs_.emplace_back();
      std::vector<std::int64_t>& sent = keys_.emplace_back();
      for (int owner = 0; owner < call.size(); ++owner) {
        counts.push_back(pairs_between(reader, owner));
        sent.push_back(0);
        for (const Piece& piece : keys_to_send(call, reader, owner)) sent.back() += piece.size();
      }
      shares.push_back(std::accumulate(counts.begin(), counts.end(), 0.0));
    }
    pairs = std::accumulate(shares.begin(), shares.end(), 0.0);
  }

  std::vector<double> shares;  // of the pairs of a query and a visible key, on each rank
  double pairs = 0;            // on all ranks

  // A rank computes with its data while the next part arrives.
  AttentionPlan::Cost ring() const {
    AttentionPlan::Cost cost = received(Algorithm::ring);
    cost.seconds_exposed = 0;
    double busiest = 0, seconds = 0;
    std::int64_t slice = 0, queries = 0;
    for (std::size_t t = 0; t < size_; ++t) {
      double most = 0, next = 0;
      for (std::size_t r = 0; r < size_; ++r) {
        const std::int64_t keys = keys_[r][(r + 2 * size_ - t - 1) % size_];
        most = std::max(most, pairs_[r][(r + size_ - t) % size_]);
        slice = std::max(slice, std::min(keys, slice_keys(call_)));
        if (t + 1 < size_) next = std::max(next, transfer(bytes(keys), messages(keys)));
      }
      busiest += most;
      seconds += std::max(compute(most), next);
      cost.seconds_exposed += std::max(0.0, next - compute(most));
      queries = std::max(queries, call_.q_layout.count(static_cast<int>(t)));
    }
    cost.memory = 4 * bytes(slice) + call_.all.batch * call_.all.heads_q * queries * 8;
    return finished(cost, seconds, busiest);
  }

  AttentionPlan::Cost gather() const {
    AttentionPlan::Cost cost = received(Algorithm::gather);
    const double busiest = *std::max_element(shares.begin(), shares.end());
    cost.memory = call_.all.batch * call_.all.kv_heads * call_.k_layout.length() *
                  (call_.all.head_dim + call_.v_dim) * std::int64_t{sizeof(T)};
    return finished(cost, compute(busiest) + cost.seconds_exposed, busiest);
  }

  AttentionPlan::Cost ulysses() const {
    AttentionPlan::Cost cost{.algorithm = Algorithm::ulysses, .why_not = {}};
    const std::int64_t ranks = call_.size(), heads = call_.all.kv_heads;
    const std::int64_t most = (heads + ranks - 1) / ranks;
    const double busiest = pairs * static_cast<double>(most) / static_cast<double>(heads);
    cost.memory = 2 * call_.all.batch * most * (call_.all.head_dim + call_.v_dim) *
                  (call_.q_layout.length() * call_.group() + call_.k_layout.length()) *
                  std::int64_t{sizeof(T)};
    cost.bytes = cost.memory / 2 / ranks * (ranks - 1);
    cost.messages = 4 * (ranks - 1);
    cost.seconds_exposed = transfer(cost.bytes, cost.messages);
    return finished(cost, cost.seconds_exposed + compute(busiest), busiest);
  }

 private:
  // Pieces of keys are in the order of their segments.
  double pairs_between(int reader, int owner) const {
    double sum = 0;
    const std::vector<Piece> keys = call_.key_pieces(owner);
    const auto before = [](const Piece& a, const Piece& b) { return a.segment < b.segment; };
    for (const Piece& queries : call_.query_pieces(reader)) {
      auto at = std::lower_bound(keys.begin(), keys.end(), queries, before);
      for (; at != keys.end() && at->segment == queries.segment; ++at) {
        sum += call_.pairs(queries, *at);
      }
    }
    return sum * static_cast<double>(call_.all.heads_q);
  }

  std::int64_t bytes(std::int64_t keys) const { return slice_bytes(call_, keys); }
  std::int64_t messages(std::int64_t keys) const {
    return (keys + slice_keys(call_) - 1) / slice_keys(call_);
  }
  double compute(double pairs_of_rank) const {
    return pairs_of_rank * static_cast<double>(call_.all.head_dim + call_.v_dim) /
           machine_.multiply_adds;
  }
  double transfer(std::int64_t bytes, std::int64_t messages) const {
    return static_cast<double>(bytes) / machine_.bytes +
           static_cast<double>(messages) * machine_.latency;
  }

  // Returns the cost of receiving the keys of other ranks, one after the other.
  AttentionPlan::Cost received(Algorithm algorithm) const {
    AttentionPlan::Cost cost{.algorithm = algorithm, .why_not = {}};
    for (std::size_t r = 0; r < size_; ++r) {
      std::int64_t sum = 0, count = 0;
      for (std::size_t owner = 0; owner < size_; ++owner) {
        if (owner != r) sum += bytes(keys_[r][owner]), count += messages(keys_[r][owner]);
      }
      cost.bytes = std::max(cost.bytes, sum);
      cost.messages = std::max(cost.messages, count);
      cost.seconds_exposed = std::max(cost.seconds_exposed, transfer(sum, count));
    }
    return cost;
  }

  AttentionPlan::Cost finished(AttentionPlan::Cost cost, double seconds, double busiest) const {
    // Each round of messages doubles the number of ranks that know of one another.
    const double agreements = kAgreements * static_cast<double>(std::bit_width(size_ - 1));
    cost.seconds = seconds + agreements * machine_.latency;
    cost.seconds_exposed += agreements * machine_.latency;
    cost.balance = busiest == 0 ? 1 : std::min(1.0, pairs / busiest / call_.size());
    return cost;
  }

  const CallShape<T>& call_;
  Machine machine_;
  std::size_t size_;
  std::vector<std::vector<double>> pairs_;       // [reader][owner]
  std::vector<std::vector<std::int64_t>> keys_;  // that the owner sends
};

}  // namespace sextant::ranks
