// The weights of a folder, in the type of the file.
#include "hub/written_weights.h"

#include <utility>

#include "core/arrays/converted.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace sextant::hub {
namespace {

template <class T>
void save_rounded(const std::string& path, std::map<std::string, Tensor<float>>& tensors) {
  std::map<std::string, Tensor<T>> rounded;
  std::map<std::string, TensorBytes> bytes;
  for (auto& [name, values] : tensors) {
    const auto& kept = rounded.emplace(name, converted<T>(values)).first->second;
    values = Tensor<float>();
    bytes[name] = {dtype_of<T>, kept.shape(), std::as_bytes(kept.span())};
  }
  save_safetensors(path, bytes, {{"format", "pt"}});
}

}  // namespace

void check_written_dtype(const std::string& where, DType dtype) {
  if (dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16) return;
  throw Error(where, "must be float32, float16 or bfloat16, got " + std::string(dtype_name(dtype)));
}

void save_weights(const std::string& path, std::map<std::string, Tensor<float>> tensors,
                  DType dtype) {
  if (dtype == DType::float16) return save_rounded<float16>(path, tensors);
  if (dtype == DType::bfloat16) return save_rounded<bfloat16>(path, tensors);
  std::map<std::string, TensorBytes> bytes;
  for (const auto& [name, values] : tensors) {
    bytes[name] = {DType::float32, values.shape(), std::as_bytes(values.span())};
  }
  save_safetensors(path, bytes, {{"format", "pt"}});
}

}  // namespace sextant::hub
