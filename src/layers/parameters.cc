// Lists of parameters and their files.
#include "sextant/layers/parameters.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace sextant {

template <class T>
std::int64_t count_of(const Parameters<T>& parameters) noexcept {
  std::int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.tensor->count();
  return count;
}

template <class T>
void set_to_zero(const Parameters<T>& parameters) noexcept {
  for (const auto& parameter : parameters) std::ranges::fill(parameter.tensor->span(), T{});
}

template <class T>
void save_parameters(const std::string& path, const Parameters<T>& parameters,
                     const std::map<std::string, std::string>& metadata) {
  std::map<std::string, Array> arrays;
  for (const auto& [name, tensor, decays] : parameters) {
    Array array;
    array.dtype = dtype_of<std::remove_const_t<T>>;
    array.shape = tensor->shape();
    const auto bytes = std::as_bytes(tensor->span());
    array.bytes = Tensor<std::byte>::uninitialized({static_cast<std::int64_t>(bytes.size())});
    std::ranges::copy(bytes, array.bytes.data());
    if (!arrays.emplace(name, std::move(array)).second) {
      throw Error("save_parameters.parameters", "must have different names, got two " + name);
    }
  }
  save_safetensors(path, arrays, metadata);
}

template <class T>
void load_parameters(const std::string& path, const Parameters<T>& parameters) {
  load_parameters(load_safetensors(path), path, parameters);
}

template <class T>
void load_parameters(SafetensorsFile file, const std::string& where,
                     const Parameters<T>& parameters) {
  std::set<std::string> unknown;
  for (const auto& [name, array] : file.tensors) unknown.insert(name);
  for (const auto& [name, tensor, decays] : parameters) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) throw Error(where, "must hold the tensor " + name);
    const Array& array = found->second;
    if (array.shape != tensor->shape()) {
      throw Error(where, "must hold " + name + " of shape " + tensor->shape().to_string() +
                             ", got " + array.shape.to_string());
    }
    if (!is_float(array.dtype)) {
      throw Error(where, "must hold floating-point numbers for " + name);
    }
    unknown.erase(name);
  }
  if (!unknown.empty()) {
    throw Error(where, "must hold only tensors of the model, got " + *unknown.begin());
  }
  for (const auto& [name, tensor, decays] : parameters) {
    const auto released = file.tensors.extract(name);
    const Array& array = released.mapped();
    *tensor = array.to<T>();
  }
}

#define SEXTANT_READ(T)                                                   \
  template std::int64_t count_of(const Parameters<T>&) noexcept;          \
  template void save_parameters(const std::string&, const Parameters<T>&, \
                                const std::map<std::string, std::string>&);
#define SEXTANT_WRITTEN(T)                                                 \
  SEXTANT_READ(T)                                                          \
  SEXTANT_READ(const T)                                                    \
  template void set_to_zero(const Parameters<T>&) noexcept;                \
  template void load_parameters(const std::string&, const Parameters<T>&); \
  template void load_parameters(SafetensorsFile, const std::string&, const Parameters<T>&);
SEXTANT_WRITTEN(float)
SEXTANT_WRITTEN(double)
#undef SEXTANT_WRITTEN
#undef SEXTANT_READ

}  // namespace sextant
