// Self-Extend: rows of two calls, merged by their log-sum-exps.
#include "sextant/attention/self_extend.h"

#include <limits>

#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "attention/merged/parts.h"

namespace sextant {
namespace {

using attention_detail::add_rows;
using attention_detail::each_row;
using attention_detail::SelfExtendParts;
using attention_detail::share_of_row;

// to[.., c] = near[.., c] share + far[.., c] (1 - share); a part without a share adds nothing.
void merge(View<float> near, View<const float> far, View<const float> near_logs,
           View<const float> far_logs, int threads) {
  each_row(near.shape(), threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const float near_log = near_logs(b, h, i), far_log = far_logs(b, h, i);
    const double of_near = share_of_row(near_log, far_log);
    const double of_far = share_of_row(far_log, near_log);
    for (std::int64_t c = 0; c < near.size(3); ++c) {
      const double kept = of_near == 0 ? 0 : of_near * static_cast<double>(near(b, h, i, c));
      const double more = of_far == 0 ? 0 : of_far * static_cast<double>(far(b, h, i, c));
      near(b, h, i, c) = static_cast<float>(kept + more);
    }
  });
}

// The gradient of the output times the share of a part in each row.
Tensor<float> shared(View<const float> dout, View<const float> logs, View<const float> others,
                     int threads) {
  auto part = Tensor<float>::uninitialized(dout.shape());
  each_row(dout.shape(), threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const double share = share_of_row(logs(b, h, i), others(b, h, i));
    for (std::int64_t c = 0; c < dout.size(3); ++c) {
      const auto of_out = static_cast<double>(dout(b, h, i, c));
      part(b, h, i, c) = share == 0 ? 0 : static_cast<float>(share * of_out);
    }
  });
  return part;
}

}  // namespace

void self_extend_attention(View<const float> q, View<const float> k, View<const float> v,
                           View<float> out, const SelfExtend& extend,
                           const AttentionOptions<float>& options, View<float> log_sum_exps) {
  const SelfExtendParts parts("self_extend_attention", q, k, extend, options);
  attention_detail::check_two_logs("self_extend_attention", log_sum_exps, q.shape());
  Tensor<float> made;
  if (log_sum_exps.rank() != 4) {
    made = Tensor<float>({2, q.size(0), q.size(1), q.size(2)});
    log_sum_exps = made.view();
  }
  const View<float> near_logs = log_sum_exps.select(0, 0), far_logs = log_sum_exps.select(0, 1);
  Tensor<float> far;
  if (parts.has_far) far = Tensor<float>::uninitialized(out.shape());
  parts.attend(q, k, v, out, near_logs, far.view(), far_logs);
  if (parts.has_far) {
    merge(out, std::as_const(far).view(), near_logs, far_logs, options.threads);
    return;
  }
  each_row(far_logs.shape(), 1, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    far_logs(b, h, i) = -std::numeric_limits<float>::infinity();
  });
}

void self_extend_backward(View<const float> q, View<const float> k, View<const float> v,
                          View<const float> out, View<const float> dout,
                          const AttentionGradients<float>& gradients, const SelfExtend& extend,
                          const AttentionOptions<float>& options, View<const float> log_sum_exps) {
  constexpr std::string_view kName = "self_extend_backward";
  const SelfExtendParts parts(kName, q, k, extend, options);
  attention_detail::check_only_rows(kName, gradients);
  attention_detail::check_two_logs(kName, log_sum_exps, q.shape());
  attention_detail::check_array(kName, "dout", dout, "[batch, heads, length, v_dim]");
  attention_detail::check_array(kName, "v", v, "[batch, kv_heads, length, v_dim]");
  attention_detail::check_shape(kName, "dout", dout,
                                Shape{q.size(0), q.size(1), q.size(2), v.size(3)});
  Tensor<float> made;
  if (log_sum_exps.rank() != 4) {
    made = Tensor<float>({2, q.size(0), q.size(1), q.size(2)});
    auto near_out = Tensor<float>::uninitialized(dout.shape());
    auto far_out = Tensor<float>::uninitialized(dout.shape());
    parts.attend(q, k, v, near_out.view(), made.view().select(0, 0), far_out.view(),
                 made.view().select(0, 1));
    log_sum_exps = std::as_const(made).view();
  }
  const View<const float> near_logs = log_sum_exps.select(0, 0);
  if (!parts.has_far) {
    attention_backward<float>(q, k, v, out, dout, gradients, parts.near, near_logs);
    return;
  }
  const View<const float> far_logs = log_sum_exps.select(0, 1);
  AttentionGradients<float> of_far;
  Tensor<float> dq, dk, dv;
  const auto room = [](const MemberView<float>& wanted, Tensor<float>& sums,
                       MemberView<float>& to) {
    if (wanted.count() == 0) return;
    sums = Tensor<float>::uninitialized(wanted.shape());
    to = sums.view();
  };
  room(gradients.q, dq, of_far.q);
  room(gradients.k, dk, of_far.k);
  room(gradients.v, dv, of_far.v);
  const Tensor<float> far_dout = shared(dout, far_logs, near_logs, options.threads);
  const Tensor<float> near_dout = shared(dout, near_logs, far_logs, options.threads);
  attention_backward<float>(q, k, v, out, far_dout.view(), of_far, parts.far, far_logs);
  attention_backward<float>(q, k, v, out, near_dout.view(), gradients, parts.near, near_logs);
  if (dq.count() > 0) add_rows(std::as_const(dq).view(), gradients.q, options.threads);
  if (dk.count() > 0) add_rows(std::as_const(dk).view(), gradients.k, options.threads);
  if (dv.count() > 0) add_rows(std::as_const(dv).view(), gradients.v, options.threads);
}

}  // namespace sextant
