// Defines the templates of tensor.h; include that file.
#pragma once

#include <cassert>
#include <cstring>
#include <numeric>

#include "sextant/core/tensor.h"

namespace sextant {
namespace detail {

// Returns 64-byte aligned memory for `count` elements of `size` bytes each; throws Error if there
// is none. Null for no elements.
void* allocate_elements(std::int64_t count, std::size_t size);

// Checks shared by the views of every type. Each throws Error("view.<name>", ...).
void check_axis(const char* where, int axis, int rank);
void check_index(std::int64_t index, std::int64_t size);
void check_range(std::int64_t begin, std::int64_t length, std::int64_t size);
void check_split(int rank, std::int64_t size, std::int64_t outer);

}  // namespace detail

template <class T>
bool View<T>::is_contiguous() const noexcept {
  if (count() == 0) return true;
  std::int64_t expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (size(axis) == 1) continue;  // there is no step along this axis
    if (stride(axis) != expected) return false;
    expected *= size(axis);
  }
  return true;
}

template <class T>
template <class... Index>
T& View<T>::operator()(Index... index) const noexcept {
  assert(static_cast<int>(sizeof...(index)) == rank());
  std::int64_t offset = 0;
  [[maybe_unused]] int axis = 0;
  ((offset += static_cast<std::int64_t>(index) * stride(axis++)), ...);
  return data_[offset];
}

template <class T>
View<T> View<T>::select(int axis, std::int64_t index) const {
  detail::check_axis("view.select.axis", axis, rank());
  detail::check_index(index, size(axis));
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::size_t kept = 0;
  for (int a = 0; a < rank(); ++a) {
    if (a == axis) continue;
    sizes[kept] = size(a);
    strides[kept++] = stride(a);
  }
  return View(count() == 0 ? data_ : data_ + index * stride(axis),
              Shape(std::span<const std::int64_t>(sizes.data(), kept)),
              std::span<const std::int64_t>(strides.data(), kept));
}

template <class T>
View<T> View<T>::narrow(int axis, std::int64_t begin, std::int64_t length) const {
  detail::check_axis("view.narrow.axis", axis, rank());
  detail::check_range(begin, length, size(axis));
  std::array<std::int64_t, kMaxRank> sizes{};
  std::copy(shape_.begin(), shape_.end(), sizes.begin());
  sizes[static_cast<std::size_t>(axis)] = length;
  const auto used = static_cast<std::size_t>(rank());
  const Shape shape(std::span<const std::int64_t>(sizes.data(), used));
  // For an empty view the first element may lie outside the array, so do not point there.
  T* data = shape.count() == 0 ? data_ : data_ + begin * stride(axis);
  return View(data, shape, std::span<const std::int64_t>(strides_.data(), used));
}

template <class T>
View<T> View<T>::transpose(int axis_a, int axis_b) const {
  detail::check_axis("view.transpose.axis_a", axis_a, rank());
  detail::check_axis("view.transpose.axis_b", axis_b, rank());
  std::array<int, kMaxRank> axes{};
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<std::size_t>(axis_a)], axes[static_cast<std::size_t>(axis_b)]);
  return with_axes({axes.data(), static_cast<std::size_t>(rank())});
}

template <class T>
View<T> View<T>::permute(std::initializer_list<int> axes) const {
  std::array<bool, kMaxRank> taken{};
  bool fits = static_cast<int>(axes.size()) == rank();
  for (const int axis : axes) {
    detail::check_axis("view.permute.axes", axis, rank());
    fits = fits && !std::exchange(taken[static_cast<std::size_t>(axis)], true);
  }
  if (!fits) {
    throw Error("view.permute.axes",
                "must be each of the " + std::to_string(rank()) + " axes once");
  }
  return with_axes({axes.begin(), axes.size()});
}

template <class T>
View<T> View<T>::with_axes(std::span<const int> axes) const {
  std::array<std::int64_t, kMaxRank> sizes{}, strides{};
  for (std::size_t n = 0; n < axes.size(); ++n) {
    sizes[n] = size(axes[n]);
    strides[n] = stride(axes[n]);
  }
  return View(data_, Shape(std::span<const std::int64_t>(sizes.data(), axes.size())),
              std::span<const std::int64_t>(strides.data(), axes.size()));
}

template <class T>
View<T> View<T>::unsqueeze(int axis) const {
  detail::check_axis("view.unsqueeze.axis", axis, rank() + 1);
  if (rank() == kMaxRank) {
    throw Error("view.unsqueeze.axis",
                "must be of a view of at most " + std::to_string(kMaxRank - 1) + " axes");
  }
  std::array<std::int64_t, kMaxRank> sizes{}, strides{};
  for (int n = 0; n <= rank(); ++n) {
    const auto at = static_cast<std::size_t>(n);
    sizes[at] = n == axis ? 1 : size(n - (n > axis));
    strides[at] = n == axis ? 0 : stride(n - (n > axis));
  }
  const auto used = static_cast<std::size_t>(rank()) + 1;
  return View(data_, Shape(std::span<const std::int64_t>(sizes.data(), used)),
              std::span<const std::int64_t>(strides.data(), used));
}

template <class T>
View<T> View<T>::split(int axis, std::int64_t outer) const {
  detail::check_axis("view.split.axis", axis, rank());
  detail::check_split(rank(), size(axis), outer);
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::size_t used = 0;
  for (int a = 0; a < rank(); ++a) {
    if (a == axis) {
      sizes[used] = outer;
      strides[used++] = size(a) / outer * stride(a);
    }
    sizes[used] = a == axis ? size(a) / outer : size(a);
    strides[used++] = stride(a);
  }
  return View(data_, Shape(std::span<const std::int64_t>(sizes.data(), used)),
              std::span<const std::int64_t>(strides.data(), used));
}

template <class T>
Tensor<T>::Tensor(const Shape& shape) : Tensor(uninitialized(shape)) {
  if (data_ != nullptr) {
    std::memset(static_cast<void*>(data_), 0, static_cast<std::size_t>(count()) * sizeof(T));
  }
}

template <class T>
Tensor<T> Tensor<T>::uninitialized(const Shape& shape) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
  Tensor tensor;
  tensor.data_ = static_cast<T*>(detail::allocate_elements(shape.count(), sizeof(T)));
  tensor.shape_ = shape;
  return tensor;
}

template <class T>
Tensor<T> Tensor<T>::clone() const {
  Tensor copy = uninitialized(shape_);
  std::copy_n(data_, count(), copy.data_);
  return copy;
}

template <class T>
Tensor<std::remove_const_t<T>> copy_of(View<T> view) {
  auto copy = Tensor<std::remove_const_t<T>>::uninitialized(view.shape());
  if (copy.count() == 0) return copy;
  if (view.is_contiguous()) {
    std::copy_n(view.data(), view.count(), copy.data());
    return copy;
  }
  // Counts over all axes except the last, which the inner loop uses. A view of rank 0 is
  // contiguous, so there is a last axis.
  const int last = view.rank() - 1;
  const std::int64_t row = view.size(last);
  const std::int64_t step = view.stride(last);
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t offset = 0;
  auto* out = copy.data();
  const auto* end = out + copy.count();
  while (true) {
    for (std::int64_t i = 0; i < row; ++i) *out++ = view.data()[offset + i * step];
    if (out == end) return copy;
    for (int axis = last - 1; axis >= 0; --axis) {
      auto& i = index[static_cast<std::size_t>(axis)];
      offset += view.stride(axis);
      if (++i < view.size(axis)) break;
      offset -= view.size(axis) * view.stride(axis);
      i = 0;
    }
  }
}

}  // namespace sextant
