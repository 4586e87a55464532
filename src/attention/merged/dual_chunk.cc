// Dual chunk attention: rows of three calls, merged by their log-sum-exps.
#include "sextant/attention/dual_chunk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "attention/call/arguments.h"
#include "attention/call/input_arrays.h"
#include "attention/call/refuse.h"
#include "attention/merged/chunk_parts.h"
#include "attention/merged/merged_options.h"

namespace sextant {
namespace {

using attention_detail::add_rows;
using attention_detail::ChunkPart;
using attention_detail::each_row;
using attention_detail::for_each_chunk;
using attention_detail::kChunkParts;

constexpr float kNoKeys = -std::numeric_limits<float>::infinity();

// The shares of the parts in a row; zeros if no part has a key, NaN if a score is.
std::array<double, kChunkParts> shares_of(View<const float> logs, std::int64_t b, std::int64_t h,
                                          std::int64_t i) {
  std::array<double, kChunkParts> shares{};
  float most = kNoKeys;
  for (int n = 0; n < kChunkParts; ++n) {
    const float log = logs(n, b, h, i);
    if (log > most || std::isnan(log)) most = log;  // NaN makes all shares NaN
  }
  if (most == kNoKeys) return shares;
  double sum = 0;
  for (std::size_t n = 0; n < shares.size(); ++n) {
    const float log = logs(static_cast<std::int64_t>(n), b, h, i);
    const double below = static_cast<double>(log) - static_cast<double>(most);
    sum += shares[n] = log == most ? 1 : std::exp(below);
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Throws Error for the first call that the operator would refuse: before anything is written.
void check_calls(std::string_view function, View<const float> q, View<const float> k,
                 const DualChunk& chunks, const AttentionOptions<float>& options) {
  for_each_chunk(function, q, k, chunks, options, [&](const ChunkPart(&parts)[kChunkParts]) {
    for (const ChunkPart& part : parts) {
      if (part.keys == 0) continue;
      attention_detail::check_scores(function, part.of_queries(q),
                                     attention_detail::KeyArray(part.of_keys(k)),
                                     part.options(options));
    }
  });
}

void check_logs(std::string_view function, View<const float> logs, const Shape& q) {
  attention_detail::check_shape(function, "log_sum_exps", logs,
                                Shape{kChunkParts, q[0], q[1], q[2]});
}

}  // namespace

void dual_chunk_attention(View<const float> q, View<const float> k, View<const float> v,
                          View<float> out, const DualChunk& chunks,
                          const AttentionOptions<float>& options, View<float> log_sum_exps) {
  constexpr std::string_view kName = "dual_chunk_attention";
  Tensor<float> made;
  const bool wants_logs = attention_detail::is_given(log_sum_exps);
  attention_detail::check_array(kName, "q", q, "[batch, heads, length, head_dim]");
  if (wants_logs) check_logs(kName, log_sum_exps, q.shape());
  if (!wants_logs) {
    made = Tensor<float>({kChunkParts, q.size(0), q.size(1), q.size(2)});
    log_sum_exps = made.view();
  }
  attention_detail::check_array(kName, "v", v, "[batch, kv_heads, length, v_dim]");
  attention_detail::check_shape(kName, "v", v, Shape{k.size(0), k.size(1), k.size(2), v.size(3)});
  attention_detail::check_shape(kName, "out", out,
                                Shape{q.size(0), q.size(1), q.size(2), v.size(3)});
  check_calls(kName, q, k, chunks, options);
  CallArrays arrays = attention_detail::input_arrays(kName, q, k, v, options);
  arrays.add_output("out", out);
  arrays.add_output("log_sum_exps", log_sum_exps);
  for_each_chunk(kName, q, k, chunks, options, [&](const ChunkPart(&parts)[kChunkParts]) {
    Tensor<float> results[kChunkParts];
    for (const ChunkPart& part : parts) {
      const View<float> logs = part.of_queries(log_sum_exps.select(0, part.number));
      if (part.keys == 0 && part.number > 0) {
        each_row(logs.shape(), 1,
                 [&](std::int64_t b, std::int64_t h, std::int64_t i) { logs(b, h, i) = kNoKeys; });
        continue;
      }
      Tensor<float>& result = results[part.number];
      if (part.number > 0) {
        result = Tensor<float>::uninitialized({1, q.size(1), part.queries, v.size(3)});
      }
      auto of_part = part.options(options);
      if (part.keys == 0) of_part.rotation = nullptr;
      attention<float>(part.of_queries(q), part.of_keys(k), part.of_keys(v),
                       part.number > 0 ? result.view() : part.of_queries(out), of_part, logs);
    }
    const ChunkPart& first = parts[0];
    const View<float> rows = first.of_queries(out);
    each_row(rows.shape(), options.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      const auto shares = shares_of(log_sum_exps, first.batch + b, h, first.first_query + i);
      for (std::int64_t c = 0; c < rows.size(3); ++c) {
        double sum = shares[0] == 0 ? 0 : shares[0] * static_cast<double>(rows(b, h, i, c));
        for (std::size_t n = 1; n < shares.size(); ++n) {
          if (shares[n] != 0 && parts[n].keys > 0)
            sum += shares[n] * static_cast<double>(results[n](b, h, i, c));
        }
        rows(b, h, i, c) = static_cast<float>(sum);
      }
    });
  });
}

void dual_chunk_backward(View<const float> q, View<const float> k, View<const float> v,
                         View<const float> out, View<const float> dout,
                         const AttentionGradients<float>& gradients, const DualChunk& chunks,
                         const AttentionOptions<float>& options, View<const float> log_sum_exps) {
  constexpr std::string_view kName = "dual_chunk_backward";
  attention_detail::check_only_rows(kName, gradients);
  attention_detail::check_array(kName, "q", q, "[batch, heads, length, head_dim]");
  attention_detail::check_array(kName, "dout", dout, "[batch, heads, length, v_dim]");
  attention_detail::check_array(kName, "v", v, "[batch, kv_heads, length, v_dim]");
  const Shape rows{q.size(0), q.size(1), q.size(2), v.size(3)};
  attention_detail::check_shape(kName, "dout", dout, rows);
  attention_detail::check_shape(kName, "out", out, rows);
  check_logs(kName, log_sum_exps, q.shape());
  check_calls(kName, q, k, chunks, options);
  CallArrays arrays = attention_detail::input_arrays(kName, q, k, v, options);
  arrays.add_input("dout", dout);
  arrays.add_input("out", out);
  const auto check = [&](const MemberView<float>& sums, std::string_view name, const Shape& shape) {
    if (sums.count() == 0) return;
    attention_detail::check_shape(kName, name, View<float>(sums), shape);
    arrays.add_output(name, View<float>(sums));
  };
  check(gradients.q, "dq", q.shape());
  check(gradients.k, "dk", k.shape());
  check(gradients.v, "dv", v.shape());
  check(gradients.sinks, "dsinks", Shape{q.size(1)});
  const auto begin = [&](const MemberView<float>& sums, const Shape& shape) {
    if (sums.count() == 0) return;
    each_row(shape, options.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      for (std::int64_t c = 0; c < shape[3]; ++c) sums(b, h, i, c) = 0;
    });
  };
  begin(gradients.q, q.shape());
  begin(gradients.k, k.shape());
  begin(gradients.v, v.shape());
  for (std::int64_t h = 0; h < gradients.sinks.count(); ++h) gradients.sinks(h) = 0;
  for_each_chunk(kName, q, k, chunks, options, [&](const ChunkPart(&parts)[kChunkParts]) {
    for (const ChunkPart& part : parts) {
      if (part.keys == 0) continue;
      Tensor<float> part_dout({1, q.size(1), part.queries, v.size(3)}), dq, dk, dv, dsinks;
      const View<const float> of_out = part.of_queries(dout);
      each_row(part_dout.shape(), options.threads,
               [&](std::int64_t b, std::int64_t h, std::int64_t i) {
                 const double share =
                     shares_of(log_sum_exps, part.batch + b, h,
                               part.first_query + i)[static_cast<std::size_t>(part.number)];
                 for (std::int64_t c = 0; c < v.size(3) && share != 0; ++c) {
                   part_dout(b, h, i, c) =
                       static_cast<float>(share * static_cast<double>(of_out(b, h, i, c)));
                 }
               });
      AttentionGradients<float> wanted;
      const auto room = [](const MemberView<float>& sums, const View<float>& rows_of,
                           Tensor<float>& tensor, MemberView<float>& to) {
        if (sums.count() == 0) return;
        tensor = Tensor<float>::uninitialized(rows_of.shape());
        to = tensor.view();
      };
      const bool has_q = gradients.q.count() > 0, has_k = gradients.k.count() > 0,
                 has_v = gradients.v.count() > 0;
      if (has_q) room(gradients.q, part.of_queries<float>(gradients.q), dq, wanted.q);
      if (has_k) room(gradients.k, part.of_keys<float>(gradients.k), dk, wanted.k);
      if (has_v) room(gradients.v, part.of_keys<float>(gradients.v), dv, wanted.v);
      if (part.number == 0 && gradients.sinks.count() > 0) {
        dsinks = Tensor<float>({gradients.sinks.count()});
        wanted.sinks = dsinks.view();
      }
      attention_backward<float>(part.of_queries(q), part.of_keys(k), part.of_keys(v),
                                part.of_queries(out), part_dout.view(), wanted,
                                part.options(options),
                                part.of_queries(log_sum_exps.select(0, part.number)));
      if (has_q) add_rows(std::as_const(dq).view(), part.of_queries<float>(gradients.q), 1);
      if (has_k) {
        add_rows(std::as_const(dk).view(), part.of_keys<float>(gradients.k), options.threads);
      }
      if (has_v) {
        add_rows(std::as_const(dv).view(), part.of_keys<float>(gradients.v), options.threads);
      }
      for (std::int64_t h = 0; h < dsinks.count(); ++h) gradients.sinks(h) += dsinks(h);
    }
  });
}

}  // namespace sextant
