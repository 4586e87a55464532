// The attention operator in a layer: of one process, or over a sequence that is divided.
#pragma once

#include <type_traits>

#include "sextant/core/error.h"
#include "sextant/layers/context_parallel.h"

namespace sextant::layers {

template <class T>
void attend(const Pass& pass, View<const T> q, View<const T> k, View<const T> v, View<T> out,
            const AttentionOptions<T>& options, View<float> log_sum_exp) {
  if constexpr (std::is_same_v<T, float>) {
    if (pass.context_parallel != nullptr) {
      return pass.context_parallel->attention(q, k, v, out, options, log_sum_exp);
    }
  }
  attention<T>(q, k, v, out, options, log_sum_exp);
}

template <class T>
void attend_backward(const Pass& pass, View<const T> q, View<const T> k, View<const T> v,
                     View<const T> out, View<const T> dout, const AttentionGradients<T>& gradients,
                     const AttentionOptions<T>& options, View<const float> log_sum_exp) {
  if constexpr (std::is_same_v<T, float>) {
    if (pass.context_parallel != nullptr) {
      return pass.context_parallel->attention_backward(q, k, v, out, dout, gradients, options,
                                                       log_sum_exp);
    }
  }
  attention_backward<T>(q, k, v, out, dout, gradients, options, log_sum_exp);
}

// `what` has no way to work on a part of a batch.
inline void check_whole(const Pass& pass, const char* what) {
  if (pass.context_parallel == nullptr) return;
  throw Error(what,
              "must have all tokens in one process; only the loss of a language model in "
              "float32 works on a sequence that is divided");
}

}  // namespace sextant::layers
