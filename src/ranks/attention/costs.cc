// Counting visible pairs, and keys that travel.
#include "ranks/attention/costs.h"

#include <algorithm>
#include <numeric>

#include "ranks/attention/travel.h"

namespace sextant::ranks {
namespace {

// Pairs of the queries of a rank with the keys of another, in all heads.
template <class T>
double pairs_between(const CallShape<T>& call, int reader, int owner) {
  double sum = 0;
  const std::vector<Piece> keys = call.key_pieces(owner);
  const auto before = [](const Piece& a, const Piece& b) { return a.segment < b.segment; };
  const bool sorted = std::is_sorted(keys.begin(), keys.end(), before);
  for (const Piece& queries : call.query_pieces(reader)) {
    auto at = sorted ? std::lower_bound(keys.begin(), keys.end(), queries, before) : keys.begin();
    for (; at != keys.end(); ++at) {
      if (at->segment == queries.segment) {
        sum += call.pairs(queries, *at);
      } else if (sorted) {
        break;
      }
    }
  }
  return sum * static_cast<double>(call.all.heads_q);
}

}  // namespace

template <class T>
Costs<T>::Costs(const CallShape<T>& call)
    : call_(call), size_(call.size()), machine_(call.ranks.machine) {
  if (call.ranks.division == Division::striped) {
    call_.q_layout = Layout(Division::zigzag, call.q_layout.length(), size_);
    call_.k_layout = Layout(Division::zigzag, call.k_layout.length(), size_);
  }
  const auto n = static_cast<std::size_t>(size_);
  pairs_.assign(n, std::vector<double>(n));
  keys_.assign(n, std::vector<std::int64_t>(n));
  for (int reader = 0; reader < size_; ++reader) {
    for (int owner = 0; owner < size_; ++owner) {
      at(pairs_, reader, owner) = pairs_between(call_, reader, owner);
      for (const Piece& piece : needed(call_, reader, owner)) {
        at(keys_, reader, owner) += piece.size();
      }
    }
  }
  for (const std::vector<double>& row : pairs_) {
    shares_.push_back(std::accumulate(row.begin(), row.end(), 0.0));
  }
}

template <class T>
double Costs<T>::pairs() const noexcept {
  return std::accumulate(shares_.begin(), shares_.end(), 0.0);
}

template <class T>
double Costs<T>::balance(Form form) const {
  const double total = pairs();
  double busiest = 0;
  if (form == Form::ring) {
    for (int t = 0; t < size_; ++t) {
      double most = 0;
      for (int r = 0; r < size_; ++r) {
        most = std::max(most, at(pairs_, r, (r + size_ - t) % size_));
      }
      busiest += most;
    }
  } else if (form == Form::gather) {
    for (const double share : shares_) busiest = std::max(busiest, share);
  } else {
    const std::int64_t kv_heads = call_.all.kv_heads;
    busiest =
        total * static_cast<double>((kv_heads + size_ - 1) / size_) / static_cast<double>(kv_heads);
  }
  return busiest == 0 ? 1 : std::min(1.0, total / busiest / size_);
}

template class Costs<float>;
template class Costs<double>;
template class Costs<float16>;
template class Costs<bfloat16>;

}  // namespace sextant::ranks
