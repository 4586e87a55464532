// The arrays that `sextant attention` reads.
#include <optional>
#include <string>

#include "attention/attention_command.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant::app {
namespace {

Array load(const std::string& path) {
  return path == "-" ? parse_npy(read_stdin(), "stdin") : load_npy(path);
}

std::string found(DType dtype, const std::string& path) {
  return ", got " + std::string(dtype_name(dtype)) + " in " + (path == "-" ? "stdin" : path);
}

}  // namespace

AttentionArrays load_arrays(const AttentionCommand& command) {
  AttentionArrays arrays;
  for (const auto& [name, path] : command.inputs) arrays.emplace(name, load(path));
  check_types(command, arrays);
  return arrays;
}

void check_types(const AttentionCommand& command, AttentionArrays& arrays) {
  std::optional<DType> wanted;
  if (!command.dtype.empty()) wanted = parse_dtype(command.dtype);
  for (const char* name : {"q", "k", "v", "dout"}) {
    const auto at = arrays.find(name);
    if (at == arrays.end()) continue;
    Array& array = at->second;
    const std::string where = std::string("attention.") + name;
    const std::string& path = command.inputs.at(name);
    if (array.dtype == DType::uint16) {
      if (command.dtype != "bfloat16") {
        throw Error(where, "must hold floats" + found(array.dtype, path) +
                               "; when these are the bits of bfloat16, say --dtype bfloat16");
      }
      array.dtype = DType::bfloat16;
    }
    if (!is_float(array.dtype)) {
      throw Error(where, "must hold float64, float32, float16 or, as uint16, bfloat16" +
                             found(array.dtype, path));
    }
    if (!wanted) wanted = array.dtype;
    if (array.dtype != *wanted) {
      const bool said = !command.dtype.empty();
      throw Error(where, "must hold " + std::string(dtype_name(*wanted)) +
                             (said ? ", as --dtype says" : ", as q does") +
                             found(array.dtype, path));
    }
  }
}

}  // namespace sextant::app
