// The three algorithms of a checked call. Shardings are contiguous or zigzag, for ulysses any.
#pragma once

#include "ranks/attention/call.h"

namespace sextant::ranks {

// The algorithm of a checked call: the one that was asked for, or the one that plan() expects to be
// fastest. Throws Error, on all ranks, where it cannot take the call.
template <class T>
Algorithm algorithm_of(const char* function, const CallShape<T>& call);

// Not for float64 and content terms.
template <class T>
void ring_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp);

template <class T>
void gather_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp);

// On as many ranks as there are key heads, at most.
template <class T>
void ulysses_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp);

template <class T>
struct BackwardCall {
  const Call<T>& call;
  View<const T> out, dout;
  View<const float> log_sum_exp;
  const AttentionGradients<T>& wanted;
};

// Returns false, on all ranks, where something is not finite: the results are of no use then.
template <class T>
bool ring_backward(const BackwardCall<T>& call);
// `on_one`: all heads on rank 0.
template <class T>
void ulysses_backward(const BackwardCall<T>& call, bool on_one);

}  // namespace sextant::ranks
