// The attention operator in a layer: of one process, or over a sequence that is divided.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/simd/philox.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
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

// Returns the key of the dropout of weights; unset: all stay. Calls without dropout take no stream,
// so the random numbers of the other layers are those of a pass without it.
inline std::optional<RandomKey> next_dropout_key(Pass& pass) {
  if (pass.attention_dropout == 0) return {};
  if (pass.context_parallel != nullptr) {
    throw Error("pass.attention_dropout",
                "must be 0 where sequences are divided among processes, got " +
                    shortest(pass.attention_dropout));
  }
  return pass.next_random();
}

// The operator's seed for a key. The 2 differs from all counters of the other dropouts.
inline std::uint64_t seed_of(const RandomKey& key) {
  const auto random = kernels::philox(
      {0, 0, key.stream, 2},
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
  return std::uint64_t{random[1]} << 32 | random[0];
}

// `what` has no way to work on a part of a batch.
inline void check_whole(const Pass& pass, const char* what) {
  if (pass.context_parallel == nullptr) return;
  throw Error(what,
              "must have all tokens in one process; only the loss of a language model in "
              "float32 works on a sequence that is divided");
}

}  // namespace sextant::layers
