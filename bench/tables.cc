// How fast are exact tables, compared with merely writing as many bytes? Set-up is part of the
// time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sextant/core/parallel.h"
#include "sextant/kernels.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/machine.h"
#include "support/peak.h"
#include "tables/rotations.h"

namespace {

using namespace sextant;
using bench::compiler;
using bench::processor;

constexpr double kTarget = 1.2;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Case {
  std::string name;
  std::int64_t floats;
  std::function<void(int threads)> make;
  std::function<void(int threads)> write;
};

struct Result {
  std::string name;
  int threads;
  double best, median, fill_best, fill_median, gigabytes;
  double ratio() const { return best / fill_best; }
  double median_ratio() const { return median / fill_median; }
};

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Result measure(const Case& test, int threads, int repeats) {
  std::vector<double> table;
  std::vector<double> plain;
  test.write(threads);  // touches the pages and wakes the threads
  test.make(threads);
  for (int i = 0; i < repeats; ++i) {
    plain.push_back(seconds([&] { test.write(threads); }));
    table.push_back(seconds([&] { test.make(threads); }));
  }
  return {test.name,
          threads,
          *std::min_element(table.begin(), table.end()),
          median_of(table),
          *std::min_element(plain.begin(), plain.end()),
          median_of(plain),
          static_cast<double>(test.floats) * 4e-9};
}

void write_json(const std::string& path, const std::vector<Result>& results,
                const std::vector<bench::RotationResult>& rotations) {
  std::ofstream out(path);
  out << "{\"processor\": \"" << processor() << "\", \"compiler\": \"" << compiler()
      << "\", \"target\": \"" << chosen_target() << "\", \"results\": [";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    out << (i == 0 ? "\n" : ",\n") << "  {\"table\": \"" << r.name
        << "\", \"threads\": " << r.threads << ", \"ms\": " << r.best * 1e3
        << ", \"median_ms\": " << r.median * 1e3 << ", \"fill_ms\": " << r.fill_best * 1e3
        << ", \"fill_median_ms\": " << r.fill_median * 1e3 << ", \"ratio\": " << r.ratio()
        << ", \"median_ratio\": " << r.median_ratio() << "}";
  }
  out << "\n], \"rotations\": [";
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    const bench::RotationResult& r = rotations[i];
    out << (i == 0 ? "\n" : ",\n") << "  {\"table\": \"" << r.name
        << "\", \"threads\": " << r.threads << ", \"ms\": " << r.best * 1e3
        << ", \"plain_ms\": " << r.plain_best * 1e3 << ", \"ratio\": " << r.ratio() << "}";
  }
  out << "\n]}\n";
  if (!out) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  std::string json;
  int repeats = 15;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      repeats = std::max(1, std::atoi(argv[++i]));
    } else {
      std::fprintf(stderr, "usage: tables [--quick] [--repeats N] [--json FILE]\n");
      return 2;
    }
  }
  if (quick) repeats = std::min(repeats, 3);
  const std::int64_t rows = quick ? 16384 : 131072;
  constexpr std::int64_t kWidth = 512;
  constexpr std::int64_t kPairs = 64;

  auto table = Tensor<float>::uninitialized({rows, kWidth});
  const auto sines = [&](SinusoidalLayout layout) {
    return [&table, rows, layout](int threads) {
      sinusoidal_into(
          table.view(),
          Sinusoidal{.length = rows, .width = kWidth, .layout = layout, .threads = threads});
    };
  };
  const auto write_table = [&](int threads) {
    bench::stream_floats(table.data(), table.count(), threads);
  };
  RotationTable<float> rotation{Tensor<float>::uninitialized({rows, kPairs}),
                                Tensor<float>::uninitialized({rows, kPairs})};
  const std::string size = std::to_string(rows) + " x ";
  const std::vector<Case> cases = {
      {"sinusoidal interleaved " + size + "512", table.count(),
       sines(SinusoidalLayout::interleaved), write_table},
      {"sinusoidal half_split " + size + "512", table.count(), sines(SinusoidalLayout::half_split),
       write_table},
      {"rotary cos and sin " + size + "64", 2 * rotation.cos.count(),
       [&](int threads) {
         rotary_into(rotation, Rotary{.head_dim = 2 * kPairs, .threads = threads});
       },
       [&](int threads) {
         bench::stream_floats(rotation.sin.data(), rotation.sin.count(), threads);
         bench::stream_floats(rotation.cos.data(), rotation.cos.count(), threads);
       }},
  };

  std::printf("%s, %s, targets %s, in use %s\n", processor().c_str(), compiler().c_str(),
              compiled_targets().c_str(), chosen_target().c_str());
  std::printf(
      "float32 tables into touched memory, set-up included, against a non-temporal fill of the "
      "same bytes;\n"
      "best of %d alternating runs (median ratio in brackets), target ratio %.1f\n\n",
      repeats, kTarget);
  std::printf("%-40s %7s %9s %7s %9s %7s %s\n", "table", "threads", "ms", "GB/s", "fill ms", "GB/s",
              "ratio");
  std::vector<Result> results;
  for (const Case& test : cases) {
    for (const int threads : {1, 2}) {
      const Result r = measure(test, threads, repeats);
      results.push_back(r);
      std::printf("%-40s %7d %9.2f %7.1f %9.2f %7.1f %.2f (%.2f)%s\n", r.name.c_str(), threads,
                  r.best * 1e3, r.gigabytes / r.best, r.fill_best * 1e3, r.gigabytes / r.fill_best,
                  r.ratio(), r.median_ratio(), r.ratio() <= kTarget ? "" : "  above the target");
    }
  }
  const auto rotations = bench::measure_rotations(repeats, quick);
  if (!json.empty()) write_json(json, results, rotations);
}
