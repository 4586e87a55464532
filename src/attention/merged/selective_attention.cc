// Selective attention: blocks of queries with the sums of what earlier ones selected as their mask.
#include "sextant/attention/selective_attention.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/backward/arguments.h"
#include "attention/call/arguments.h"
#include "attention/merged/merged_options.h"
#include "attention/merged/selection.h"

namespace sextant {
namespace {

using attention_detail::add_rows;
using attention_detail::kSelectionRows;
using attention_detail::Selection;
using attention_detail::SelectionBlock;

SelectionBlock selection_block(std::int64_t number, std::int64_t length) {
  const std::int64_t first = number * kSelectionRows;
  return {first, std::min(kSelectionRows, length - first)};
}

// The options of the call of one block, which borrow the mask and the offsets.
AttentionOptions<float> block_options(const AttentionOptions<float>& options,
                                      const Tensor<float>& mask, std::vector<std::int64_t>& offsets,
                                      const SelectionBlock& block) {
  std::fill(offsets.begin(), offsets.end(), block.first);
  AttentionOptions<float> of_block = options;
  of_block.causal = Causal::at_offsets;
  of_block.query_offsets = offsets;
  of_block.mask = mask.view();
  return of_block;
}

void set_zero(const MemberView<float>& x) {
  attention_detail::each_row(x.shape(), 1, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    for (std::int64_t c = 0; c < x.size(3); ++c) x(b, h, i, c) = 0;
  });
}

}  // namespace

void selective_attention(View<const float> q, View<const float> k, View<const float> v,
                         View<float> out, const SelectiveAttention& selective,
                         const AttentionOptions<float>& options, View<float> log_sum_exps) {
  constexpr std::string_view kName = "selective_attention";
  attention_detail::check_selection(kName, q, k, selective, options);
  auto call = attention_detail::check_scores(kName, q, attention_detail::KeyArray(k), options);
  attention_detail::check_values(kName, call, attention_detail::KeyArray(v), AnyOutput(out),
                                 log_sum_exps, options);
  const std::int64_t batch = q.size(0), length = q.size(2);
  if (batch == 0 || length == 0) return;
  const Selection selection(q, k, selective, options);
  Tensor<double> taken({batch, length});
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch));
  for (std::int64_t n = 0; n * kSelectionRows < length; ++n) {
    const SelectionBlock block = selection_block(n, length);
    const Tensor<float> z = selection.scores(block);
    auto mask = Tensor<float>::uninitialized(z.shape());
    selection.take(block, z, taken, &mask);
    View<float> logs;
    if (attention_detail::is_given(log_sum_exps)) logs = block.of_queries(log_sum_exps);
    attention<float>(block.of_queries(q), block.of_keys(k), block.of_keys(v), block.of_queries(out),
                     block_options(options, mask, offsets, block), logs);
  }
}

void selective_attention_backward(View<const float> q, View<const float> k, View<const float> v,
                                  View<const float> out, View<const float> dout,
                                  const AttentionGradients<float>& gradients,
                                  const SelectiveAttention& selective,
                                  const AttentionOptions<float>& options,
                                  View<const float> log_sum_exps) {
  constexpr std::string_view kName = "selective_attention_backward";
  attention_detail::check_selection(kName, q, k, selective, options);
  attention_detail::check_backward(kName, q, k, v, out, dout,
                                   attention_detail::WantedGradients(gradients), options,
                                   log_sum_exps);
  const std::int64_t batch = q.size(0), length = q.size(2);
  const bool has_q = gradients.q.count() > 0, has_k = gradients.k.count() > 0,
             has_v = gradients.v.count() > 0;
  if (has_k) set_zero(gradients.k);
  if (has_v) set_zero(gradients.v);
  for (std::int64_t h = 0; h < gradients.sinks.count(); ++h) gradients.sinks(h) = 0;
  if (batch == 0 || length == 0) return;
  Selection selection(q, k, selective, options);

  // Blocks are taken from the last to the first. Sums before each of a group of blocks are made
  // again from those before the group, which a first pass keeps.
  const std::int64_t blocks = (length + kSelectionRows - 1) / kSelectionRows;
  const auto group = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(blocks))));
  std::vector<Tensor<double>> before_groups;
  Tensor<double> taken({batch, length});
  for (std::int64_t n = 0; n < blocks; ++n) {
    if (n % group == 0) before_groups.push_back(taken.clone());
    const SelectionBlock block = selection_block(n, length);
    if (n / group < (blocks - 1) / group) selection.take(block, selection.scores(block), taken);
  }

  Tensor<double> later({batch, length});  // the gradients of S from the rows after a block
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch));
  std::vector<Tensor<double>> before_blocks;
  for (std::int64_t n = blocks - 1; n >= 0; --n) {
    if (before_blocks.empty()) {
      taken = std::move(before_groups.back());
      before_groups.pop_back();
      for (std::int64_t m = n / group * group; m <= n; ++m) {
        before_blocks.push_back(taken.clone());
        const SelectionBlock block = selection_block(m, length);
        if (m < n) selection.take(block, selection.scores(block), taken);
      }
    }
    const SelectionBlock block = selection_block(n, length);
    Tensor<float> z = selection.scores(block), of_mask, dk, dv, dsinks;
    auto mask = Tensor<float>::uninitialized(z.shape());
    selection.take(block, z, before_blocks.back(), &mask);
    before_blocks.pop_back();
    AttentionGradients<float> wanted;
    const auto room = [](bool is_wanted, const Shape& shape, Tensor<float>& tensor,
                         MemberView<float>& to) {
      if (!is_wanted) return;
      tensor = Tensor<float>(shape);
      to = tensor.view();
    };
    if (has_q) wanted.q = block.of_queries<float>(gradients.q);
    room(has_k, {batch, k.size(1), block.keys(), k.size(3)}, dk, wanted.k);
    room(has_v, {batch, v.size(1), block.keys(), v.size(3)}, dv, wanted.v);
    room(has_q || has_k, z.shape(), of_mask, wanted.mask);
    room(gradients.sinks.count() > 0, {gradients.sinks.count()}, dsinks, wanted.sinks);
    View<const float> logs;
    if (attention_detail::is_given(log_sum_exps)) logs = block.of_queries(log_sum_exps);
    attention_backward<float>(block.of_queries(q), block.of_keys(k), block.of_keys(v),
                              block.of_queries(out), block.of_queries(dout), wanted,
                              block_options(options, mask, offsets, block), logs);
    if (has_k) {
      add_rows(std::as_const(dk).view(), block.of_keys<float>(gradients.k), options.threads);
    }
    if (has_v) {
      add_rows(std::as_const(dv).view(), block.of_keys<float>(gradients.v), options.threads);
    }
    for (std::int64_t h = 0; h < dsinks.count(); ++h) gradients.sinks(h) += dsinks(h);
    if (!has_q && !has_k) continue;
    selection.untake(block, of_mask, later, z);
    selection.add_gradients(block, z);
  }
  if (has_q || has_k) selection.finish(gradients.q, gradients.k);
}

}  // namespace sextant
