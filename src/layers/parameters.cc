// Lists of parameters and their files.
#include "sextant/layers/parameters.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/arrays/large_pages.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace sextant {

template <class T>
std::int64_t count_of(const Parameters<T>& parameters) noexcept {
  std::int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.tensor.count();
  return count;
}

template <class T>
void set_to_zero(const Parameters<T>& parameters) noexcept {
  for (const auto& parameter : parameters) std::ranges::fill(parameter.tensor->span(), T{});
}

template <class T>
void save_parameters(const std::string& path, const Parameters<T>& parameters,
                     const std::map<std::string, std::string>& metadata) {
  std::map<std::string, TensorBytes> tensors;
  for (const auto& [name, tensor, decays] : parameters) {
    const TensorBytes bytes{dtype_of<std::remove_const_t<T>>, tensor->shape(),
                            std::as_bytes(tensor->span())};
    if (!tensors.emplace(name, bytes).second) {
      throw Error("save_parameters.parameters", "must have different names, got two " + name);
    }
  }
  save_safetensors(path, tensors, metadata);
}

template <class T>
void load_parameters(const std::string& path, const Parameters<T>& parameters) {
  load_parameters(TensorFile::open(path), parameters);
}

template <class T>
void check_parameters(const TensorFile& file, const Parameters<T>& parameters) {
  std::set<std::string_view> known;
  for (const auto& [name, tensor, decays] : parameters) {
    const StoredTensor* found = file.find(name);
    if (found == nullptr) throw Error(file.path(), "must hold the tensor " + name);
    const std::string& where = file.files()[found->file];
    if (found->shape != tensor.shape()) {
      throw Error(where, "must hold " + name + " of shape " + tensor.shape().to_string() +
                             ", got " + found->shape.to_string());
    }
    if (!is_float(found->dtype)) {
      throw Error(where, "must hold floating-point numbers for " + name);
    }
    known.insert(name);
  }
  for (const StoredTensor& tensor : file.tensors()) {
    if (known.contains(tensor.name)) continue;
    throw Error(file.files()[tensor.file],
                "must hold only tensors of the model, got " + tensor.name);
  }
}

template <class T>
void load_parameters(const TensorFile& file, const Parameters<T>& parameters,
                     FileChecksums* checksums) {
  check_parameters(file, parameters);
  std::map<std::string_view, const ParameterPointer<T>*> places;
  for (const auto& each : parameters) places.emplace(each.name, &each.tensor);
  std::vector<Checksum> sums;
  for (std::size_t i = 0; checksums != nullptr && i < file.files().size(); ++i) {
    sums.push_back(file.header_checksum(i));
  }
  for (const StoredTensor& tensor : file.tensors()) {  // as the bytes follow each other
    places.at(tensor.name)->with_tensor([&](auto& to) {
      const auto place = to.span();
      // Two to three times as fast where the memory is new.
      ask_for_large_pages(std::as_writable_bytes(place).data(), place.size_bytes());
      file.read(tensor, 0, place, checksums == nullptr ? nullptr : &sums[tensor.file]);
    });
  }
  if (checksums == nullptr) return;
  checksums->clear();
  for (const Checksum& sum : sums) checksums->push_back(sum.text());
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
  template void check_parameters(const TensorFile&, const Parameters<T>&); \
  template void load_parameters(const TensorFile&, const Parameters<T>&, FileChecksums*);
SEXTANT_WRITTEN(float)
SEXTANT_WRITTEN(double)
#undef SEXTANT_WRITTEN
#undef SEXTANT_READ

}  // namespace sextant
