// The cases of the attention benchmark: what each one computes, and what it is compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sextant::bench {

// One case in full. The rivals in bench/peers read the same fields from `attention --list-json`.
struct Problem {
  std::string kind = "forward";  // forward, backward, decode, rotate or small
  std::int64_t heads = 8, kv_heads = 8, queries = 0, keys = 0, head_dim = 0;
  std::string dtype = "f32";  // f32, bf16, f16; int8: decode
  bool rounded = false;       // products of bfloat16 where the processor has them
  bool causal = false;        // the last query sees every key
  std::int64_t window = 0;    // keys seen to the left, the own one counted; 0: all
  std::string bias{};         // "", slopes (ALiBi) or distance (a random table per head)
  double softcap = 0;
  std::string layout{};  // rotate: half_split or interleaved
  bool in_place = false;
};

struct Case {
  std::string name;  // unique; the rivals' results are found by it
  std::string
      target;  // the issue's: share of the yardstick on Intel / Zen 4, then ratio to a rival
  Problem problem;
};

// `quick` has the same cases, with lengths divided by 16.
std::vector<Case> all_cases(bool quick);
Json to_json(const Case& test);
Case from_json(const Json& json);

// Does some work on that many threads; returns how much: floating-point operations or bytes.
using Work = std::function<double(int threads)>;

// A case with its arrays, uniform in [-1, 1] and touched, as are the outputs.
struct Prepared {
  Work run;
  Work yardstick;
  Work plain{};  // the same without bias, window or softcap; empty where there is nothing to leave
                 // out
  std::function<std::vector<double>()>
      check{};                   // a few numbers of the result, to compare with rivals
  std::string unit = "GFLOP/s";  // or GB/s
  std::string yardstick_name = "FMA peak";
  Work other_yardstick{};  // in the same unit: the slower of both counts; empty: there is one
  std::string other_yardstick_name{};
};

Prepared prepare(const Problem& problem);
Prepared prepare_forward(const Problem& problem);  // decode and small too
Prepared prepare_backward(const Problem& problem);
Prepared prepare_rotate(const Problem& problem);

// How many pairs of one query and one key one head sees.
double visible_pairs(const Problem& problem);

// The loops one would write without this library, one thread, float32, [head, position, channel].
void plain_loops(const Problem& problem, const float* q, const float* k, const float* v,
                 float* scores, float* out);

}  // namespace sextant::bench
