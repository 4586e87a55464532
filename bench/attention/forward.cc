// Forward cases: long prompts, one query against a cache, and small calls.
#include <cmath>
#include <memory>
#include <vector>

#include "attention/cases.h"
#include "attention/inputs.h"
#include "sextant/attention/attention.h"
#include "support/peak.h"

namespace sextant::bench {
namespace {

template <class T>
struct Arrays {
  Tensor<T> q, k, v, out;
  DistanceBias bias{};
  std::vector<double> slopes{};
  std::vector<float> scores{};
};

template <class T>
std::shared_ptr<Arrays<T>> make_arrays(const Problem& problem) {
  auto a = std::make_shared<Arrays<T>>();
  a->q = uniform<T>({1, problem.heads, problem.queries, problem.head_dim}, kSeedQ);
  a->k = uniform<T>({1, problem.heads_k, problem.keys, problem.head_dim}, kSeedK);
  a->v = uniform<T>({1, problem.heads_k, problem.keys, problem.head_dim}, kSeedV);
  a->out = Tensor<T>({1, problem.heads, problem.queries, problem.head_dim});
  if (problem.bias == "distance") {
    a->bias = {uniform<float>({problem.heads, 2 * problem.keys - 1}, kSeedBias), problem.keys - 1};
  } else if (problem.bias == "slopes") {  // Press et al. 2021, section 3: 2^(-8 h / heads)
    for (std::int64_t h = 1; h <= problem.heads; ++h) {
      a->slopes.push_back(
          std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(problem.heads)));
    }
  }
  a->scores.resize(static_cast<std::size_t>(problem.keys));
  return a;
}

template <class T>
Work call(std::shared_ptr<Arrays<T>> a, const Problem& problem, double work) {
  return [a, problem, work](int threads) {
    attention<T>(a->q, a->k, a->v, a->out,
                 {.causal = problem.causal ? Causal::bottom_right : Causal::none,
                  .window = {problem.window > 0 ? problem.window - 1 : -1, -1},
                  .bias = problem.bias == "distance" ? &a->bias : nullptr,
                  .slopes = problem.bias == "slopes" ? std::span<const double>(a->slopes)
                                                     : std::span<const double>(),
                  .softcap = problem.softcap,
                  .threads = threads});
    return work;
  };
}

// Two products of one multiply-add per pair and channel.
double operations(const Problem& problem) {
  return 4 * visible_pairs(problem) * static_cast<double>(problem.head_dim * problem.heads);
}

template <class T>
Prepared prompt(const Problem& problem) {
  const auto a = make_arrays<T>(problem);
  Prepared p{.run = call(a, problem, operations(problem)), .yardstick = multiply_add};
  Problem plain = problem;
  plain.bias = "";
  plain.window = 0;
  plain.softcap = 0;
  if (!problem.bias.empty() || problem.window > 0 || problem.softcap > 0)
    p.plain = call(a, plain, operations(plain));
  p.check = [a] { return summary(a->out); };
  return p;
}

// The work is the bytes of keys and values, each counted once; the yardstick reads those very
// bytes.
template <class T>
Prepared decode(const Problem& problem) {
  const auto a = make_arrays<T>(problem);
  const double bytes =
      static_cast<double>(sizeof(T)) * static_cast<double>(a->k.count() + a->v.count());
  const Work yardstick = [a](int threads) {
    double read = 0;
    for (const Tensor<T>* tensor : {&a->k, &a->v}) {
      const auto floats = static_cast<std::size_t>(tensor->count()) * sizeof(T) / sizeof(float);
      read += read_floats(reinterpret_cast<const float*>(tensor->data()), floats, threads);
    }
    return read;
  };
  return {.run = call(a, problem, bytes),
          .yardstick = yardstick,
          .check = [a] { return summary(a->out); },
          .unit = "GB/s",
          .yardstick_name = "reading as much"};
}

Prepared small(const Problem& problem) {
  const auto a = make_arrays<float>(problem);
  const Work yardstick = [a, problem](int) {
    plain_loops(problem, a->q.data(), a->k.data(), a->v.data(), a->scores.data(), a->out.data());
    return operations(problem);
  };
  return {.run = call(a, problem, operations(problem)),
          .yardstick = yardstick,
          .check = [a] { return summary(a->out); },
          .yardstick_name = "plain loops"};
}

}  // namespace

Prepared prepare_forward(const Problem& problem) {
  if (problem.kind == "small") return small(problem);
  return with_dtype(problem.dtype, [&](auto element) {
    using T = decltype(element);
    return problem.kind == "decode" ? decode<T>(problem) : prompt<T>(problem);
  });
}

}  // namespace sextant::bench
