// Whether elements of views share memory: results cannot be written to those.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Returns an axis along which elements of a view may coincide, or -1. Views that slices,
// transpositions and splits make of an array are nested: ordered by stride, one step of an axis
// goes beyond everything that the axes before it reach. Others are treated as coinciding, although
// a few of them do not.
template <class V>
int self_overlapping_axis(const V& view) {
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
template <class V>
void check_memory(std::string_view where, const V& view) {
  if (view.count() > 0 && view.data() == nullptr) {
    throw Error(where,
                "must point to " + view.shape().to_string() + " elements, got a null pointer");
  }
}

// The same for results, whose elements must be distinct.
template <class V>
void check_output(std::string_view where, const V& out) {
  check_memory(where, out);
  const int axis = self_overlapping_axis(out);
  if (axis < 0) return;
  throw Error(where, "must have a separate element for every result, got stride " +
                         std::to_string(out.stride(axis)) + " at axis " + std::to_string(axis));
}

// Whether two views of one shape are the same elements in the same order.
template <class T>
bool is_same_view(View<const T> a, View<const T> b) {
  if (a.data() != b.data()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.size(axis) != 1 && a.stride(axis) != b.stride(axis)) return false;
  }
  return true;
}

// Bytes of an element.
template <class T>
std::int64_t element_size(const View<T>&) noexcept {
  return sizeof(T);
}

// The places of a view's elements, of any type, for overlaps().
struct Footprint {
  struct Axis {
    std::int64_t stride, count;  // bytes; both > 0
  };

  template <class V>
  explicit Footprint(const V& view) {
    if (view.count() == 0) return;
    address = reinterpret_cast<std::intptr_t>(view.data());
    add(1, element_size(view));
    for (int axis = 0; axis < view.rank(); ++axis) {
      add(view.stride(axis) * element_size(view), view.size(axis));
    }
  }

  std::intptr_t address = 0;  // of the lowest byte
  std::array<Axis, kMaxRank + 1> axes{};
  int rank = 0;  // 0: no elements

 private:
  void add(std::int64_t stride, std::int64_t count) noexcept;
};

// Returns whether the arrays share a byte. It is exact for all views that slices, transpositions,
// splits and reversals make of arrays; for others, whose strides fit no pattern, it returns false
// if the exact answer would take long.
bool overlaps(const Footprint& a, const Footprint& b);
template <class A, class B>
bool overlaps(View<A> a, View<B> b) {
  return overlaps(Footprint(a), Footprint(b));
}

// The arrays of a call: those it reads, and those it writes, which must not overlap any other.
// Named as a caller names them, within the function.
class CallArrays {
 public:
  explicit CallArrays(std::string_view function) : function_(function) {}

  // A View, or one of any element type.
  template <class V>
  void add_input(std::string_view name, const V& view) {
    add({name, Footprint(view)});
  }
  template <class T>
  void add_input(std::string_view name, const Tensor<T>& tensor) {
    add_input(name, tensor.view());
  }
  template <class T>
  void add_input(std::string_view name, std::span<const T> list) {
    add_input(name, View<const T>(list.data(), {static_cast<std::int64_t>(list.size())}));
  }
  // Throws Error("function.name") where an array that was added before has an element in common, or
  // two elements of the result are one.
  template <class V>
  void add_output(std::string_view name, const V& view) {
    check_output(where(name), view);
    check_apart({name, Footprint(view)});
    add({name, Footprint(view)});
  }

 private:
  struct Named {
    std::string_view name;
    Footprint footprint;
  };
  std::string where(std::string_view name) const;
  void add(const Named& array);
  void check_apart(const Named& output) const;

  std::string_view function_;
  std::vector<Named> arrays_;
};

}  // namespace sextant
