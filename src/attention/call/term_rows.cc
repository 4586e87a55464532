// Numbers of the term of the logits for whole rows of scores.
#include "attention/call/term_rows.h"

#include <algorithm>
#include <limits>

#include "attention/forward/kernel_rows.h"
#include "kernels/attention/bias_rows.h"
#include "kernels/attention/row_functions.h"

namespace sextant::attention_detail {
namespace {

using kernels::kKeyBlock, kernels::kQueryBlock;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Whether anything but causal, window and lengths may hide a key.
bool may_hide(const AttentionCall& a) {
  return a.has_mask() || !a.bias_terms.empty() || a.has_bias_table();
}

// Whether the product reads keys where they are.
bool in_place(const AttentionCall& a) {
  return a.rotation == nullptr && !a.k.is_paged() && a.k.dtype() != DType::int8;
}

}  // namespace

TermRows::Arrays TermRows::divide(ScratchDivider<float>& arrays, const AttentionCall& a,
                                  std::int64_t queries, std::int64_t keys) {
  const std::int64_t scores = queries * stride_of(keys);
  return {.scores = arrays.take(scores),
          .numbers = arrays.take(scores),
          .capped = arrays.take_if(a.numbers.has_steps(), scores),
          .q = arrays.take(queries * a.head_dim),
          .tile = arrays.take_if(may_hide(a), kQueryBlock * kKeyBlock)};
}

std::int64_t TermRows::key_floats(const AttentionCall& a, std::int64_t keys) noexcept {
  return in_place(a) ? 0 : keys * a.head_dim;
}

TermRows::Keys TermRows::load_keys(const HeadBiases& biases, KeyRange keys,
                                   float* memory) noexcept {
  const AttentionCall& a = biases.call;
  const Sequence& at = biases.sequence;
  const std::int64_t n = a.head_dim, key_head = a.key_head(biases.head);
  if (in_place(a)) {
    const kernels::StoredRows stored = a.k.rows(at, key_head).from(keys.begin);
    kernels::StoredMatrix rows(static_cast<const float*>(stored.data), stored.row_stride,
                               stored.channel_stride);
    rows.storage = stored.storage;
    return {rows, keys.begin};
  }
  for (std::int64_t j = keys.begin; j < keys.end; ++j) {
    a.k.row(at, key_head, j).load(memory + (j - keys.begin) * n);
  }
  if (a.rotation != nullptr && keys.begin < keys.end) {
    kernels::rotate_rows(memory, n, keys.end - keys.begin,
                         key_rotation(a, at, key_head).from(keys.begin));
  }
  return {kernels::StoredMatrix(static_cast<const float*>(memory), n, 1), keys.begin};
}

// The keys that any of some queries sees.
KeyRange TermRows::visible_keys(const HeadBiases& biases, std::int64_t query,
                                std::int64_t queries) const noexcept {
  const std::int64_t begin = biases.call.visible(biases.sequence, query).begin;
  const std::int64_t end = biases.call.visible(biases.sequence, query + queries - 1).end;
  return {begin, std::max(begin, end)};
}

void TermRows::compute(const HeadBiases& biases, std::int64_t first_query, std::int64_t queries,
                       const float* distances, std::int64_t first_distance, const Keys& keys_from,
                       const Arrays& arrays, float* memory) {
  const AttentionCall& a = biases.call;
  first_query_ = first_query;
  queries_ = queries;
  keys_ = visible_keys(biases, first_query, queries);
  stride_ = stride_of(keys());
  arrays_ = arrays;
  if (keys() == 0) return;
  load_queries(biases);
  k_ = keys_from.rows.from(keys_.begin - keys_from.first, 0);
  kernels::matmul({queries, keys(), a.head_dim}, {arrays.q, a.head_dim, 1},
                  k_.with_elements([](const auto& m) {
                    return kernels::StoredMatrix(m.data, m.column_stride, m.row_stride);
                  }),
                  {.c = arrays.scores, .c_row = stride_}, 1);
  hide(biases, distances, first_distance, memory);
  for (std::int64_t i = 0; i < queries; ++i) {
    std::copy_n(arrays.scores + i * stride_, keys(), arrays.numbers + i * stride_);
  }
  for_each_tile(biases, memory,
                [&](const ScoreInputs<float>& inputs, std::int64_t i, std::int64_t j) {
                  ScoreTile<float> tile{inputs};
                  tile.scores = arrays.numbers + i * stride_ + j;
                  tile.stride = stride_;
                  a.logit_term.term->add(tile);
                });
  subtract_scores(static_cast<float>(a.numbers.softcap));
}

// The scaled queries, rotated.
void TermRows::load_queries(const HeadBiases& biases) noexcept {
  const AttentionCall& a = biases.call;
  const Sequence& at = biases.sequence;
  const std::int64_t n = a.head_dim;
  for (std::int64_t i = 0; i < queries_; ++i) {
    a.q.row(at.batch, biases.head, at.q_begin + first_query_ + i).load(arrays_.q + i * n);
  }
  if (a.rotation != nullptr) {
    kernels::rotate_rows(arrays_.q, n, queries_,
                         query_rotation(a, at, biases.head).from(first_query_));
  }
  const auto scale = static_cast<float>(a.numbers.scale);
  std::for_each_n(arrays_.q, queries_ * n, [scale](float& x) { x *= scale; });
}

void TermRows::hide(const HeadBiases& biases, const float* distances, std::int64_t first_distance,
                    float* memory) noexcept {
  const AttentionCall& a = biases.call;
  for (std::int64_t i = 0; i < queries_; ++i) {
    const KeyRange seen = a.visible(biases.sequence, first_query_ + i);
    float* const row = arrays_.scores + i * stride_;
    std::fill(row, row + (seen.begin - keys_.begin), -kInfinity);
    std::fill(row + (seen.end - keys_.begin), row + keys(), -kInfinity);
  }
  if (arrays_.tile == nullptr) return;
  for (std::int64_t i = 0; i < queries_; i += kQueryBlock) {
    const std::int64_t rows = std::min<std::int64_t>(kQueryBlock, queries_ - i);
    const KeyRange seen = visible_keys(biases, first_query_ + i, rows);
    for_each_block(seen, [&](std::int64_t first, std::int64_t count) {
      const TermEffect effect = biases.effect(first_query_ + i, rows, first, count);
      float* const scores = arrays_.scores + i * stride_ + (first - keys_.begin);
      if (effect == TermEffect::hides) {
        for (std::int64_t r = 0; r < rows; ++r)
          std::fill_n(scores + r * stride_, count, -kInfinity);
        return;
      }
      biases.fill_biases(first_query_ + i, rows, first, count, distances, first_distance,
                         arrays_.tile, kKeyBlock, memory);
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* const tile = arrays_.tile + r * kKeyBlock;
        float* const row = scores + r * stride_;
        for (std::int64_t n = 0; n < count; ++n) {
          row[n] = tile[n] == -kInfinity ? -kInfinity : row[n];
        }
      }
    });
  }
}

// The numbers are scores with the term so far.
void TermRows::subtract_scores(float softcap) noexcept {
  for (std::int64_t i = 0; i < queries_; ++i) {
    float* const scores = arrays_.scores + i * stride_;
    float* const to = arrays_.numbers + i * stride_;
    if (arrays_.capped == nullptr) {
      kernels::score_differences(to, scores, keys(), to);
      continue;
    }
    // The kernel adds to the capped score.
    float* const capped = arrays_.capped + i * stride_;
    kernels::softcaps(to, keys(), softcap, capped);
    kernels::softcaps(scores, keys(), softcap, to);
    kernels::score_differences(capped, to, keys(), to);
  }
}

void TermRows::add_to(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                      std::int64_t keys, float* to, std::int64_t to_row) const noexcept {
  const std::int64_t begin = std::max(first_key, keys_.begin);
  const std::int64_t count = std::min(first_key + keys, keys_.end) - begin;
  if (count <= 0) return;
  const auto add = [](const kernels::BiasRow* rows, std::int64_t number) {
    kernels::add_to_visible(rows, number, 1);
  };
  kernels::RowList<kernels::BiasRow, decltype(add)> rows(add);
  for (std::int64_t i = 0; i < queries; ++i) {
    rows.add({arrays_.numbers + (first_query - first_query_ + i) * stride_ + (begin - keys_.begin),
              to + i * to_row + (begin - first_key), static_cast<std::int32_t>(count), 1});
  }
}

}  // namespace sextant::attention_detail
