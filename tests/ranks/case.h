// Calls of the operator by their options: each alone, and all together.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant::ranks {

// What a case may ask for; see AttentionOptions.
struct Case {
  std::string name;
  std::int64_t q_len = 200, k_len = 200;
  std::optional<Causal> causal{};
  Window window{};
  bool offsets = false, lengths = false, segments = false, key_segments = false;
  bool table = false, one_row = false, slopes = false, rotation = false, ids = false;
  bool indexed = false, sinks = false, bool_mask = false, float_mask = false, key_mask = false;
  double softcap = 0;
  double size = 1;  // of q
  std::int64_t kv_heads = 2;
  std::string content{};  // of content_term()
};

inline void PrintTo(const Case& of, std::ostream* to) { *to << of.name; }

// Those that every algorithm takes.
inline std::vector<Case> cases() {
  const auto left = Causal::top_left;
  return {
      {.name = "plain"},
      {.name = "causal", .causal = left},
      {.name = "cross", .q_len = 100, .k_len = 271},
      {.name = "bottom_right", .q_len = 130, .k_len = 233, .causal = Causal::bottom_right},
      {.name = "window", .causal = left, .window = {40, -1}},
      {.name = "narrow_window", .window = {7, 5}},
      {.name = "offsets",
       .q_len = 90,
       .k_len = 300,
       .causal = Causal::at_offsets,
       .window = {100, -1},
       .offsets = true},
      {.name = "lengths", .lengths = true},
      {.name = "at_lengths", .causal = Causal::at_lengths, .lengths = true, .slopes = true},
      {.name = "segments", .causal = left, .segments = true, .rotation = true},
      {.name = "key_segments",
       .q_len = 200,
       .k_len = 250,
       .causal = Causal::bottom_right,
       .segments = true,
       .key_segments = true,
       .table = true},
      {.name = "table", .causal = left, .table = true},
      {.name = "one_row", .table = true, .one_row = true},
      {.name = "slopes", .causal = left, .slopes = true},
      {.name = "rotation", .causal = left, .rotation = true},
      {.name = "rotation_table", .causal = left, .table = true, .rotation = true},
      {.name = "ids", .causal = left, .slopes = true, .rotation = true, .ids = true},
      {.name = "indexed", .causal = left, .segments = true, .indexed = true},
      {.name = "indexed_ids", .ids = true, .indexed = true},
      {.name = "sinks", .causal = left, .window = {30, -1}, .sinks = true},
      {.name = "softcap", .slopes = true, .softcap = 2},
      {.name = "bool_mask", .bool_mask = true},
      {.name = "float_mask", .causal = left, .float_mask = true},
      {.name = "key_mask", .key_mask = true},
      {.name = "short_bool_mask", .q_len = 3, .bool_mask = true},
      {.name = "short_float_mask", .q_len = 4, .k_len = 9, .float_mask = true},
      {.name = "one_head", .causal = left, .kv_heads = 1},
      {.name = "large_scores", .causal = left, .size = 60},
      {.name = "long", .q_len = 520, .k_len = 900, .causal = Causal::bottom_right, .slopes = true},
      {.name = "short", .q_len = 3, .k_len = 3, .causal = left},
      {.name = "no_keys", .q_len = 50, .k_len = 0},
      {.name = "all",
       .causal = left,
       .window = {120, -1},
       .table = true,
       .slopes = true,
       .rotation = true,
       .indexed = true,
       .sinks = true,
       .float_mask = true,
       .softcap = 5},
  };
}

// Those with a content term, which a ring does not take.
inline std::vector<Case> content_cases() {
  const auto left = Causal::top_left;
  return {
      {.name = "placed", .causal = left, .content = "placed"},
      {.name = "placed_segments", .segments = true, .content = "placed"},
      {.name = "placed_window", .window = {30, 8}, .softcap = 2, .content = "placed"},
      {.name = "shaw", .causal = left, .content = "shaw"},
      {.name = "shaw_keys",
       .q_len = 130,
       .k_len = 233,
       .causal = Causal::bottom_right,
       .content = "shaw_keys"},
      {.name = "shaw_segments",
       .q_len = 200,
       .k_len = 250,
       .causal = Causal::bottom_right,
       .segments = true,
       .key_segments = true,
       .content = "shaw"},
      {.name = "cope", .causal = left, .content = "cope"},
      {.name = "cope_window", .causal = left, .window = {50, -1}, .sinks = true, .content = "cope"},
      {.name = "cope_segments", .causal = left, .segments = true, .content = "cope"},
      {.name = "deberta", .bool_mask = true, .content = "deberta"},
      {.name = "deberta_lengths", .lengths = true, .content = "deberta"},
      {.name = "forgetting", .causal = left, .slopes = true, .content = "forgetting"},
      {.name = "forgetting_segments", .causal = left, .segments = true, .content = "forgetting"},
      {.name = "transformer_xl", .causal = left, .content = "transformer_xl"},
      {.name = "transformer_xl_all",
       .causal = left,
       .window = {120, -1},
       .table = true,
       .rotation = true,
       .indexed = true,
       .sinks = true,
       .float_mask = true,
       .softcap = 5,
       .content = "transformer_xl"},
  };
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all = cases();
  for (Case& each : content_cases()) all.push_back(std::move(each));
  return all;
}

}  // namespace sextant::ranks
