// Memory that a thread keeps from call to call, so that calls do not allocate: lent out, because a
// thread may begin a call in the middle of another one, where an executor lets it run another task
// while it waits, or where a caller's generator of biases calls the operator.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/threads/scratch_divider.h"
#include "sextant/core/tensor.h"

namespace sextant {

// A local variable of the thread that uses it: leases of a thread end in reverse order.
class ScratchLease {
 public:
  // At least `floats` numbers of any value on a cache line, which no other lease gets while this
  // one lives. Throws Error when there is not enough memory.
  explicit ScratchLease(std::int64_t floats);
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  float* data() const noexcept { return block_->data(); }

 private:
  std::unique_ptr<Tensor<float>> block_;
};

// Leases the arrays of `divide`, called with a ScratchDivider<float>&; `arrays` is its result.
template <class Divide>
class DividedLease {
 public:
  explicit DividedLease(const Divide& divide) : lease_(size_of(divide)), arrays(divided(divide)) {}

 private:
  using Arrays = std::invoke_result_t<const Divide&, ScratchDivider<float>&>;
  static std::int64_t size_of(const Divide& divide) {
    ScratchDivider<float> counter;
    divide(counter);
    return counter.size();
  }
  Arrays divided(const Divide& divide) const {
    ScratchDivider<float> divider(lease_.data());
    return divide(divider);
  }

  ScratchLease lease_;

 public:
  const Arrays arrays;
};

}  // namespace sextant
