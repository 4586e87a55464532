// Takes the numbers of charts: views and tensors of any float type.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Borrows numbers of float64, as MemberView does, and copies those of another type.
class NumbersView : public MemberView<const double> {
 public:
  using MemberView<const double>::MemberView;
  template <Floating T>
  requires(!std::is_same_v<T, double>) NumbersView(View<const T> numbers)
      : NumbersView(std::make_shared<const Tensor<double>>(widened(numbers))) {}
  template <Floating T>
  requires(!std::is_same_v<T, double>) NumbersView(View<T> numbers)
      : NumbersView(View<const T>(numbers)) {}
  template <Floating T>
  requires(!std::is_same_v<T, double>) NumbersView(const Tensor<T>& numbers)
      : NumbersView(numbers.view()) {}

 private:
  explicit NumbersView(std::shared_ptr<const Tensor<double>> copy)
      : MemberView<const double>(*copy), copy_(std::move(copy)) {}

  template <class T>
  static Tensor<double> widened(View<const T> numbers) {
    const auto dense = copy_of(numbers);
    auto wide = Tensor<double>::uninitialized(dense.shape());
    std::ranges::transform(dense.span(), wide.data(),
                           [](T number) { return static_cast<double>(number); });
    return wide;
  }

  std::shared_ptr<const Tensor<double>> copy_;
};

}  // namespace sextant
