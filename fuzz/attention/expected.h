// What a call of the operator must give, by the float64 oracle, and by how much it may be off.
#pragma once

#include <cstdint>
#include <vector>

#include "call.h"
#include "check.h"
#include "reference/attention.h"

namespace sextant::fuzz {

// A sink is one more key here: its score is the sink, its value 0.
class Expected {
 public:
  template <class T>
  explicit Expected(const Call<T>& call);

  // Everything about one query of one head.
  struct Row {
    enum class Kind {
      zeros,    // sees nothing
      numbers,  // all it sees are numbers
      nan,      // a score that it sees is NaN
      unknown,  // an infinity, or NaN in a value: not followed here
    };
    Kind kind = Kind::zeros;
    std::vector<Interval> weights;  // of each key
    Interval log_sum_exp{};
  };
  template <class T>
  Row row(const Call<T>& call, std::int64_t b, std::int64_t h, std::int64_t i) const;
  // out[b, h, i, c] of a row of numbers, before it is rounded to its type.
  template <class T>
  Interval output(const Call<T>& call, const Row& row, std::int64_t b, std::int64_t h,
                  std::int64_t i, std::int64_t c) const;
  // By how much the score of a pair may be off, before and after the softcap, and with biases.
  Interval score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
  Interval capped(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
  Interval biased(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;

  const reference::Attention& oracle() const noexcept { return oracle_; }
  const reference::AttentionResult& result() const noexcept { return result_; }

 private:
  double unit_;     // half a unit in the last place of 1, of the arithmetic
  double rounded_;  // the relative error of a product of two factors of bfloat16, or 0
  reference::Attention oracle_;
  reference::AttentionResult result_;
  // [batch, heads_q, q_len, keys]
  Tensor<double> score_error_, capped_error_, biased_error_;
};

}  // namespace sextant::fuzz
