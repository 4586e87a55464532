// ONNX's Attention (opsets 23 to 25) composed of attention() and attention_weights(): what those do
// not take as an argument (a cache to append to, heads inside the last axis, masks that are too
// short, a softmax of few digits) is made here, before or after the call.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "onnx/case.h"
#include "onnx/narrow_softmax.h"
#include "sextant/attention/attention.h"

namespace sextant::onnx {
namespace {

enum Input : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths, kInputs };
enum Output : std::size_t { kY, kPresentKey, kPresentValue, kScores, kOutputs };
constexpr std::array<std::string_view, 9> kAttributes = {"is_causal",
                                                         "kv_num_heads",
                                                         "left_window_size",
                                                         "q_num_heads",
                                                         "qk_matmul_output_mode",
                                                         "right_window_size",
                                                         "scale",
                                                         "softcap",
                                                         "softmax_precision"};

// ONNX's numbers of the element types that a softmax may run in.
std::optional<DType> softmax_type(const Case& c) {
  if (!c.has_attribute("softmax_precision")) return {};
  switch (const std::int64_t number = c.integer("softmax_precision", 0)) {
    case 1:
      return DType::float32;
    case 10:
      return DType::float16;
    case 11:
      return DType::float64;
    case 16:
      return DType::bfloat16;
    default:
      throw Error("softmax_precision", "must be 1, 10, 11 or 16, got " + std::to_string(number));
  }
}

bool is_number_type(DType type) {
  return type == DType::float16 || type == DType::bfloat16 || type == DType::float32 ||
         type == DType::float64;
}

// [batch, heads, past + length, dim]: past, then x, along the length axis.
template <class T>
Tensor<T> appended(View<const T> past, View<const T> x) {
  for (const int axis : {0, 1, 3}) {
    if (past.rank() != 4 || past.size(axis) != x.size(axis)) {
      throw Error("past", "must be as " + x.shape().to_string() + " but for the length, got " +
                              past.shape().to_string());
    }
  }
  const std::int64_t before = past.size(2);
  Tensor<T> both(Shape{x.size(0), x.size(1), before + x.size(2), x.size(3)});
  T* target = both.data();
  for (std::int64_t b = 0; b < both.size(0); ++b)
    for (std::int64_t h = 0; h < both.size(1); ++h)
      for (std::int64_t j = 0; j < both.size(2); ++j)
        for (std::int64_t d = 0; d < both.size(3); ++d)
          *target++ = j < before ? past(b, h, j, d) : x(b, h, j - before, d);
  return both;
}

// A mask whose last axis has a place for every key: those it lacks are excluded. An axis of one is
// short as well, and not repeated.
template <class M>
Tensor<M> lengthened(Tensor<M> mask, std::int64_t keys, M excluded) {
  if (mask.rank() < 1 || mask.rank() > 4) {
    throw Error("attn_mask", "must have rank 1 to 4, got " + mask.shape().to_string());
  }
  std::vector<std::int64_t> sizes(mask.shape().begin(), mask.shape().end());
  const std::int64_t old = std::exchange(sizes.back(), keys);
  if (old >= keys) return mask;  // the operator refuses one that is too long
  Tensor<M> longer{Shape(sizes)};
  for (std::int64_t n = 0; n < longer.count(); ++n) {
    const std::int64_t j = n % keys;
    longer.data()[n] = j < old ? mask.data()[n / keys * old + j] : excluded;
  }
  return longer;
}

// The inputs of a case in the form that the operator takes; the views look into the tensors.
template <class T>
struct Call {
  explicit Call(const Case& c);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Tensor<T> q_array, k_array, v_array;
  Tensor<T> past_and_k, past_and_v;  // [batch, heads, past + length, dim], when there is a past
  View<const T> q, k, v;             // [batch, heads, length, dim]
  std::vector<std::int64_t> key_lengths, offsets;
  Tensor<bool> bool_mask;
  Tensor<std::conditional_t<std::same_as<T, double>, double, float>> float_mask;
  AttentionOptions<T> options;

 private:
  void place(const Case& c, std::int64_t past);
  void hide(const Case& c);
};

template <class T>
Call<T>::Call(const Case& c)
    : q_array(c.input(kQ).to<T>()), k_array(c.input(kK).to<T>()), v_array(c.input(kV).to<T>()) {
  q = by_heads(c, q_array, "q_num_heads", "Q");
  k = by_heads(c, k_array, "kv_num_heads", "K");
  v = by_heads(c, v_array, "kv_num_heads", "V");
  std::int64_t past = 0;
  if (c.has_input(kPastKey) != c.has_input(kPastValue)) {
    throw Error("past_key", "must come together with past_value");
  }
  if (c.has_input(kPastKey)) {
    past_and_k = appended<T>(c.input(kPastKey).to<T>(), k);
    past_and_v = appended<T>(c.input(kPastValue).to<T>(), v);
    past = past_and_k.size(2) - k.size(2);
    k = past_and_k;
    v = past_and_v;
  }
  place(c, past);
  hide(c);
  options.softcap = std::max(0.0, c.number("softcap").value_or(0));  // at or below 0: off
  options.scale = c.number("scale");
}

// Query i's own key is i + past, or i + valid keys - queries in a buffer of which not all is valid.
template <class T>
void Call<T>::place(const Case& c, std::int64_t past) {
  offsets.assign(static_cast<std::size_t>(q.size(0)), past);
  if (c.has_input(kLengths)) {
    if (c.has_input(kPastKey)) {
      throw Error("nonpad_kv_seqlen", "must not come together with past_key");
    }
    const auto lengths = c.input(kLengths).to<std::int64_t>();
    if (!(lengths.shape() == Shape{q.size(0)})) {
      throw Error("nonpad_kv_seqlen", "must be " + Shape{q.size(0)}.to_string() + ", got " +
                                          lengths.shape().to_string());
    }
    key_lengths.assign(lengths.span().begin(), lengths.span().end());
    for (std::size_t b = 0; b < offsets.size(); ++b) offsets[b] = key_lengths[b] - q.size(2);
    options.key_lengths = key_lengths;
  }
  options.query_offsets = offsets;
  options.causal = c.integer("is_causal", 0) != 0 ? Causal::at_offsets : Causal::none;
  options.window = {c.integer("left_window_size", -1), c.integer("right_window_size", -1)};
}

template <class T>
void Call<T>::hide(const Case& c) {
  if (!c.has_input(kMask)) return;
  const Array mask = c.input(kMask);
  if (mask.dtype == DType::boolean) {
    bool_mask = lengthened(mask.to<bool>(), k.size(2), false);
    options.mask = bool_mask;
  } else if (is_number_type(mask.dtype)) {
    using Number = std::remove_pointer_t<decltype(float_mask.data())>;
    float_mask = lengthened(mask.to<Number>(), k.size(2), -std::numeric_limits<Number>::infinity());
    options.mask = float_mask;
  } else {
    throw Error("attn_mask",
                "must be bool or floating-point, got " + std::string(dtype_name(mask.dtype)));
  }
}

// Runs the case with elements of T.
template <class T>
Verdict run(const Case& c, std::optional<DType> softmax) {
  const Call<T> call(c);
  const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    throw Error("qk_matmul_output_mode", "must be 0 to 3, got " + std::to_string(mode));
  }
  const auto stage = static_cast<Stage>(mode);
  Tensor<T> y(Shape{call.q.size(0), call.q.size(1), call.q.size(2), call.v.size(3)}), scores;
  attention<T>(call.q, call.k, call.v, y, call.options);
  if (c.has_output(kScores)) {
    scores = attention_weights<T>(call.q, call.k, call.options, {.stage = stage});
  }
  if constexpr (std::same_as<T, double>) {
    if (softmax == DType::float16 || softmax == DType::bfloat16) {
      auto weights = narrow_softmax(
          attention_weights<T>(call.q, call.k, call.options, {.stage = Stage::biased}), *softmax);
      weigh(weights, call.v, y);
      if (stage == Stage::probabilities) scores = std::move(weights);
    }
  }

  Verdict verdict;
  const DType q_type = c.input_type(kQ);
  const auto joined = in_rank(call.q_array.rank(), std::move(y));
  c.compare<T>(kY, q_type, joined, Compare::within_tolerance, verdict);
  c.compare<T>(kPresentKey, c.input_type(kK), call.k, Compare::exactly, verdict);
  c.compare<T>(kPresentValue, c.input_type(kV), call.v, Compare::exactly, verdict);
  c.compare<T>(kScores, q_type, scores, Compare::within_tolerance, verdict);
  return verdict;
}

}  // namespace

Verdict run_attention(const Case& c) {
  c.expect(kInputs, kOutputs, kAttributes);
  const auto softmax = softmax_type(c);
  const DType q = c.input_type(kQ);
  // Also for a softmax of few digits: which way its scores round should not depend on ours.
  bool same = true, wide = softmax.value_or(DType::float32) != DType::float32;
  for (const auto position : {kQ, kK, kV}) {
    const DType type = c.input_type(position);
    if (!is_number_type(type)) {
      throw Error("inputs", "must be floating-point, got " + std::string(dtype_name(type)));
    }
    same = same && type == q;
    wide = wide || type == DType::float64;
  }
  // Arrays of different types meet in one that holds them all.
  if (wide) return run<double>(c, softmax);
  if (!same || q == DType::float32) return run<float>(c, softmax);
  return q == DType::float16 ? run<float16>(c, softmax) : run<bfloat16>(c, softmax);
}

}  // namespace sextant::onnx
