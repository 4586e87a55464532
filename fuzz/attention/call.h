// A call of the attention operator made from the fuzzer's bytes, and what its options mean, said
// pair by pair.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attention/strided.h"
#include "choices.h"
#include "sextant/attention/attention.h"

namespace sextant::fuzz {

// A bias that is a formula of the pair; every seventh of some diagonals is hidden.
class Checkered : public ScoreTerm {
 public:
  double at(std::int64_t head, std::int64_t query, std::int64_t key) const noexcept;
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override;
};

// What a key or query that nobody may look at holds.
enum class Poison { none, nan, infinity };

template <class T>
struct Call {
  using Wide = std::conditional_t<std::same_as<T, double>, double, float>;

  explicit Call(Choices& choices);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::int64_t batch, heads_q, kv_heads, q_len, k_len, head_dim, v_dim;
  Strided<T> q, k, v, out;
  Strided<bool> bool_mask;
  Strided<Wide> float_mask;
  Strided<float> log_sum_exp;
  std::vector<std::int64_t> offsets, key_lengths, segments, key_segments;
  std::vector<double> sinks;
  DistanceBias bias;
  Checkered indexed;
  RotationTable<float> rotation;
  AttentionOptions<T> options;
  // [batch, kv_heads, k_len] and [batch, heads_q, q_len]: where k or v, and q, are no numbers.
  Tensor<Poison> bad_k, bad_v, bad_q;

  std::int64_t group() const noexcept { return heads_q / kv_heads; }
  // Where the sequence of a query, or that of a key, has its first query or key in the batch row.
  std::int64_t query_begin(std::int64_t i) const noexcept;
  std::int64_t key_begin(std::int64_t j) const noexcept;
  bool are_apart(std::int64_t i, std::int64_t j) const noexcept;  // of different sequences
  std::int64_t diagonal_key(std::int64_t b,
                            std::int64_t i) const noexcept;  // counted from key_begin()
  // As -infinity in a bias hides, hidden pairs are those of -infinity here.
  double added(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept;
  // The sum of the magnitudes of what is added.
  double weight_of_added(std::int64_t b, std::int64_t h, std::int64_t i,
                         std::int64_t j) const noexcept;

 private:
  void choose_shapes(Choices& choices);
  void choose_places(Choices& choices);
  void choose_masks(Choices& choices, NumpyRandom& random);
  void choose_biases(Choices& choices, NumpyRandom& random);
  void choose_rotation(Choices& choices, NumpyRandom& random);
  void choose_poison(Choices& choices, NumpyRandom& random);
  bool sees(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept;
  template <class Visit>
  void each_bias(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j,
                 Visit&& visit) const;
};

}  // namespace sextant::fuzz
