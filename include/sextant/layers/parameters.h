// Lists the weights of a layer as named tensors, for optimisers and files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

class TensorFile;

// Points to a tensor of a layer: to numbers of T, or to a matrix that may be of 16 bits, which only
// functions that load it take. `const float` for reading only.
template <class T>
class ParameterPointer {
  using Value = std::remove_const_t<T>;
  template <class Holder>
  using Of = std::conditional_t<std::is_const_v<T>, const Holder, Holder>;

 public:
  using Weights = Of<Tensor<Value>>;
  using Matrix = Of<WeightMatrix<Value>>;
  ParameterPointer(Weights* tensor) noexcept : tensor_(tensor) {}  // NOLINT
  ParameterPointer(Matrix* matrix) noexcept : matrix_(matrix) {}   // NOLINT
  operator ParameterPointer<const T>() const noexcept requires(!std::is_const_v<T>) {
    if (matrix_ != nullptr) return static_cast<const WeightMatrix<Value>*>(matrix_);
    return static_cast<const Tensor<Value>*>(tensor_);
  }

  friend bool operator==(const ParameterPointer&, const ParameterPointer&) = default;

  // Throw Error if the numbers are of 16 bits.
  Weights& operator*() const { return matrix_ != nullptr ? matrix_->wide() : *tensor_; }
  Weights* operator->() const { return &**this; }

  const Shape& shape() const noexcept {
    return matrix_ != nullptr ? matrix_->shape() : tensor_->shape();
  }
  std::int64_t count() const noexcept {
    return matrix_ != nullptr ? matrix_->count() : tensor_->count();
  }
  // Calls use(tensor) with the tensor of its type.
  template <class Use>
  auto with_tensor(const Use& use) const {
    return matrix_ != nullptr ? matrix_->with_tensor(use) : use(*tensor_);
  }

 private:
  Weights* tensor_ = nullptr;
  Matrix* matrix_ = nullptr;
};

// One tensor of a layer; `const float` for reading only. A layer's gradient is another layer of the
// same type: the lists of both have the same names in the same order.
template <class T>
struct Parameter {
  std::string name;            // "encoder.0.attention.in.weight"
  ParameterPointer<T> tensor;  // belongs to the layer
  bool decays;  // whether weight decay applies: to matrices, not to biases, gains, tables
};
template <class T>
using Parameters = std::vector<Parameter<T>>;

// Returns the same list for reading only.
template <class T>
Parameters<const T> for_reading(const Parameters<T>& parameters) {
  Parameters<const T> list;
  for (const auto& each : parameters) list.push_back({each.name, each.tensor, each.decays});
  return list;
}

// Copies the numbers of a parameter to one of the same shape and type.
template <class T>
void copy_parameter(const Parameter<const T>& from, const Parameter<T>& to) {
  from.tensor.with_tensor([&](const auto& numbers) {
    to.tensor.with_tensor([&](auto& place) {
      if constexpr (std::is_same_v<decltype(numbers.data()),
                                   decltype(std::as_const(place).data())>) {
        std::ranges::copy(numbers.span(), place.data());
      }
    });
  });
}

// Returns the number of all their elements.
template <class T>
std::int64_t count_of(const Parameters<T>& parameters) noexcept;

// Sets every element to 0.
template <class T>
void set_to_zero(const Parameters<T>& parameters) noexcept;

// The checksums of the files that were read, in the order of TensorFile::files().
using FileChecksums = std::vector<std::string>;

// Save and load all parameters by name in a safetensors file, which is complete or absent, without
// memory for a second copy. Loading converts float32, float64, float16 and bfloat16. It throws an
// Error with the tensor for one that is missing, unknown, or of another shape, and then changes
// nothing; for a file that cannot be read to its end, some may have changed. `checksums`, unless
// null, becomes those of the read bytes. Matrices of 16 bits are loaded, and are not saved.
template <class T>
void save_parameters(const std::string& path, const Parameters<T>& parameters,
                     const std::map<std::string, std::string>& metadata = {});
// Throws Error for tensors that loading would refuse; reads none.
template <class T>
void check_parameters(const TensorFile& file, const Parameters<T>& parameters);
template <class T>
void load_parameters(const TensorFile& file, const Parameters<T>& parameters,
                     FileChecksums* checksums = nullptr);
template <class T>
void load_parameters(const std::string& path, const Parameters<T>& parameters);

}  // namespace sextant
