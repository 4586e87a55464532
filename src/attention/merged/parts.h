// The two calls of Self-Extend: keys within the window, and keys beyond it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/attention/self_extend.h"

namespace sextant::attention_detail {

// The options of both calls, which borrow from the caller's and from this. Throws Error that names
// `function` for options that Self-Extend does not have.
class SelfExtendParts {
 public:
  SelfExtendParts(std::string_view function, View<const float> q, View<const float> k,
                  const SelfExtend& extend, const AttentionOptions<float>& options);
  SelfExtendParts(const SelfExtendParts&) = delete;
  SelfExtendParts& operator=(const SelfExtendParts&) = delete;

  AttentionOptions<float> near, far;
  bool has_far = false;  // whether any query has keys beyond the window

  // Computes both parts; `far_out` and far_logs only where there are far keys.
  void attend(View<const float> q, View<const float> k, View<const float> v, View<float> near_out,
              View<float> near_logs, View<float> far_out, View<float> far_logs) const;

 private:
  std::vector<std::int64_t> near_offsets_, far_offsets_;
  Tensor<std::int64_t> query_ids_, key_ids_;
};

// Returns the share of a part in a row from its log-sum-exp and that of the other part: 1/2 where
// both are equal, also without keys.
double share_of_row(float log, float other) noexcept;

// Throws Error unless the array is absent or [2, batch, heads, rows].
void check_two_logs(std::string_view function, View<const float> logs, const Shape& q);

}  // namespace sextant::attention_detail
