// Both tables are made anew each time, set-up and memory included.
#include "tables/rotations.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "sextant/schemes.h"

namespace sextant::bench {
namespace {

constexpr std::int64_t kDim = 128;
constexpr double kTarget = 1.3;

struct Case {
  const char* name;
  std::int64_t plain_rows;  // of a rotary table with as many numbers
  std::function<void(int threads)> make;
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Options, class Make>
std::function<void(int)> table(Options options, const Make& make) {
  return [options, make](int threads) mutable {
    options.head_dim = kDim;
    options.threads = threads;
    (void)make(options);
  };
}

// Text, then an image of `side` x `side` patches.
Tensor<std::int64_t> image_ids(std::int64_t side) {
  Tensor<std::int64_t> ids({side * side, 3});
  for (std::int64_t row = 0; row < ids.size(0); ++row) {
    ids(row, 0) = 7;
    ids(row, 1) = 7 + row / side;
    ids(row, 2) = 7 + row % side;
  }
  return ids;
}

}  // namespace

std::vector<RotationResult> measure_rotations(int repeats, bool quick) {
  const std::int64_t side = quick ? 64 : 128;
  const std::int64_t rows = side * side;
  const Tensor<std::int64_t> ids = image_ids(side);
  Tensor<std::int64_t> plane({rows, 2});
  for (std::int64_t row = 0; row < rows; ++row) {
    plane(row, 0) = row % side;
    plane(row, 1) = row / side;
  }
  const Tensor<double> mixed = rotary_mixed_frequencies({.head_dim = kDim}, 4, 2);
  const auto along = [rows](const auto& function) {
    return [rows, function](const auto& options) { return function(options, rows); };
  };
#define SEXTANT_ALONG(function) \
  along([](const auto& options, std::int64_t length) { return function<float>(options, length); })
  const auto scaled = [&](const RotaryScaling& scaling) {
    return table(Rotary{.scaling = scaling}, SEXTANT_ALONG(rotary));
  };
  const auto of_ids = [](const RotaryAxes& axes, View<const std::int64_t> listed) {
    return table(Rotary{.axes = axes},
                 [listed](const auto& o) { return rotary<float>(o, listed); });
  };
  const std::vector<Case> cases = {
      {"rotary_linear", rows, scaled(LinearScaling{})},
      {"rotary_ntk", rows, scaled(NtkScaling{})},
      {"rotary_dynamic_ntk", rows, scaled(DynamicNtkScaling{})},
      {"rotary_yarn", rows, scaled(YarnScaling{})},
      {"rotary_longrope", rows, scaled(LongropeScaling{})},
      {"rotary_llama3", rows, scaled(Llama3Scaling{})},
      {"rotary_proportional", rows, scaled(ProportionalScaling{})},
      {"rotary with a query scale, queries and keys", 2 * rows,
       table(Rotary{.query_scale = {.attn_scale = 0.1}}, SEXTANT_ALONG(rotary))},
      {"xpos, queries and keys", 2 * rows, table(Xpos{}, SEXTANT_ALONG(xpos))},
      {"temperature, queries and keys", 2 * rows,
       [rows](int) { (void)temperature<float>({.head_dim = kDim}, rows); }},
      {"rotary_sections, text", rows, table(Rotary{.axes = SectionAxes{}}, SEXTANT_ALONG(rotary))},
      {"rotary_sections, image", rows, of_ids(SectionAxes{}, ids)},
      {"rotary_sections interleaved, image", rows,
       of_ids(SectionAxes{.order = SectionOrder::interleaved}, ids)},
      {"rotary_axial, rows and columns", rows,
       table(Rotary{.axes = AxialAxes{}}, SEXTANT_ALONG(rotary))},
      {"rotary_axial, three axes", rows, of_ids(AxialAxes{}, ids)},
      {"rotary_mixed, four heads", 4 * rows,
       table(RotaryMixed{},
             [&](const auto& o) { return rotary_mixed<float>(o, mixed.view(), plane.view()); })},
  };
#undef SEXTANT_ALONG
  std::printf(
      "\nrotations, float32, %lld positions x 64 pairs, against plain rotary with as many "
      "numbers;\n"
      "both allocate; best of %d alternating runs, target ratio %.1f\n\n%-40s %7s %9s %9s %s\n",
      static_cast<long long>(rows), repeats, kTarget, "table", "threads", "ms", "plain ms",
      "ratio");
  std::vector<RotationResult> results;
  for (const Case& test : cases) {
    for (const int threads : {1, 2}) {
      const auto plain = [&] {
        (void)rotary<float>({.head_dim = kDim, .threads = threads}, test.plain_rows);
      };
      RotationResult result{test.name, threads, 1e9, 1e9};
      plain();
      test.make(threads);
      for (int i = 0; i < repeats; ++i) {
        result.plain_best = std::min(result.plain_best, seconds(plain));
        result.best = std::min(result.best, seconds([&] { test.make(threads); }));
      }
      std::printf("%-40s %7d %9.3f %9.3f %.2f%s\n", test.name, threads, result.best * 1e3,
                  result.plain_best * 1e3, result.ratio(),
                  result.ratio() <= kTarget ? "" : "  above the target");
      results.push_back(result);
    }
  }
  return results;
}

}  // namespace sextant::bench
