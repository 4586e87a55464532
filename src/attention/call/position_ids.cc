// Checks of position ids, and their extremes.
#include "attention/call/position_ids.h"

#include <string>

#include "core/arrays/overlap.h"
#include "core/numbers/max_position.h"
#include "sextant/core/error.h"

namespace sextant::attention_detail {

PositionIds check_position_ids(std::string_view where, View<const std::int64_t> ids,
                               std::int64_t batch, std::int64_t length) {
  const bool fits =
      ids.rank() == 2 && (ids.size(0) == batch || ids.size(0) == 1) && ids.size(1) == length;
  if (!fits) {
    throw Error(where, "must be [" + std::to_string(batch) + " or 1, " + std::to_string(length) +
                           "], got " + ids.shape().to_string());
  }
  check_memory(where, ids);
  for (std::int64_t b = 0; b < ids.size(0); ++b) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t id = ids(b, i);
      if (id < -kMaxPosition || id > kMaxPosition) {
        throw Error(where, "must be within -2^53 .. 2^53, got " + std::to_string(id));
      }
    }
  }
  PositionIds result{ids.data(), ids.size(0) == 1 ? 0 : ids.stride(0)};
  if (length > 1 && ids.stride(1) != 1) {
    result.copy = std::make_shared<const Tensor<std::int64_t>>(copy_of(ids));
    result.data = result.copy->data();
    result.batch_stride = ids.size(0) == 1 ? 0 : length;
  }
  return result;
}

PositionRange range_of(const std::int64_t* ids, std::int64_t count) noexcept {
  PositionRange span;
  for (std::int64_t i = 0; i < count; ++i) span.add(ids[i], ids[i]);
  return span;
}

SlidingRange::SlidingRange(const std::int64_t* ids, std::int64_t count)
    : ids_(ids),
      min_{Tensor<std::int64_t>::uninitialized(Shape{count})},
      max_{Tensor<std::int64_t>::uninitialized(Shape{count})} {}

PositionRange SlidingRange::of(std::int64_t first, std::int64_t last) noexcept {
  const auto push = [&](Queue& queue, const auto& goes_before) {
    std::int64_t* indices = queue.indices.data();
    while (queue.end > queue.begin && !goes_before(ids_[indices[queue.end - 1]], ids_[next_])) {
      --queue.end;
    }
    indices[queue.end++] = next_;
  };
  for (; next_ < last; ++next_) {
    push(min_, [](std::int64_t x, std::int64_t y) { return x < y; });
    push(max_, [](std::int64_t x, std::int64_t y) { return x > y; });
  }
  const auto head = [&](Queue& queue) {
    while (queue.indices(queue.begin) < first) ++queue.begin;
    return ids_[queue.indices(queue.begin)];
  };
  return {head(min_), head(max_)};
}

}  // namespace sextant::attention_detail
