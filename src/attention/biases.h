// The biases of one head of one sequence, whatever they come from, as kernels take them.
#pragma once

#include <cstdint>

#include "arguments.h"

namespace sextant::detail {

template <class T>
struct HeadBiases {
  const Arguments<T>& arguments;
  Sequence sequence;
  std::int64_t head;

  // Whether there are biases or masks at all, and whether they depend on the distance alone.
  bool by_distance() const noexcept {
    return arguments.bias != nullptr || arguments.slope(head) != 0;
  }
  bool by_pair() const noexcept {
    return arguments.bool_mask.data != nullptr || arguments.float_mask.data != nullptr ||
           arguments.indexed != nullptr;
  }

  // What distances add: to[i] for distance least + i, i < count, times `unit` in float64 and
  // rounded once; finite stays finite. 0 for distances the table does not have: nobody may see
  // those.
  void fill_distances(std::int64_t least, std::int64_t count, double unit,
                      float* to) const noexcept;

  // Everything that is added to the scores of one query, natural: to[j] for key first_key + j.
  // -infinity hides. `distances` is what fill_distances() made from `least` on with unit 1, or null
  // when there is nothing by distance.
  void fill_row(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                const float* distances, std::int64_t least, float* to) const noexcept;
};

}  // namespace sextant::detail
