// Defines arrays: a Tensor owns its elements, a View borrows them with any strides. Both are
// row-major unless a view has other strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/lifetime.h"

namespace sextant {

inline constexpr int kMaxRank = 8;
inline constexpr std::size_t kAlignment = 64;  // bytes: a cache line and a full AVX-512 vector

// Holds the lengths of the axes, outermost first, up to kMaxRank of them, without heap memory.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes)
      : Shape(std::span<const std::int64_t>(sizes.begin(), sizes.size())) {}
  // Throws Error for a rank above 8, a negative size, or a product above 2^62 (without zeros).
  explicit Shape(std::span<const std::int64_t> sizes);

  int rank() const noexcept { return rank_; }
  std::int64_t operator[](int axis) const noexcept {
    return sizes_[static_cast<std::size_t>(axis)];
  }
  std::int64_t count() const noexcept;  // returns the product of the sizes, 1 for rank 0
  const std::int64_t* begin() const noexcept { return sizes_.data(); }
  const std::int64_t* end() const noexcept { return sizes_.data() + rank_; }
  std::string to_string() const;  // returns "[2, 8, 128, 64]"
  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

// Borrows elements of another object. Copying a view copies no element. Strides count elements and
// may be 0 or negative.
template <class T>
class View {
 public:
  View() = default;  // no elements
  // Views contiguous, row-major data.
  View(T* data, const Shape& shape) noexcept : data_(data), shape_(shape) {
    std::int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      strides_[static_cast<std::size_t>(axis)] = stride;
      stride *= shape[axis];
    }
  }
  View(T* data, const Shape& shape, std::span<const std::int64_t> strides)
      : data_(data), shape_(shape) {
    if (static_cast<int>(strides.size()) != shape.rank())
      throw Error("view.strides", "must have one entry per axis");
    std::copy(strides.begin(), strides.end(), strides_.begin());
  }
  // A writable view converts to a read-only one.
  operator View<const T>() const noexcept requires(!std::is_const_v<T>) {
    return View<const T>(data_, shape_,
                         std::span(strides_.data(), static_cast<std::size_t>(shape_.rank())));
  }

  T* data() const noexcept { return data_; }
  const Shape& shape() const noexcept { return shape_; }
  int rank() const noexcept { return shape_.rank(); }
  std::int64_t size(int axis) const noexcept { return shape_[axis]; }
  std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }
  std::int64_t count() const noexcept { return shape_.count(); }
  bool is_contiguous() const noexcept;

  // Returns the element at one index per axis.
  template <class... Index>
  T& operator()(Index... index) const noexcept;

  // Return views of a slice, or of the same elements in another shape: select drops the axis;
  // narrow keeps [begin, begin + length) of it; transpose swaps two axes; permute puts axis axes[n]
  // at place n; unsqueeze adds an axis of size 1 before `axis`; split turns [.., n, ..] into [..,
  // outer, n / outer, ..], for example width into heads x head_dim. Each throws Error for an axis
  // or a range outside this view. Example: q is in the first columns of rows of q, k and v
  // together, [length, (heads + 2 kv_heads) head_dim]; rows.narrow(1, 0, heads * head_dim).split(1,
  // heads).permute({1, 0, 2}).unsqueeze(0) is q as attention() takes it, [1, heads, length,
  // head_dim].
  View select(int axis, std::int64_t index) const;
  View narrow(int axis, std::int64_t begin, std::int64_t length) const;
  View transpose(int axis_a, int axis_b) const;
  View permute(std::initializer_list<int> axes) const;
  View unsqueeze(int axis) const;
  View split(int axis, std::int64_t outer) const;

 private:
  View with_axes(std::span<const int> axes) const;

  T* data_ = nullptr;
  Shape shape_{0};
  std::array<std::int64_t, kMaxRank> strides_{};
};

// Owns its elements: contiguous, row-major, 64-byte aligned, initially zero. It moves; clone()
// copies.
template <class T>
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Shape& shape);  // throws Error if there is not enough memory
  // Makes elements of any value, for tables that will be filled: the thread that fills a page
  // touches it first.
  static Tensor uninitialized(const Shape& shape);
  Tensor(Tensor&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), shape_(std::exchange(other.shape_, Shape{0})) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(shape_, other.shape_);
    return *this;
  }
  ~Tensor() { ::operator delete (data_, std::align_val_t{kAlignment}); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  const Shape& shape() const noexcept { return shape_; }
  int rank() const noexcept { return shape_.rank(); }
  std::int64_t size(int axis) const noexcept { return shape_[axis]; }
  std::int64_t count() const noexcept { return data_ == nullptr ? 0 : shape_.count(); }

  // Views and spans are valid as long as the tensor. A temporary has none, but may be passed to a
  // function that takes a view.
  std::span<T> span() & noexcept SEXTANT_LIFETIME_BOUND {
    return {data_, static_cast<std::size_t>(count())};
  }
  std::span<const T> span() const& noexcept SEXTANT_LIFETIME_BOUND {
    return {data_, static_cast<std::size_t>(count())};
  }
  void span() const&& = delete;
  View<T> view() & noexcept SEXTANT_LIFETIME_BOUND { return View<T>(data_, shape_); }
  View<const T> view() const& noexcept SEXTANT_LIFETIME_BOUND {
    return View<const T>(data_, shape_);
  }
  void view() const&& = delete;
  operator View<T>() noexcept SEXTANT_LIFETIME_BOUND { return view(); }
  operator View<const T>() const noexcept SEXTANT_LIFETIME_BOUND { return view(); }

  template <class... Index>
  T& operator()(Index... index) noexcept {
    return view()(index...);
  }
  template <class... Index>
  const T& operator()(Index... index) const noexcept {
    return view()(index...);
  }

  Tensor clone() const;

 private:
  T* data_ = nullptr;
  Shape shape_{0};
};

// A view as the member of a struct that is used later; it refuses a temporary tensor.
template <class T>
class MemberView : public View<T> {
 public:
  MemberView() = default;
  MemberView(View<T> view) noexcept : View<T>(view) {}
  MemberView(View<std::remove_const_t<T>> view) noexcept requires std::is_const_v<T>
      : View<T>(view) {}
  MemberView(Tensor<std::remove_const_t<T>>& tensor) noexcept : View<T>(tensor) {}
  MemberView(const Tensor<std::remove_const_t<T>>& tensor) noexcept requires std::is_const_v<T>
      : View<T>(tensor) {}
  MemberView(const Tensor<std::remove_const_t<T>>&&) = delete;
};

// Returns a contiguous copy of any view.
template <class T>
Tensor<std::remove_const_t<T>> copy_of(View<T> view);

}  // namespace sextant

#include "sextant/core/tensor-inl.h"
