// Defines the order in which slices of keys and values circulate: at step t rank r gets those of
// rank r - t and gives its own to rank r + t; the next slice is always sent while one is used.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ranks/attention/communication.h"

namespace sextant::ranks {

template <class T>
class Steps {
 public:
  explicit Steps(const Call<T>& call);
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  struct Step {
    int from = 0, to = 0;
    Slice in, out;  // no keys: nothing comes, nothing goes
  };
  std::size_t count() const noexcept { return steps_.size(); }
  const Step& operator[](std::size_t n) const noexcept { return steps_[n]; }

  // Begins step 0; fetch(n) begins step n + 1 and waits for step n, whose bytes it returns: valid
  // until fetch(n + 1). Steps are fetched in order.
  void begin();
  const std::byte* fetch(std::size_t n);

 private:
  void start(std::size_t n);

  const Call<T>& call_;
  std::vector<Step> steps_;
  struct Buffers {
    Tensor<std::byte> in, out;
    Exchange exchange;
  };
  Buffers buffers_[2];
};

}  // namespace sextant::ranks
