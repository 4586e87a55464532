// Any bytes as a .safetensors file, and as the header of one: arrays that hold together and come
// back the same after writing, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace {

void check(std::string_view bytes) {
  try {
    const sextant::SafetensorsFile file =
        sextant::load_safetensors(sextant::TensorFile::parse(bytes));
    std::size_t total = 0;
    for (const auto& [name, array] : file.tensors) {
      const auto size = static_cast<std::size_t>(array.count()) * sextant::dtype_size(array.dtype);
      if (array.bytes.count() != static_cast<std::int64_t>(size)) std::abort();
      total += size;
      array.to<double>();
    }
    if (total > bytes.size()) std::abort();
    const std::string text = sextant::format_safetensors(file.tensors, file.metadata);
    const sextant::SafetensorsFile again =
        sextant::load_safetensors(sextant::TensorFile::parse(text));
    if (again.metadata != file.metadata || again.tensors.size() != file.tensors.size()) {
      std::abort();
    }
    if (sextant::format_safetensors(again.tensors, again.metadata) != text) std::abort();
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  // A length that fits, so that the header is reached by more than one input in a million.
  const std::size_t header = text.rfind('}') == std::string::npos ? size : text.rfind('}') + 1;
  std::string whole;
  for (int i = 0; i < 8; ++i) whole += static_cast<char>(header >> (8 * i) & 0xff);
  check(whole + text);
  return 0;
}
