// Whether elements of views share memory: results cannot be written to those.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/tensor.h"

namespace sextant {

// An axis along which elements of a view may coincide, or -1. Views that slices, transpositions and
// splits make of an array are nested: ordered by stride, one step of an axis goes beyond all that
// the axes before it reach. Others are treated as coinciding, although a few of them do not.
template <class T>
int coinciding_axis(View<T> view) {
  if (view.count() == 0) return -1;
  std::array<int, kMaxRank> axes{};
  int used = 0;
  const auto step = [&](int axis) { return std::abs(static_cast<double>(view.stride(axis))); };
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (view.size(axis) == 1) continue;  // never stepped along
    int index = used++;
    for (; index > 0 && step(axes[index - 1]) > step(axis); --index) axes[index] = axes[index - 1];
    axes[index] = axis;
  }
  double extent = 0;
  for (int i = 0; i < used; ++i) {
    if (step(axes[i]) <= extent) return axes[i];
    extent += step(axes[i]) * static_cast<double>(view.size(axes[i]) - 1);
  }
  return -1;
}

// Throws Error(where, ...) for a view with elements but a null pointer.
template <class T>
void check_memory(std::string_view where, View<T> view) {
  if (view.count() > 0 && view.data() == nullptr) {
    throw Error(where,
                "must point to " + view.shape().to_string() + " elements, got a null pointer");
  }
}

// The same for results, whose elements must be distinct.
template <class T>
void check_output(std::string_view where, View<T> out) {
  check_memory(where, out);
  const int axis = coinciding_axis(out);
  if (axis < 0) return;
  throw Error(where, "must have an element of its own for every result, got stride " +
                         std::to_string(out.stride(axis)) + " at axis " + std::to_string(axis));
}

// Whether two views certainly share an element. Interleaved views of one allocation may intersect
// without sharing any; those are taken on trust.
template <class A, class B>
bool surely_overlap(View<A> a, View<B> b) {
  if (a.count() == 0 || b.count() == 0) return false;
  if (a.data() == b.data()) return true;
  if (!a.is_contiguous() || !b.is_contiguous()) return false;
  const std::less<const void*> before;
  return before(a.data(), b.data() + b.count()) && before(b.data(), a.data() + a.count());
}

}  // namespace sextant
