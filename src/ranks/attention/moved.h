// A striped call as a zigzag one: every second, third, ... position is no block of the operator, so
// rows change ranks before and after.
#pragma once

#include "ranks/attention/call.h"

namespace sextant::ranks {

template <class T>
class MovedCall {
 public:
  explicit MovedCall(const Call<T>& call);
  MovedCall(const MovedCall&) = delete;
  MovedCall& operator=(const MovedCall&) = delete;

  const Call<T>& call() const noexcept { return moved_; }

  // An array [batch, heads, own queries or keys, ...] there, and one that was made there back.
  template <class E>
  Tensor<E> there(View<const E> part, bool of_queries, int axis = 2) const;
  template <class E>
  void back(const Tensor<E>& part, bool of_queries, View<E> to, int axis = 2) const;

 private:
  const Call<T>& from_;
  Call<T> moved_;
  Tensor<T> q_, k_, v_;
  Tensor<bool> bool_mask_;
  Tensor<typename Arguments<T>::Mask> float_mask_;
};

}  // namespace sextant::ranks
