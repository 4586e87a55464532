// The biases of one head of one sequence, whatever they come from, as kernels take them.
#pragma once

#include <cstdint>

#include "attention/call/arguments.h"

namespace sextant::detail {

template <class T>
struct HeadBiases {
  const Arguments<T>& arguments;
  Sequence sequence;
  std::int64_t head;

  // Whether there are biases, masks or content terms at all: those that are a line, because they
  // depend on the distance alone and distances on places, and those that are not.
  bool by_distance() const noexcept { return has_distances() && !arguments.by_ids; }
  bool by_pair() const noexcept {
    return arguments.bool_mask.data != nullptr || arguments.float_mask.data != nullptr ||
           arguments.indexed != nullptr || arguments.content != nullptr ||
           (has_distances() && arguments.by_ids);
  }

  // Whether a mask is all there is.
  bool is_mask_alone() const noexcept {
    return arguments.indexed == nullptr && arguments.content == nullptr && !has_distances();
  }

  // What distances add: to[i] for distance least + i, i < count, times `unit` in float64 and
  // rounded once; finite stays finite. 0 for distances the table does not have: nobody may see
  // those.
  void fill_distances(std::int64_t least, std::int64_t count, double unit,
                      float* to) const noexcept;

  // Everything but content that is added to the scores of some queries, natural: to[i * to_row + j]
  // for query first_query + i and key first_key + j. -infinity hides. `distances` is what
  // fill_distances() made from `least` on with unit 1, or null when there is nothing by distance.
  void fill_rows(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                 std::int64_t keys, const float* distances, std::int64_t least, float* to,
                 std::int64_t to_row) const noexcept;

 private:
  bool has_distances() const noexcept {
    return arguments.has_bias_table() || arguments.slope(head) != 0;
  }
  // What is added by distance, by ids, by masks, to the biases of one query.
  void add_by_ids(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                  float* to) const noexcept;
  void add_masks(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                 float* to) const noexcept;
};

}  // namespace sextant::detail
