// Position ids of queries and keys, where a caller gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "sextant/core/tensor.h"

namespace sextant::attention_detail {

// [batch or 1, length], the ids of a batch row contiguous.
struct PositionIds {
  const std::int64_t* data = nullptr;  // null: none are given
  std::int64_t batch_stride = 0;
  std::shared_ptr<const Tensor<std::int64_t>> copy{};  // where the caller's are not contiguous

  // From index `first` of a batch row on.
  const std::int64_t* at(std::int64_t batch_row, std::int64_t first) const noexcept {
    return data + batch_row * batch_stride + first;
  }
};

// Throws Error(where, ...) unless the ids are [batch or 1, length] and within +-2^53.
PositionIds check_position_ids(std::string_view where, View<const std::int64_t> ids,
                               std::int64_t batch, std::int64_t length);

// Numbers [min, max]; none at first.
struct PositionRange {
  static constexpr std::int64_t kUnlimited = std::int64_t{1} << 61;
  std::int64_t min = kUnlimited, max = -kUnlimited;

  bool is_empty() const noexcept { return max < min; }
  void add(std::int64_t from, std::int64_t to) noexcept {
    min = from < min ? from : min;
    max = to > max ? to : max;
  }
};

PositionRange range_of(const std::int64_t* ids, std::int64_t count) noexcept;

// The minimum and maximum of the ids in a window that only moves forward, in time linear in
// their number.
class SlidingRange {
 public:
  SlidingRange(const std::int64_t* ids, std::int64_t count);
  // Returns the range of ids [first, last), 0 <= first < last <= count; neither may fall from call
  // to call.
  PositionRange of(std::int64_t first, std::int64_t last) noexcept;

 private:
  // Indices that may still become the extreme one, the next first, in [begin, end) of the tensor.
  struct Queue {
    Tensor<std::int64_t> indices;
    std::int64_t begin = 0, end = 0;
  };
  const std::int64_t* ids_;
  std::int64_t next_ = 0;
  Queue min_, max_;
};

}  // namespace sextant::attention_detail
