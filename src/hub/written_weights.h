// Writes the weights of a folder that transformers opens.
#pragma once

#include <map>
#include <string>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant::hub {

// Throws Error(where, ...) unless it is float32, float16 or bfloat16.
void check_written_dtype(const std::string& where, DType dtype);
// Rounds each number once.
void save_weights(const std::string& path, std::map<std::string, Tensor<float>> tensors,
                  DType dtype);

}  // namespace sextant::hub
