// What each form of a call costs, by counting: visible pairs, bytes, messages, and seconds by the
// numbers of a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/attention/call_shape.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {

// Striped divisions are counted as zigzag, which gives ranks alike to do as well.
template <class T>
class Costs {
 public:
  explicit Costs(const CallShape<T>& call);

  // The busiest rank's; whether a form can take the call at all is not asked.
  AttentionPlan::Cost ring() const;
  AttentionPlan::Cost gather() const;
  AttentionPlan::Cost ulysses() const;

  double pairs() const noexcept;                                          // of all ranks
  const std::vector<double>& shares() const noexcept { return shares_; }  // of each
  double balance(Form form) const;                                        // 1: no rank idles

 private:
  template <class Table>
  static auto& at(Table& table, int reader, int owner) {
    return table[static_cast<std::size_t>(reader)][static_cast<std::size_t>(owner)];
  }
  double seconds_of(double pairs) const noexcept;
  std::int64_t messages_of(std::int64_t keys) const noexcept;
  double travel(std::int64_t keys) const noexcept;
  // What travels in a ring and by gathering, and what ranks ask one another before they begin.
  void receive(AttentionPlan::Cost& cost) const;
  void agree(AttentionPlan::Cost& cost) const;
  std::int64_t most_queries() const noexcept;

  CallShape<T> call_;
  int size_;
  Machine machine_;
  std::vector<double> shares_;
  std::vector<std::vector<double>> pairs_;       // [reader][owner]
  std::vector<std::vector<std::int64_t>> keys_;  // that travel
};

}  // namespace sextant::ranks
