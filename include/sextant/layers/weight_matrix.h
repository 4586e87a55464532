// Holds the matrix of a linear map or of an embedding: as the layer's type, or in 16 bits for
// inference.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "sextant/core/dtype.h"
#include "sextant/core/lifetime.h"
#include "sextant/core/tensor.h"

namespace sextant {

// How a model holds its matrices: as float32 they are those of its file; the others round each
// number once to 16 bits, in half the memory, for inference alone. Biases, gains, and what schemes
// learn stay float32, and so do activations and sums: results have the bits of a float32 model
// whose matrices were rounded.
enum class WeightType { float32, bfloat16, float16 };
std::string_view name_of(WeightType type) noexcept;

// How weights are loaded.
struct WeightOptions {
  WeightType dtype = WeightType::float32;
};

namespace layers {

// Throws Error: the weights have another type than float32.
[[noreturn]] void refuse_narrow(WeightType type);

template <class T>
inline constexpr WeightType weight_type_of = std::is_same_v<T, bfloat16>  ? WeightType::bfloat16
                                             : std::is_same_v<T, float16> ? WeightType::float16
                                                                          : WeightType::float32;

}  // namespace layers

// Borrows rows [rows, columns] of a weight matrix; a row is contiguous.
template <class T>
class WeightView {
 public:
  WeightView() = default;
  // Views a matrix of T or of 16-bit numbers, of rank 2, whose rows are contiguous.
  template <class U>
  WeightView(View<U> rows) noexcept  // NOLINT: a view is one
      : data_(rows.data()),
        shape_(rows.shape()),
        stride_(rows.rank() == 2 ? rows.stride(0) : 0),
        type_(layers::weight_type_of<std::remove_const_t<U>>) {
    static_assert(std::is_same_v<std::remove_const_t<U>, T> || sizeof(U) == 2);
  }
  WeightView(const Tensor<T>& matrix SEXTANT_LIFETIME_BOUND) noexcept  // NOLINT
      : WeightView(matrix.view()) {}

  const Shape& shape() const noexcept { return shape_; }
  std::int64_t size(int axis) const noexcept { return shape_[axis]; }
  WeightType type() const noexcept { return type_; }

  // Returns rows [first, first + count).
  WeightView narrow(std::int64_t first, std::int64_t count) const {
    return with_rows([&](const auto& rows) { return WeightView(rows.narrow(0, first, count)); });
  }
  // Returns the rows as T. Throws Error if they are of 16 bits.
  View<const T> wide() const {
    if (type_ != WeightType::float32) layers::refuse_narrow(type_);
    return rows_of<T>();
  }
  // Calls use(View<const U>) with the type of the elements.
  template <class Use>
  auto with_rows(const Use& use) const {
    switch (type_) {
      case WeightType::bfloat16:
        return use(rows_of<bfloat16>());
      case WeightType::float16:
        return use(rows_of<float16>());
      default:
        return use(rows_of<T>());
    }
  }

 private:
  template <class U>
  View<const U> rows_of() const {
    if (shape_.rank() != 2) return View<const U>(static_cast<const U*>(data_), shape_);
    const std::int64_t strides[] = {stride_, 1};
    return View<const U>(static_cast<const U*>(data_), shape_, strides);
  }

  const void* data_ = nullptr;
  Shape shape_{0};
  std::int64_t stride_ = 0;
  WeightType type_ = WeightType::float32;
};

// Owns a weight matrix. It can be used like a Tensor<T>, except that this throws an Error if it is
// of 16 bits; weights() and shapes are there for any type.
template <class T>
class WeightMatrix {
 public:
  WeightMatrix() = default;
  WeightMatrix(Tensor<T> values) noexcept : elements_(std::move(values)) {}  // NOLINT
  // Makes elements of any value; float32 stands for T.
  static WeightMatrix uninitialized(const Shape& shape, WeightType type);

  const Shape& shape() const noexcept {
    return std::visit([](const auto& tensor) -> const Shape& { return tensor.shape(); }, elements_);
  }
  int rank() const noexcept { return shape().rank(); }
  std::int64_t size(int axis) const noexcept { return shape()[axis]; }
  std::int64_t count() const noexcept {
    return std::visit([](const auto& tensor) { return tensor.count(); }, elements_);
  }
  WeightType type() const noexcept { return static_cast<WeightType>(elements_.index()); }

  // Returns the matrix for products.
  WeightView<T> weights() const noexcept SEXTANT_LIFETIME_BOUND {
    return std::visit([](const auto& tensor) { return WeightView<T>(tensor.view()); }, elements_);
  }
  operator WeightView<T>() const noexcept SEXTANT_LIFETIME_BOUND { return weights(); }
  // Calls use(Tensor<U>&) with the type of the elements.
  template <class Use>
  auto with_tensor(const Use& use) {
    return std::visit(use, elements_);
  }
  template <class Use>
  auto with_tensor(const Use& use) const {
    return std::visit(use, elements_);
  }

  // The elements as T. All below throw an Error if they are of 16 bits.
  Tensor<T>& wide() SEXTANT_LIFETIME_BOUND {
    if (type() != WeightType::float32) layers::refuse_narrow(type());
    return std::get<0>(elements_);
  }
  const Tensor<T>& wide() const SEXTANT_LIFETIME_BOUND {
    return const_cast<WeightMatrix*>(this)->wide();
  }
  T* data() SEXTANT_LIFETIME_BOUND { return wide().data(); }
  const T* data() const SEXTANT_LIFETIME_BOUND { return wide().data(); }
  std::span<T> span() & SEXTANT_LIFETIME_BOUND { return wide().span(); }
  std::span<const T> span() const& SEXTANT_LIFETIME_BOUND { return wide().span(); }
  View<T> view() & SEXTANT_LIFETIME_BOUND { return wide().view(); }
  View<const T> view() const& SEXTANT_LIFETIME_BOUND { return wide().view(); }
  operator View<T>() SEXTANT_LIFETIME_BOUND { return wide().view(); }
  operator View<const T>() const SEXTANT_LIFETIME_BOUND { return wide().view(); }
  template <class... Index>
  T& operator()(Index... index) {
    return wide()(index...);
  }
  template <class... Index>
  const T& operator()(Index... index) const {
    return wide()(index...);
  }
  Tensor<T> clone() const { return wide().clone(); }

 private:
  std::variant<Tensor<T>, Tensor<bfloat16>, Tensor<float16>> elements_;  // as WeightType
};

}  // namespace sextant
