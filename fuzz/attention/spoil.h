// Mistakes that a caller may make: each turns a valid call into one that must be refused.
#pragma once

#include "call.h"

namespace sextant::fuzz {

// The arrays and options as they are handed over.
template <class T>
struct Handed {
  View<const T> q, k, v;
  View<T> out;
  AttentionOptions<T> options;
  View<float> log_sum_exp;
  // What a mistake made and must outlive the call.
  std::vector<std::int64_t> integers{};
  std::vector<double> numbers{};
  DistanceBias bias{};
  RotationTable<float> rotation{};
  Tensor<bool> mask{};
};

template <class T>
Handed<T> handed(const Call<T>& call) {
  return {call.q.view,   call.k.view,  call.v.view,
          call.out.view, call.options, call.log_sum_exp.view};
}

// Returns false when the mistake cannot be made with this call.
template <class T>
bool spoil(Handed<T>& h, const Call<T>& call, Choices& choices);

}  // namespace sextant::fuzz
