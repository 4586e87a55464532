// Forward cases: long prompts, one query against a cache, and small calls.
#include <memory>
#include <vector>

#include "attention/arrays.h"
#include "attention/cases.h"
#include "support/peak.h"

namespace sextant::bench {
namespace {

template <class T>
Work call(std::shared_ptr<Arrays<T>> a, const Problem& problem, double work) {
  return [a, problem, work](int threads) {
    attention<T>(a->q, a->k, a->v, a->out, a->options(problem, threads));
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
  if (has_bias(problem)) {
    const Problem plain = without_bias(problem);
    p.plain = call(a, plain, operations(plain));
  }
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
  std::vector<float> scores(static_cast<std::size_t>(problem.keys));
  const Work yardstick = [a, problem, scores](int) mutable {
    plain_loops(problem, a->q.data(), a->k.data(), a->v.data(), scores.data(), a->out.data());
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
