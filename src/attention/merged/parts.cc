// Offsets and position ids of the two parts.
#include "attention/merged/parts.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "core/numbers/max_position.h"
#include "sextant/core/options.h"

namespace sextant::attention_detail {
SelfExtendParts::SelfExtendParts(std::string_view function, View<const float> q,
                                 View<const float> k, const SelfExtend& extend,
                                 const AttentionOptions<float>& options)
    : near(options) {
  check_array(function, "q", q, "[batch, heads, length, head_dim]");
  check_array(function, "k", k, "[batch, kv_heads, length, head_dim]");
  check_range(IntegerRange{1, kMaxPosition}, name_in(function, "window"), extend.window);
  check_range(IntegerRange{1, kMaxPosition}, name_in(function, "group"), extend.group);
  check_merged_options(function, options);
  near_offsets_ = merged_offsets(function, q, k, options);
  near.causal = Causal::at_offsets;
  near.query_offsets = near_offsets_;
  near.window.left = extend.window - 1;
  far = near;
  far.window = {};
  far.sinks = {};
  // The diagonal one window earlier: key j is seen from j + window on.
  const std::int64_t q_len = q.size(2);
  query_ids_ = Tensor<std::int64_t>({q.size(0), q_len});
  for (std::int64_t b = 0; b < q.size(0); ++b) {
    const std::int64_t offset = near_offsets_[static_cast<std::size_t>(b)];
    far_offsets_.push_back(offset - extend.window);
    has_far = has_far || (q_len > 0 && offset + q_len - 1 >= extend.window && k.size(2) > 0);
    for (std::int64_t i = 0; i < q_len; ++i) {
      // Queries that see no far key have a row that others use.
      const std::int64_t position = std::max(i + offset, extend.window);
      query_ids_(b, i) = position / extend.group + extend.window - extend.window / extend.group;
    }
  }
  key_ids_ = Tensor<std::int64_t>({1, k.size(2)});
  for (std::int64_t j = 0; j < k.size(2); ++j) key_ids_(0, j) = j / extend.group;
  far.query_offsets = far_offsets_;
  far.query_positions = query_ids_;
  far.key_positions = key_ids_;
}

void SelfExtendParts::attend(View<const float> q, View<const float> k, View<const float> v,
                             View<float> near_out, View<float> near_logs, View<float> far_out,
                             View<float> far_logs) const {
  if (has_far) attention<float>(q, k, v, far_out, far, far_logs);
  attention<float>(q, k, v, near_out, near, near_logs);
}

double share_of_row(float log, float other) noexcept {
  if (log == other) return 0.5;
  return 1 / (1 + std::exp(static_cast<double>(other) - static_cast<double>(log)));
}

void check_two_logs(std::string_view function, View<const float> logs, const Shape& q) {
  if (logs.count() == 0 && logs.rank() == 1) return;
  check_shape(function, "log_sum_exps", logs, Shape{2, q[0], q[1], q[2]});
}

}  // namespace sextant::attention_detail
