// PaTH attention: queries go from block to block of keys, from the newest to the oldest.
#include "sextant/attention/path_attention.h"

#include <limits>
#include <string_view>
#include <utility>

#include "attention/call/arguments.h"
#include "attention/merged/merged_options.h"
#include "attention/merged/path_call.h"
#include "core/arrays/overlap.h"

namespace sextant {
namespace {

using attention_detail::each_row;
using attention_detail::MergedRows;
using attention_detail::PathCall;
using attention_detail::PathSpan;

void check_path_arrays(std::string_view function, View<const float> q, View<const float> k,
                       View<const float> v, View<float> out, const PathAttention& path,
                       const AttentionOptions<float>& options, View<float> log_sum_exps) {
  attention_detail::check_path(function, q, k, path, options);
  auto call = attention_detail::check_scores(function, q, attention_detail::KeyArray(k), options);
  attention_detail::check_values(function, call, attention_detail::KeyArray(v), AnyOutput(out),
                                 log_sum_exps, options);
  CallArrays arrays(function);
  arrays.add_input("w", path.w);
  arrays.add_input("beta", path.beta);
  arrays.add_output("out", out);
  arrays.add_output("log_sum_exp", log_sum_exps);
}

}  // namespace

void path_attention(View<const float> q, View<const float> k, View<const float> v, View<float> out,
                    const PathAttention& path, const AttentionOptions<float>& options,
                    View<float> log_sum_exps) {
  check_path_arrays("path_attention", q, k, v, out, path, options, log_sum_exps);
  if (q.size(0) == 0 || q.size(2) == 0) return;
  PathCall call(q, k, path, options);
  const std::int64_t batch = call.batch, heads = call.heads, v_dim = v.size(3);
  const AttentionOptions<float> part_options = call.part_options();
  MergedRows merged(call, v_dim);
  auto parts = Tensor<float>::uninitialized({batch, heads, call.group_rows(), v_dim});
  auto logs = Tensor<float>::uninitialized({batch, heads, call.group_rows()});
  for (std::int64_t first = 0; first < call.blocks(); first += PathCall::kGroupBlocks) {
    const PathSpan group = call.group(first);
    const auto attend = [&](View<const float> queries, View<const float> keys,
                            const PathSpan& of_queries, const PathSpan& of_keys,
                            const AttentionOptions<float>& of_part) {
      const PathSpan rows{0, of_queries.count};
      const View<float> part = rows.of(parts.view()), log = rows.of(logs.view());
      attention<float>(queries, keys, of_keys.of(v), part, of_part, log);
      merged.add(of_queries.first - group.first, part, log, options.threads);
    };
    merged.begin();
    for (std::int64_t n = (group.end() - 1) / attention_detail::kPathRows; n >= 0; --n) {
      const PathSpan keys = call.block(n), later = call.after(group, n);
      if (n >= first) {
        attend(call.zeros(heads, keys), call.zeros(call.kv_heads, keys), keys, keys,
               call.own_options(keys));
      }
      if (later.count == 0) continue;
      const View<float> queries = later.of(call.carried.view());
      attend(queries, keys.of(std::as_const(call.moved).view()), later, keys, part_options);
      if (n > 0) call.carry(n, queries);
    }
    const bool wants_logs = attention_detail::is_given(log_sum_exps);
    merged.finish(group.of(out), wants_logs ? group.of(log_sum_exps) : View<float>(),
                  options.threads);
  }
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  each_row(out.shape(), options.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    if (i < call.end(b, h)) return;
    for (std::int64_t c = 0; c < v_dim; ++c) out(b, h, i, c) = kNaN;
    if (attention_detail::is_given(log_sum_exps)) log_sum_exps(b, h, i) = kNaN;
  });
}

}  // namespace sextant
