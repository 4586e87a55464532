// How near is attention to the peak of multiply-adds where there is no other ceiling: in the page,
// in WebAssembly, and natively with SEXTANT_TARGET=SSSE3, which has vectors as wide? One thread,
// both measured in turns; prints JSON. `browser [ROUNDS]`.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/attention/plan.h"
#include "sextant/core/random.h"
#include "support/peak.h"

namespace {

using namespace sextant;

// Short enough that a busy machine leaves some rounds alone.
constexpr std::int64_t kHeads = 1, kLength = 512, kDim = 64;
// q k^T and weights times v: a multiplication and an addition each.
constexpr double kOperations = 4.0 * kHeads * kLength * kLength * kDim;

Tensor<float> random_rows(std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<float> rows({1, kHeads, kLength, kDim});
  for (float& value : rows.span()) value = static_cast<float>(random.normal());
  return rows;
}

// Billions of operations per second of `work`, which returns how many it did.
template <class Work>
double rate(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double done = work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return done / std::max(passed.count(), 1e-9) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = std::clamp(argc > 1 ? std::atoi(argv[1]) : 100, 1, 1000);
  const Tensor<float> q = random_rows(1), k = random_rows(2), v = random_rows(3);
  Tensor<float> out({1, kHeads, kLength, kDim});
  AttentionOptions<float> options;
  options.threads = 1;
  // A browser's clock has steps of 0.1 ms: 5 to 10 ms each.
  const auto attend = [&] {
    double done = 0;
    for (int i = 0; i < 4; ++i, done += kOperations) attention<float>(q, k, v, out, options);
    return done;
  };
  const auto multiply_add = [] {
    double done = 0;
    for (int i = 0; i < 8; ++i) done += bench::multiply_add(1);
    return done;
  };
  attend();
  multiply_add();
  double attention_rate = 0, peak = 0;
  for (int round = 0; round < rounds; ++round) {
    attention_rate = std::max(attention_rate, rate(attend));
    peak = std::max(peak, rate(multiply_add));
  }
  std::printf(
      "{\"attention_gflops\": %.3f, \"peak_gflops\": %.3f, \"share\": %.4f, \"target\": \"%s\"}\n",
      attention_rate, peak, attention_rate / peak,
      attention_plan<float>(q, k, v, options).target.c_str());
}
