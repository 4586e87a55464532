// Memory that a thread keeps from call to call.
#include "scratch.h"

#include "sextant/core/tensor.h"

namespace sextant::detail {

float* thread_scratch(std::int64_t floats) {
  thread_local Tensor<float> memory;
  if (memory.count() < floats) {
    memory = Tensor<float>();  // gone before its successor comes
    memory = Tensor<float>::uninitialized(Shape{floats});
  }
  return memory.data();
}

}  // namespace sextant::detail
