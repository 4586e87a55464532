// One sequence of a call.
#pragma once

#include <cstdint>

namespace sextant::attention_detail {

// A batch row, or one of the segments packed there. Its queries are [q_begin, q_begin + q_len) of
// the row, its keys [k_begin, k_begin + k_len) of row k_batch of the keys; everything that counts
// positions counts from there.
struct Sequence {
  std::int64_t batch = 0;    // the batch row
  std::int64_t k_batch = 0;  // the same; the number of the sequence if its keys are in a cache
  std::int64_t number = 0;   // index among all sequences, for key_lengths and generators
  std::int64_t q_begin = 0, k_begin = 0;
  std::int64_t q_len = 0, k_len = 0;
  std::int64_t offset = 0;  // the diagonal key of query 0
};

}  // namespace sextant::attention_detail
