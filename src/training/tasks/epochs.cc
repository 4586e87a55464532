// Orders of data.
#include "sextant/training/tasks/epochs.h"

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "sextant/core/error.h"
#include "training/splitmix64.h"

namespace sextant {

Epochs::Epochs(std::int64_t count, std::uint64_t seed) : count_(count), seed_(seed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (count < 1 || count > kMost) {
    throw Error("epochs.count",
                "must be 1 .. " + std::to_string(kMost) + ", got " + std::to_string(count));
  }
}

std::int64_t Epochs::operator()(std::int64_t place) {
  const std::int64_t epoch = place / count_;
  if (epoch != epoch_) {
    order_.resize(static_cast<std::size_t>(count_));
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::uint64_t state = splitmix64(seed_, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order_.size(); i > 1; --i) {  // Fisher and Yates
      state = splitmix64(state, i);
      std::swap(order_[i - 1], order_[state % i]);
    }
    epoch_ = epoch;
  }
  return order_[static_cast<std::size_t>(place % count_)];
}

}  // namespace sextant
