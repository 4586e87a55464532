// Copies of a call's arrays, the passes over its blocks, and the merge of rows.
#include "attention/merged/path_call.h"

#include <cmath>
#include <limits>
#include <utility>

#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
void check_path(std::string_view function, View<const float> q, View<const float> k,
                const PathAttention& path, const AttentionOptions<float>& options) {
  check_causal_text(function, q, k, options, "PaTH attention");
  const auto absent = [&](bool given, std::string_view name, const char* why) {
    if (given) refuse(function, name, std::string("must be absent: ") + why);
  };
  absent(options.softcap != 0, "softcap", "PaTH attention has no such form");
  absent(options.rotation != nullptr, "rotation", "the products of reflections are the positions");
  check_shape(function, "w", path.w, k.shape());
  check_memory(name_in(function, "w"), path.w);
  check_shape(function, "beta", path.beta, Shape{k.size(0), k.size(1), k.size(2)});
  check_memory(name_in(function, "beta"), path.beta);
}

PathCall::PathCall(View<const float> queries, View<const float> keys, const PathAttention& path,
                   const AttentionOptions<float>& options)
    : batch(queries.size(0)),
      heads(queries.size(1)),
      kv_heads(keys.size(1)),
      length(queries.size(2)),
      dim(queries.size(3)),
      threads(options.threads),
      scale(options.scale.value_or(default_scale(options, dim))),
      q(queries),
      k(keys),
      w(path.w),
      beta(copy_of<const float>(path.beta)),
      ends(static_cast<std::size_t>(batch * kv_heads), length),
      moved(Tensor<float>::uninitialized(k.shape())),
      reflected(Tensor<float>::uninitialized(k.shape())),
      carried(Tensor<float>::uninitialized(q.shape())),
      scores(Tensor<float>::uninitialized({batch, heads, length, kPathRows})),
      options_(options),
      zeros_({batch, heads, kPathRows, 1}) {
  find_ends();
  const auto is_short = [&](std::int64_t end) { return end < length; };
  if (std::any_of(ends.begin(), ends.end(), is_short)) zero_from_ends();
  const std::int64_t group = heads / kv_heads;
  std::vector<std::int64_t> block_ends(ends.size() * static_cast<std::size_t>(blocks()));
  parallel_for(batch * kv_heads * blocks(), threads, [&](std::int64_t task) {
    const PathSpan span = block(task % blocks());
    const std::int64_t slice = task / blocks(), b = slice / kv_heads, head = slice % kv_heads;
    const PathBlock of_block(tokens(b, head, span));
    block_ends[static_cast<std::size_t>(task)] =
        of_block.end() < span.count ? span.first + of_block.end() : length;
    const std::int64_t to = (slice * length + span.first) * dim;
    std::copy_n(of_block.moved().data(), span.count * dim, moved.data() + to);
    std::copy_n(of_block.reflected().data(), span.count * dim, reflected.data() + to);
    for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
      of_block.attend(rows(q, b, h, span), scale, &scores(b, h, span.first, 0),
                      &carried(b, h, span.first, 0));
    }
  });
  for (std::size_t n = 0; n < block_ends.size(); ++n) {
    std::int64_t& end = ends[n / static_cast<std::size_t>(blocks())];
    end = std::min(end, block_ends[n]);
  }
}

void PathCall::find_ends() {
  parallel_for(batch * kv_heads, threads, [&](std::int64_t slice) {
    const std::int64_t b = slice / kv_heads, head = slice % kv_heads;
    const auto is_finite = [&](const View<const float>& x, std::int64_t i) {
      const float* const row = &x(b, head, i, 0);
      for (std::int64_t c = 0; c < dim; ++c) {
        if (!std::isfinite(row[c * x.stride(3)])) return false;
      }
      return true;
    };
    std::int64_t& end = ends[static_cast<std::size_t>(slice)];
    end = 0;
    while (end < length && std::isfinite(beta(b, head, end)) && is_finite(k, end) &&
           is_finite(w, end)) {
      ++end;
    }
  });
}

// What comes after a token with infinities or NaN must not reach the rows before it through
// products with zeros.
void PathCall::zero_from_ends() {
  copied_k_ = copy_of(k);
  copied_w_ = copy_of(w);
  for (std::int64_t slice = 0; slice < batch * kv_heads; ++slice) {
    const std::int64_t first = slice * length + ends[static_cast<std::size_t>(slice)],
                       last = (slice + 1) * length;
    for (float* x : {copied_k_.data(), copied_w_.data()})
      std::fill(x + first * dim, x + last * dim, 0.0F);
    std::fill(beta.data() + first, beta.data() + last, 0.0F);
  }
  k = std::as_const(copied_k_).view();
  w = std::as_const(copied_w_).view();
}

PathSpan PathCall::group(std::int64_t block) const noexcept {
  const std::int64_t rows = kGroupBlocks * kPathRows, first = block / kGroupBlocks * rows;
  return {first, std::min(rows, length - first)};
}

PathSpan PathCall::after(const PathSpan& group, std::int64_t number) const noexcept {
  const std::int64_t first = std::min(group.end(), std::max(group.first, block(number).end()));
  return {first, group.end() - first};
}

PathMatrix PathCall::rows(const View<const float>& x, std::int64_t b, std::int64_t head,
                          const PathSpan& span) noexcept {
  return {&x(b, head, span.first, 0), span.count, x.size(3), x.stride(2), x.stride(3)};
}

PathTokens PathCall::tokens(std::int64_t b, std::int64_t kv_head,
                            const PathSpan& span) const noexcept {
  return {rows(w, b, kv_head, span), rows(k, b, kv_head, span),
          beta.data() + (b * kv_heads + kv_head) * length + span.first};
}

void PathCall::carry(std::int64_t number, const View<float>& carried_rows) const {
  constexpr std::int64_t kPiece = 128;  // rows of a task
  const PathSpan span = block(number);
  const std::int64_t count = carried_rows.size(2), pieces = (count + kPiece - 1) / kPiece;
  parallel_for(batch * heads * pieces, threads, [&](std::int64_t task) {
    const std::int64_t b = task / pieces / heads, head = task / pieces % heads,
                       first = task % pieces * kPiece, kv_head = head / (heads / kv_heads);
    float* const x = &carried_rows(b, head, first, 0);
    const PathMatrix queries{x, std::min(kPiece, count - first), dim,
                             static_cast<std::ptrdiff_t>(dim)};
    auto products = Tensor<float>::uninitialized({queries.rows, span.count});
    multiply(queries, rows(w, b, kv_head, span).transposed(),
             {.c = products.data(), .c_row = static_cast<std::ptrdiff_t>(span.count)});
    multiply({products.data(), queries.rows, span.count, static_cast<std::ptrdiff_t>(span.count)},
             rows(reflected.view(), b, kv_head, span),
             {.c = x, .c_row = static_cast<std::ptrdiff_t>(dim), .add = true});
  });
}

AttentionOptions<float> PathCall::own_options(const PathSpan& span) const {
  AttentionOptions<float> own = options_;
  own.causal = Causal::top_left;
  own.scale = 1;
  own.mask = span.of(scores.view()).narrow(3, 0, span.count);
  return own;
}

AttentionOptions<float> PathCall::part_options() const {
  AttentionOptions<float> part = options_;
  part.causal = {};
  part.sinks = {};
  part.scale = scale;
  return part;
}

MergedRows::MergedRows(const PathCall& call, std::int64_t v_dim)
    : sums_(Tensor<float>::uninitialized({call.batch, call.heads, call.group_rows(), v_dim})),
      most_({call.batch, call.heads, call.group_rows()}),
      total_(most_.shape()) {}

void MergedRows::begin() {
  for (double& most : most_.span()) most = -std::numeric_limits<double>::infinity();
}

void MergedRows::add(std::int64_t first_row, const View<const float>& part,
                     const View<const float>& logs, int threads) {
  const std::int64_t width = sums_.size(3);
  each_row(logs.shape(), threads, [&](std::int64_t b, std::int64_t head, std::int64_t i) {
    const auto log = static_cast<double>(logs(b, head, i));
    double& most = most_(b, head, first_row + i);
    double& total = total_(b, head, first_row + i);
    const bool begins = most == -std::numeric_limits<double>::infinity();
    const double kept = begins ? 0 : log > most ? std::exp(most - log) : 1;
    const double share = begins || log > most ? 1 : std::exp(log - most);
    if (begins || log > most) most = log;
    total = begins ? share : kept * total + share;
    if (width == 0) return;
    float* const sums = &sums_(b, head, first_row + i, 0);
    const float* const more = &part(b, head, i, 0);
    const auto factor = static_cast<float>(kept), weight = static_cast<float>(share);
    if (begins) {
      std::copy_n(more, width, sums);
    } else if (kept != 1) {
      for (std::int64_t c = 0; c < width; ++c)
        sums[c] = factor == 0 ? more[c] : sums[c] * factor + more[c];
    } else if (weight != 0) {
      for (std::int64_t c = 0; c < width; ++c) sums[c] += weight * more[c];
    }
  });
}

double MergedRows::log_sum_exp(std::int64_t b, std::int64_t head, std::int64_t row) const {
  return most_(b, head, row) + std::log(total_(b, head, row));
}

void MergedRows::finish(const View<float>& out, const View<float>& log_sum_exps,
                        int threads) const {
  each_row(out.shape(), threads, [&](std::int64_t b, std::int64_t head, std::int64_t i) {
    if (log_sum_exps.count() > 0) {
      log_sum_exps(b, head, i) = static_cast<float>(log_sum_exp(b, head, i));
    }
    if (out.size(3) == 0) return;
    const float* const sums = &sums_(b, head, i, 0);
    float* const to = &out(b, head, i, 0);
    const auto factor = static_cast<float>(1 / total_(b, head, i));
    for (std::int64_t c = 0; c < out.size(3); ++c) to[c * out.stride(3)] = factor * sums[c];
  });
}

}  // namespace sextant::attention_detail
