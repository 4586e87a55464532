// Multiplies queries by a number tau(p) that grows slowly with the position p, 0 .. 2^53: in steps
// (Llama 4; Ministral 3), or with the logarithm of the length beyond that of training (log-n
// scaling: Su 2021, kexue.fm/archives/8823; Chiang and Cholak 2022, 2202.12172; Qwen 1).
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/core/names.h"

namespace sextant {

// The formula of tau(p).
enum class QueryGrowth {
  steps,  // 1 + attn_scale ln(floor((p + floor_offset) / floor_scale) + 1)
  log_n,  // max(1, ln(p + 1) / ln(train_length))
};

struct QueryScale {
  double attn_scale = 0;          // of steps: 0 .. 1000; 0: tau is 1
  double floor_scale = 8192;      // of steps: >= 1, finite; positions per step of tau
  std::int64_t floor_offset = 1;  // of steps: Llama 4 counts positions from 1, Ministral 3 from 0
  QueryGrowth growth = QueryGrowth::steps;
  std::int64_t train_length = 2048;  // of log_n: 2 .. 2^53; tau is 1 at positions below it

  // Whether tau differs from 1 at some position.
  bool is_on() const noexcept { return growth == QueryGrowth::log_n || attn_scale != 0; }
};

std::string_view name_of(QueryGrowth) noexcept;

}  // namespace sextant
