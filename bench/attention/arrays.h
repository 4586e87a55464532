// What a call of the operator needs, made from a case.
#pragma once

#include <cmath>
#include <memory>

#include "attention/cases.h"
#include "attention/inputs.h"
#include "sextant/attention/attention.h"

namespace sextant::bench {

template <class T>
struct Arrays {
  Tensor<T> q, k, v, out;
  DistanceBias bias{};

  AttentionOptions<T> options(const Problem& problem, int threads) const {
    return {
        .causal = problem.causal ? Causal::bottom_right : Causal::none,
        .window = {problem.window > 0 ? problem.window - 1 : -1, -1},
        .bias = problem.bias.empty() ? nullptr : &bias,
        .softcap = problem.softcap,
        .matmul_precision = problem.rounded ? MatmulPrecision::bfloat16 : MatmulPrecision::float32,
        .threads = threads};
  }
};

template <class T>
std::shared_ptr<Arrays<T>> make_arrays(const Problem& problem) {
  auto a = std::make_shared<Arrays<T>>();
  a->q = uniform<T>({1, problem.heads, problem.queries, problem.head_dim}, kSeedQ);
  a->k = uniform<T>({1, problem.kv_heads, problem.keys, problem.head_dim}, kSeedK);
  a->v = uniform<T>({1, problem.kv_heads, problem.keys, problem.head_dim}, kSeedV);
  a->out = Tensor<T>({1, problem.heads, problem.queries, problem.head_dim});
  if (problem.bias == "distance") {
    a->bias = {uniform<float>({problem.heads, 2 * problem.keys - 1}, kSeedBias), problem.keys - 1};
  } else if (problem.bias == "slopes") {  // Press et al. 2021, section 3: 2^(-8 h / heads)
    const auto heads = static_cast<double>(problem.heads);
    for (double h = 1; h <= heads; ++h) a->bias.slopes.push_back(std::exp2(-8 * h / heads));
  }
  return a;
}

inline bool has_bias(const Problem& problem) {
  return !problem.bias.empty() || problem.window > 0 || problem.softcap > 0;
}

inline Problem without_bias(Problem problem) {
  problem.bias = "";
  problem.window = 0;
  problem.softcap = 0;
  return problem;
}

}  // namespace sextant::bench
