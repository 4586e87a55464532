// Forward cases: long prompts, one query against a cache, and small calls.
#include <memory>
#include <vector>

#include "attention/arrays.h"
#include "attention/cases.h"
#include "sextant/attention/kv_cache.h"
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

// Multiply-adds as many as `problem` has, for `bytes`.
Work multiply_adds(const Problem& problem, double bytes) {
  return [bytes_per_operation = bytes / operations(problem)](int threads) {
    return bytes_per_operation * multiply_add(threads);
  };
}

// The work is the bytes of keys and values, each counted once; the yardsticks read those very
// bytes, and multiply as often.
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
          .yardstick_name = "reading as much",
          .other_yardstick = multiply_adds(problem, bytes),
          .other_yardstick_name = "multiply-adds"};
}

// The same from a cache of 8 bits.
Prepared decode_int8(const Problem& problem) {
  const auto a = make_arrays<float>(problem);
  const std::int64_t width = problem.head_dim;
  const auto cache =
      std::make_shared<KvCache<std::int8_t>>(KvCacheSizes{1, problem.kv_heads, width, width});
  cache->append(a->k.view(), a->v.view());
  const double bytes = static_cast<double>(2 * problem.kv_heads * problem.keys) *
                       static_cast<double>(width + static_cast<std::int64_t>(sizeof(float)));
  return {.run =
              [a, cache, problem, bytes](int threads) {
                auto options = a->options(problem, threads);
                options.causal = Causal::at_lengths;
                cache->attend(a->q, a->out, options);
                return bytes;
              },
          .yardstick =
              [a, bytes](int threads) {
                return read_floats(a->k.data(), static_cast<std::size_t>(bytes) / sizeof(float),
                                   threads);
              },
          .check = [a] { return summary(a->out); },
          .unit = "GB/s",
          .yardstick_name = "reading as much",
          .other_yardstick = multiply_adds(problem, bytes),
          .other_yardstick_name = "multiply-adds"};
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
  if (problem.dtype == "int8") return decode_int8(problem);
  return with_dtype(problem.dtype, [&](auto element) {
    using T = decltype(element);
    return problem.kind == "decode" ? decode<T>(problem) : prompt<T>(problem);
  });
}

}  // namespace sextant::bench
