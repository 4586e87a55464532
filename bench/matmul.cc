// How fast are matrix products of a training step, as a share of the machine's multiply-adds and,
// where it is installed, against oneDNN's dnnl_sgemm? All in turn in one run.
#ifdef SEXTANT_BENCH_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "sextant/core/tensor.h"
#include "sextant/kernels.h"
#include "support/machine.h"
#include "support/peak.h"

namespace {

using namespace sextant;
using namespace sextant::bench;
using kernels::MatrixRef;
using Size = std::int64_t;

// C[rows, columns] = A[rows, depth] B[depth, columns], or with a side stored the other way round.
struct Case {
  const char* name;
  Size rows, depth, columns;
  bool a_transposed, b_transposed;
  bool packed = false;  // b once, before the clock starts
};

// A step of the two models of the training benchmark: width 256, feed-forward 1024, 2048 tokens.
constexpr Case kCases[] = {
    {"q k v", 2048, 256, 768, false, true},
    {"feed-forward in", 2048, 256, 1024, false, true},
    {"feed-forward out", 2048, 1024, 256, false, true},
    {"logits", 512, 256, 4000, false, true},
    {"logits, all rows", 2048, 256, 4000, false, true},
    {"gradient of q k v's input", 2048, 768, 256, false, false},
    {"gradient of the logits' input", 512, 4000, 256, false, false},
    {"gradient of q k v's weight", 768, 2048, 256, true, false},
    {"gradient of ff in's weight", 1024, 2048, 256, true, false},
    {"gradient of ff out's weight", 256, 2048, 1024, true, false},
    {"gradient of the logits' weight", 4000, 512, 256, true, false},
    {"few rows", 48, 256, 768, false, true},
    {"few rows, wide", 32, 1024, 1024, false, true},
    {"one row", 1, 2048, 8192, false, true},
    {"eight rows", 8, 2048, 8192, false, true},
    {"one row, packed", 1, 1024, 1024, false, true, true},
    {"few rows, packed", 48, 256, 768, false, true, true},
    {"cube", 1024, 1024, 1024, false, false},
};

double seconds_of(const std::function<void()>& work, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

Tensor<float> random_numbers(Size count, unsigned seed) {
  auto numbers = Tensor<float>::uninitialized({count});
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& value : numbers.span()) value = number(random);
  return numbers;
}

struct Rates {
  double peak = 0, ours = 0, theirs = 0;  // multiply-adds per second, times two
};

Rates measure(const Case& test, int threads, double seconds) {
  const Tensor<float> a = random_numbers(test.rows * test.depth, 1);
  const Tensor<float> b = random_numbers(test.depth * test.columns, 2);
  Tensor<float> c({test.rows, test.columns});
  const auto reference = [](const Tensor<float>& m, Size rows, Size columns, bool transposed) {
    return transposed ? MatrixRef{m.data(), 1, rows} : MatrixRef{m.data(), columns, 1};
  };
  const MatrixRef a_ref = reference(a, test.rows, test.depth, test.a_transposed);
  const MatrixRef b_ref = reference(b, test.depth, test.columns, test.b_transposed);
  const kernels::PackedMatrix packed(b_ref, test.depth, test.columns, threads);
  const auto ours = [&] {
    const kernels::MatmulResult result{c.data(), test.columns};
    if (test.packed) {
      kernels::matmul(test.rows, a_ref, packed, result, threads);
    } else {
      kernels::matmul({test.rows, test.columns, test.depth}, a_ref, b_ref, result, threads);
    }
  };
  const auto theirs = [&] {
#ifdef SEXTANT_BENCH_ONEDNN
    dnnl_sgemm(test.a_transposed ? 'T' : 'N', test.b_transposed ? 'T' : 'N', test.rows,
               test.columns, test.depth, 1, a.data(), test.a_transposed ? test.rows : test.depth,
               b.data(), test.b_transposed ? test.depth : test.columns, 0, c.data(), test.columns);
#endif
  };
#ifdef SEXTANT_BENCH_ONEDNN
  omp_set_num_threads(threads);
#endif
  const double work = 2.0 * static_cast<double>(test.rows) * static_cast<double>(test.depth) *
                      static_cast<double>(test.columns);
  ours();
  const int calls = std::max(1, static_cast<int>(1e-3 / std::max(1e-7, seconds_of(ours, 1))));
  Rates best;
  double spent = 0;
  for (int round = 0; round < 5 || spent < seconds; ++round) {
    double operations = 0;
    const double pace = seconds_of([&] { operations = multiply_add(threads); }, 1);
    const double own = seconds_of(ours, calls);
    const double other = seconds_of(theirs, calls);
    best.peak = std::max(best.peak, operations / pace);
    best.ours = std::max(best.ours, work / own);
    best.theirs = std::max(best.theirs, work / other);
    spent += pace + (own + other) * calls;
  }
#ifndef SEXTANT_BENCH_ONEDNN
  best.theirs = 0;
#endif
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  pin_openmp_threads(argv);
  double seconds = 1;
  const char* part = "";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) {
      part = argv[++i];
    } else {
      std::fprintf(stderr, "usage: matmul [--seconds S] [--cases TEXT]\n");
      return 2;
    }
  }
  std::printf("%s, %s, in use %s\n", processor().c_str(), compiler().c_str(),
              chosen_target().c_str());
  std::printf(
      "share of the multiply-adds that as many threads do in registers, best of the rounds of one "
      "run\n\n%-32s %18s %8s %6s %7s %6s\n",
      "product", "rows depth columns", "threads", "share", "oneDNN", "ratio");
  OtherLoad load;
  for (const Case& test : kCases) {
    if (std::strstr(test.name, part) == nullptr) continue;
    for (const int threads : {1, 2}) {
      const Rates r = measure(test, threads, seconds);
      std::printf("%-32s %6lld %5lld %6lld %7d %6.1f%%", test.name,
                  static_cast<long long>(test.rows), static_cast<long long>(test.depth),
                  static_cast<long long>(test.columns), threads, 100 * r.ours / r.peak);
      if (r.theirs > 0) std::printf(" %6.1f%% %6.2f", 100 * r.theirs / r.peak, r.ours / r.theirs);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  std::printf("\nother processes used %.0f%% of the cores meanwhile\n", 100 * load.since_last());
  return 0;
}
