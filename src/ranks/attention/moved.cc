// Rows from a striped division to a zigzag one and back.
#include "ranks/attention/moved.h"

#include "ranks/rows.h"

namespace sextant::ranks {

template <class T>
MovedCall<T>::MovedCall(const Call<T>& call)
    : from_(call), moved_{call.divided(Division::zigzag), call.comm, call.options, {}, {}, {}} {
  q_ = there<T>(call.q, true);
  k_ = there<T>(call.k, false);
  v_ = there<T>(call.v, false);
  moved_.q = std::as_const(q_).view();
  moved_.k = std::as_const(k_).view();
  moved_.v = std::as_const(v_).view();
  const auto move_mask = [&](const auto& mask, auto& room) {
    using Element = std::remove_cvref_t<decltype(*room.data())>;
    if (!call.mask_by_row) return;
    room = there<Element>(mask, true, mask.rank() - 2);
    moved_.options.mask = View<const Element>(std::as_const(room).view());
  };
  if (const auto* mask = std::get_if<BoolMask>(&call.options.mask)) {
    move_mask(BoolMask(*mask), bool_mask_);
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&call.options.mask)) {
    move_mask(FloatMask<T>(*floats), float_mask_);
  }
}

template <class T>
template <class E>
Tensor<E> MovedCall<T>::there(View<const E> part, bool of_queries, int axis) const {
  return redistribute<E>(from_.comm, part, of_queries ? from_.q_layout : from_.k_layout,
                         of_queries ? moved_.q_layout : moved_.k_layout, axis);
}

template <class T>
template <class E>
void MovedCall<T>::back(const Tensor<E>& part, bool of_queries, View<E> to, int axis) const {
  const Tensor<E> rows =
      redistribute<E>(from_.comm, part.view(), of_queries ? moved_.q_layout : moved_.k_layout,
                      of_queries ? from_.q_layout : from_.k_layout, axis);
  copy_view<E>(rows.view(), to);
}

#define SEXTANT_INSTANTIATE(T)                                            \
  template class MovedCall<T>;                                            \
  template Tensor<T> MovedCall<T>::there(View<const T>, bool, int) const; \
  template void MovedCall<T>::back(const Tensor<T>&, bool, View<T>, int) const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE
#define SEXTANT_INSTANTIATE(T)                                                    \
  template Tensor<float> MovedCall<T>::there(View<const float>, bool, int) const; \
  template void MovedCall<T>::back(const Tensor<float>&, bool, View<float>, int) const;
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
