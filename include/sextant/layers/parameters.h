// Lists the weights of a layer as named tensors, for optimisers and files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

class TensorFile;

// One tensor of a layer; `const float` for reading only. A layer's gradient is another layer of the
// same type: the lists of both have the same names in the same order.
template <class T>
struct Parameter {
  using Weights = std::conditional_t<std::is_const_v<T>, const Tensor<std::remove_const_t<T>>,
                                     Tensor<std::remove_const_t<T>>>;
  std::string name;  // "encoder.0.attention.in.weight"
  Weights* tensor;   // belongs to the layer
  bool decays;       // whether weight decay applies: to matrices, not to biases, gains, tables
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
// null, becomes those of the read bytes.
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
