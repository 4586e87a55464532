// A rival composed of oneDNN's matrix products: blocks of scores, a softmax between the two
// products, the blocks merged as in FlashAttention-2. Blocks of 256 queries x 512 keys and whole
// rows are both tried and the faster one counts.
// bench/peers/common.py says how it is asked.
#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "attention/inputs.h"
#include "attention/measure.h"
#include "support/machine.h"
#include "support/peak.h"

namespace {

using namespace sextant::bench;
using sextant::Json;
using sextant::Tensor;
using Row = std::int64_t;

struct Arrays {
  explicit Arrays(const Problem& p)
      : problem(p),
        n(p.queries),
        d(p.head_dim),
        q(uniform<float>({p.heads, n, d}, kSeedQ)),
        k(uniform<float>({p.heads, n, d}, kSeedK)),
        v(uniform<float>({p.heads, n, d}, kSeedV)),
        out({p.heads, n, d}),
        bias(uniform<float>({p.heads, 2 * n - 1}, kSeedBias)) {}
  const Problem& problem;
  Row n, d;
  Tensor<float> q, k, v, out, bias;
};

constexpr float kLog2e = 1.44269504F;

// 2^x, relative error 2e-7, written so that the compiler makes vectors of it.
inline float exp2_of(float x) {
  x = std::max(x, -126.0F);
  const float whole = std::floor(x + 0.5F);
  const float f = x - whole;
  float p = 1.3267e-3F;
  for (const float c : {9.67546e-3F, 5.550743e-2F, 2.4022122e-1F, 6.9314695e-1F, 1.0000001F}) {
    p = p * f + c;
  }
  const std::int32_t bits = (static_cast<std::int32_t>(whole) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}

// What one query knows of its keys so far.
struct State {
  float most = -1e30F, total = 0;
};

// Turns the scores of keys [key, key + keys) of one query, in log2 units, into weights.
void softmax_row(const Arrays& a, Row head, Row query, Row key, Row keys, float* s, State& state,
                 float* out) {
  const Row visible = a.problem.causal ? std::clamp<Row>(query + 1 - key, 0, keys) : keys;
  if (a.problem.bias == "distance") {
    const float* bias = a.bias.data() + head * (2 * a.n - 1) + a.n - 1 + key - query;
    for (Row j = 0; j < visible; ++j) s[j] += bias[j] * kLog2e;
  } else if (a.problem.bias == "slopes") {
    const float slope = kLog2e * std::exp2(-8.0F * static_cast<float>(head + 1) /
                                           static_cast<float>(a.problem.heads));
    for (Row j = 0; j < visible; ++j) s[j] -= slope * static_cast<float>(std::abs(key + j - query));
  }
  float most = state.most;
  for (Row j = 0; j < visible; ++j) most = std::max(most, s[j]);
  float sum = 0;
  for (Row j = 0; j < visible; ++j) {
    s[j] = exp2_of(s[j] - most);
    sum += s[j];
  }
  std::fill(s + visible, s + keys, 0.0F);
  if (most > state.most) {
    const float factor = exp2_of(state.most - most);
    for (Row c = 0; c < a.d; ++c) out[c] *= factor;
    state.total *= factor;
    state.most = most;
  }
  state.total += sum;
}

// One block of queries of one head against all its keys.
void attend(Arrays& a, Row head, Row first, Row queries, Row key_block,
            std::vector<float>& scores) {
  scores.resize(static_cast<std::size_t>(queries * key_block));
  std::vector<State> states(static_cast<std::size_t>(queries));
  const float scale = kLog2e / std::sqrt(static_cast<float>(a.d));
  const float* q = a.q.data() + (head * a.n + first) * a.d;
  float* out = a.out.data() + (head * a.n + first) * a.d;
  std::fill_n(out, queries * a.d, 0.0F);
  const Row end = a.problem.causal ? first + queries : a.n;
  for (Row key = 0; key < end; key += key_block) {
    const Row keys = std::min(key_block, end - key);
    const float* k = a.k.data() + (head * a.n + key) * a.d;
    const float* v = a.v.data() + (head * a.n + key) * a.d;
    dnnl_sgemm('N', 'T', queries, keys, a.d, scale, q, a.d, k, a.d, 0, scores.data(), keys);
    for (Row i = 0; i < queries; ++i) {
      softmax_row(a, head, first + i, key, keys, scores.data() + i * keys,
                  states[static_cast<std::size_t>(i)], out + i * a.d);
    }
    dnnl_sgemm('N', 'N', queries, a.d, keys, 1, scores.data(), keys, v, a.d, 1, out, a.d);
  }
  for (Row i = 0; i < queries * a.d; ++i) out[i] /= states[static_cast<std::size_t>(i / a.d)].total;
}

void attend_all(Arrays& a, Row query_block, Row key_block, int threads) {
  const Row blocks = (a.n + query_block - 1) / query_block;
  omp_set_num_threads(threads);  // in a team of one, oneDNN starts as many as it may
#pragma omp parallel num_threads(threads)
  {
    static thread_local std::vector<float> scores;  // in a team of several, it keeps to one
#pragma omp for schedule(dynamic)
    for (Row task = 0; task < a.problem.heads * blocks; ++task) {
      const Row first = task % blocks * query_block;
      attend(a, task / blocks, first, std::min(query_block, a.n - first), key_block, scores);
    }
  }
}

// The faster one of the two ways to cut it.
Json measure_case(const Case& test, Arrays& arrays, int threads, double seconds) {
  Json best;
  for (const auto& [queries, keys] : {std::pair<Row, Row>{256, 512}, {arrays.n, arrays.n}}) {
    const Row query_block = queries;
    const Row key_block = keys;
    const Prepared prepared{.run =
                                [&](int used) {
                                  attend_all(arrays, query_block, key_block, used);
                                  return 1.0;
                                },
                            .yardstick = multiply_add,
                            .check = [&] { return summary(arrays.out); }};
    const Measured measured = measure(prepared, threads, seconds / 2);
    if (best.is_null() || measured.run.best * 1e3 < best["ms"].get<double>()) {
      best = {{"case", test.name},
              {"threads", threads},
              {"peer", "oneDNN products"},
              {"ms", measured.run.best * 1e3},
              {"median_ms", measured.run.median * 1e3},
              {"check", measured.check},
              {"blocks", queries == arrays.n ? "whole rows" : "256 x 512"}};
    }
  }
  return best;
}

}  // namespace

int main(int, char** argv) {
  pin_openmp_threads(argv);
  const auto answer = [](const Json& content) { std::cout << content << std::endl; };
  const dnnl_version_t& v = *dnnl_version();
  answer({{"peers",
           {{"oneDNN", std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
                           std::to_string(v.patch)}}}});
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    const Case test = from_json(request.at("case"));
    const Problem& p = test.problem;
    Json rows = Json::array();
    if ((p.kind == "forward" || p.kind == "small") && p.dtype == "f32" && p.window == 0 &&
        p.softcap == 0) {
      Arrays arrays(p);
      for (const int threads : request.at("threads").get<std::vector<int>>()) {
        rows.push_back(measure_case(test, arrays, threads, request.at("seconds").get<double>()));
      }
    }
    answer({{"rows", rows}, {"skipped", Json::array()}});
  }
}
