// The weights of a layer as a list of named tensors, for optimisers and files.
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

// One tensor of a layer; of `const float` to be read only. A layer's gradient is another layer of
// the same type: the lists of both have the same names in the same order.
template <class T>
struct Parameter {
  using Weights = std::conditional_t<std::is_const_v<T>, const Tensor<std::remove_const_t<T>>,
                                     Tensor<std::remove_const_t<T>>>;
  std::string name;  // "encoder.0.attention.in.weight"
  Weights* tensor;   // the layer's own
  bool decays;       // whether weight decay applies: to matrices, not to biases, gains, tables
};
template <class T>
using Parameters = std::vector<Parameter<T>>;

// The same list, to be read only.
template <class T>
Parameters<const T> for_reading(const Parameters<T>& parameters) {
  Parameters<const T> list;
  for (const auto& each : parameters) list.push_back({each.name, each.tensor, each.decays});
  return list;
}

// How many numbers they hold together.
template <class T>
std::int64_t count_of(const Parameters<T>& parameters) noexcept;

// Sets every element to 0.
template <class T>
void set_to_zero(const Parameters<T>& parameters) noexcept;

// Of the files that were read, in order: those of TensorFile::files().
using FileChecksums = std::vector<std::string>;

// A safetensors file of all of them, by name, complete or absent; neither direction takes memory
// for a second copy. Loading converts float32, float64, float16 and bfloat16. It throws Error that
// names the tensor for one that is missing, unknown, or of another shape, and then changes nothing;
// for a file that cannot be read to its end, when some may be changed. `checksums`, unless null,
// become those of the bytes read.
template <class T>
void save_parameters(const std::string& path, const Parameters<T>& parameters,
                     const std::map<std::string, std::string>& metadata = {});
// Throws Error for tensors that loading refuses; reads none.
template <class T>
void check_parameters(const TensorFile& file, const Parameters<T>& parameters);
template <class T>
void load_parameters(const TensorFile& file, const Parameters<T>& parameters,
                     FileChecksums* checksums = nullptr);
template <class T>
void load_parameters(const std::string& path, const Parameters<T>& parameters);

}  // namespace sextant
