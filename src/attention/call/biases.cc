// Computes the biases and terms of one head of one sequence, from all sources, for kernels.
#include "attention/call/biases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/call/term_rows.h"
#include "kernels/attention/geometry.h"

namespace sextant::attention_detail {
namespace {

constexpr float kHiddenBias = -std::numeric_limits<float>::infinity();

// Adds so that a hidden pair stays hidden also with +infinity.
float sum(float a, float b) noexcept {
  return a == kHiddenBias || b == kHiddenBias ? kHiddenBias : a + b;
}

// A pair's bias from a table plus that of the slope, rounded once; finite stays finite.
float rounded_sum(double added, double sloped) noexcept {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  if (added == -std::numeric_limits<double>::infinity()) return kHiddenBias;
  const double both = added + sloped;
  return static_cast<float>(both < kLowest ? kLowest : both);
}

// Rows as float32, in place, `stored_stride` apart, or in `memory`, and their stride. Those of a
// tile lie in one block of keys, so in one page of a cache.
template <class RowAt>
const float* rows(const RowAt& row_at, std::int64_t count, std::int64_t stored_stride,
                  float* memory, std::int64_t& stride) noexcept {
  const AnyRow<const void> first = row_at(0);
  if (const auto* from = first.template in_place<float>()) {
    stride = stored_stride;
    return from;
  }
  stride = first.count;
  for (std::int64_t r = 0; r < count; ++r) row_at(r).load(memory + r * stride);
  return memory;
}

}  // namespace

std::int64_t term_floats(const AttentionCall& a) noexcept {
  const TermNeeds& of_logits = a.logit_term.needs;
  std::int64_t scratch = of_logits.scratch + of_logits.scratch_per_key * a.k_len;
  for (const TermUse& use : a.bias_terms) scratch = std::max(scratch, use.needs.scratch);
  const std::int64_t rows = a.terms_read_rows() ? kernels::kQueryBlock + kernels::kKeyBlock : 0;
  return rows * a.head_dim + scratch;
}

TermEffect HeadBiases::effect(std::int64_t first_query, std::int64_t queries,
                              std::int64_t first_key, std::int64_t keys) const noexcept {
  if (call.bias_terms.empty()) return TermEffect::some;
  const ScoreRect rect = call.rect(sequence, head, first_query, queries, first_key, keys);
  bool none = !call.has_mask() && !has_distances() && call.logit_term.term == nullptr;
  for (const TermUse& use : call.bias_terms) {
    const TermEffect of_term = use.term->effect(rect);
    if (of_term == TermEffect::hides) return of_term;
    none = none && of_term == TermEffect::none;
  }
  return none ? TermEffect::none : TermEffect::some;
}

void HeadBiases::fill_distances(std::int64_t first_distance, std::int64_t count, double factor,
                                float* to) const noexcept {
  const double slope = -call.slope(head) * factor;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = rounded_sum(0, slope * std::abs(static_cast<double>(first_distance + i)));
  }
  const float* row = call.bias_row(head);
  if (row == nullptr) return;
  const std::int64_t origin = call.bias->origin;
  const std::int64_t begin = std::max<std::int64_t>(0, -(first_distance + origin));
  const std::int64_t end = std::min(count, call.bias->values.size(1) - (first_distance + origin));
  for (std::int64_t i = begin; i < end; ++i) {
    to[i] = rounded_sum(static_cast<double>(row[first_distance + origin + i]) * factor,
                        slope * std::abs(static_cast<double>(first_distance + i)));
  }
}

void HeadBiases::add_by_ids(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                            float* to) const noexcept {
  const std::int64_t position = call.query_position(sequence, query);
  const std::int64_t* ids = call.key_ids.at(sequence.k_batch, sequence.k_begin + first_key);
  const double slope = -call.slope(head);
  const float* row = call.bias_row(head);
  const std::int64_t origin = row == nullptr ? 0 : call.bias->origin;
  const std::int64_t columns = row == nullptr ? 0 : call.bias->values.size(1);
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int64_t distance = ids[j] - position, column = distance + origin;
    // Distances outside the table belong to hidden pairs.
    const double added = column >= 0 && column < columns ? static_cast<double>(row[column]) : 0;
    to[j] = sum(to[j], rounded_sum(added, slope * std::abs(static_cast<double>(distance))));
  }
}

void HeadBiases::add_masks(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                           float* to) const noexcept {
  const AttentionCall& a = call;
  const auto row_of = [&](const auto& mask) {
    return mask.data + sequence.batch * mask.strides[0] + head * mask.strides[1] +
           (sequence.q_begin + query) * mask.strides[2] +
           (sequence.k_begin + first_key) * mask.strides[3];
  };
  if (a.float_mask.data != nullptr) {
    const auto* from = row_of(a.float_mask);
    const std::int64_t stride = a.float_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) {
      to[j] = sum(to[j], static_cast<float>(from[j * stride]));
    }
  }
  if (a.bool_mask.data != nullptr) {
    const std::uint8_t* from = row_of(a.bool_mask);
    const std::int64_t stride = a.bool_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) to[j] = from[j * stride] != 0 ? to[j] : kHiddenBias;
  }
}

void HeadBiases::fill_rows(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                           std::int64_t keys, const float* distances, std::int64_t first_distance,
                           float* to, std::int64_t to_row, float* memory) const noexcept {
  fill_biases(first_query, queries, first_key, keys, distances, first_distance, to, to_row, memory);
  if (term_rows != nullptr) {
    term_rows->add_to(first_query, queries, first_key, keys, to, to_row);
  } else if (call.logit_term.term != nullptr) {
    add_term(call.logit_term, call.rect(sequence, head, first_query, queries, first_key, keys), to,
             to_row, memory);
  }
}

void HeadBiases::fill_biases(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                             std::int64_t keys, const float* distances, std::int64_t first_distance,
                             float* rows, std::int64_t to_row, float* memory) const noexcept {
  const AttentionCall& a = call;
  const ScoreRect rect = a.rect(sequence, head, first_query, queries, first_key, keys);
  for (std::int64_t i = 0; i < queries; ++i) std::fill_n(rows + i * to_row, keys, 0.0F);
  for (const TermUse& use : a.bias_terms) add_term(use, rect, rows, to_row, memory);
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t query = first_query + i;
    float* to = rows + i * to_row;
    if (distances != nullptr) {
      const float* from =
          distances + (first_key - a.diagonal_key(sequence, query) - first_distance);
      for (std::int64_t j = 0; j < keys; ++j) to[j] = sum(to[j], from[j]);
    } else if (a.by_ids && has_distances()) {
      add_by_ids(query, first_key, keys, to);
    }
    add_masks(query, first_key, keys, to);
  }
}

void HeadBiases::add_term(const TermUse& use, const ScoreRect& rect, float* to, std::int64_t to_row,
                          float* memory) const noexcept {
  ScoreTile<float> tile{inputs(use, rect, memory)};
  tile.scores = to;
  tile.stride = to_row;
  use.term->add(tile);
}

ScoreInputs<float> HeadBiases::inputs(const TermUse& use, const ScoreRect& rect,
                                      float* memory) const noexcept {
  const AttentionCall& a = call;
  ScoreInputs<float> tile{rect};
  tile.head_dim = a.head_dim;
  tile.scale = a.numbers.scale;
  if (a.terms_read_rows()) {
    float* const key_memory = memory + kernels::kQueryBlock * a.head_dim;
    if (use.needs.q) {
      tile.q = rows(
          [&](std::int64_t i) {
            return a.q.row(sequence.batch, head, sequence.q_begin + rect.first_query + i);
          },
          rect.queries, a.q.stride(2), memory, tile.q_stride);
    }
    if (use.needs.k) {
      tile.k = rows(
          [&](std::int64_t j) { return a.k.row(sequence, a.key_head(head), rect.first_key + j); },
          rect.keys, a.k.stride(2), key_memory, tile.k_stride);
    }
    memory = key_memory + kernels::kKeyBlock * a.head_dim;
  }
  tile.scratch = memory;
  return tile;
}

}  // namespace sextant::attention_detail
