// What does each scheme cost inside attention, against the same call without positions, and what do
// its gradients cost, against its forward pass?
// docs/benchmarks.md says how it is measured.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/kernels.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/schemes/scheme.h"
#include "support/machine.h"
#include "support/usage.h"

namespace {

using namespace sextant;

constexpr std::int64_t kHeads = 8, kHeadDim = 64;
constexpr const char* kUsage =
    "usage: schemes [--scheme NAME]... [--pass forward|backward] [--length N] [--repeats N] "
    "[--threads N] [--json FILE]\n";

// The most that a kind may cost, as a ratio to no positions; 0: reported only.
double target_of(SchemeKind kind, bool backward) {
  if (backward) return 3.5;
  switch (kind) {
    case SchemeKind::rotated:
    case SchemeKind::distance_bias:
      return 1.05;
    case SchemeKind::indexed_bias:
      return 1.3;
    default:
      return 0;
  }
}

Tensor<float> random_floats(const Shape& shape, NumpyRandom& random) {
  Tensor<float> x(shape);
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  return x;
}

AppliedPositions<float> positions_of(const Scheme& scheme, std::int64_t length) {
  return {{.schemes = {std::string(scheme.name)},
           .width = kHeads * kHeadDim,
           .heads = kHeads,
           .head_dim = kHeadDim},
          length};
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Ratio {
  double best, median, plain_ms;
};

// Runs both alternately; the ratio of the best times, and the median of the ratios of neighbours,
// which is the one to read where other programs take the cores now and then.
Ratio measure(const std::function<void()>& work, const std::function<void()>& plain, int repeats) {
  std::vector<double> ratios, with, without;
  work();
  for (int n = 0; n < repeats; ++n) {
    without.push_back(seconds(plain));
    with.push_back(seconds(work));
    ratios.push_back(with.back() / without.back());
  }
  const double best = *std::min_element(without.begin(), without.end());
  return {*std::min_element(with.begin(), with.end()) / best, median_of(ratios), best * 1e3};
}

struct Options {
  std::vector<std::string> names;
  std::vector<int> threads;
  std::int64_t length = 4096;
  int repeats = 7;
  bool backward = false;
  std::string json;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 == argc) bench::end_with_usage(name, kUsage);
    const std::string value = argv[++i];
    if (name == "--scheme") {
      options.names.push_back(value);
    } else if (name == "--length") {
      options.length = std::max(1LL, std::atoll(value.c_str()));
    } else if (name == "--repeats") {
      options.repeats = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--threads") {
      options.threads.push_back(std::max(1, std::atoi(value.c_str())));
    } else if (name == "--pass") {
      options.backward = value == "backward";
    } else if (name == "--json") {
      options.json = value;
    } else {
      bench::end_with_usage(name, kUsage);
    }
  }
  if (options.threads.empty()) options.threads = {1, 2};
  return options;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  void run() {
    std::printf("%s, %s, in use %s\n", bench::processor().c_str(), bench::compiler().c_str(),
                chosen_target().c_str());
    std::printf(
        "attention of %lld positions, %lld heads of %lld, causal, float32: the time %s,\nbest of "
        "%d alternating runs (median of the ratios in brackets)\n\n",
        static_cast<long long>(options_.length), static_cast<long long>(kHeads),
        static_cast<long long>(kHeadDim),
        options_.backward ? "of all gradients with a scheme over that of the output"
                          : "with a scheme over that without",
        options_.repeats);
    std::printf("%-22s %-14s %7s %10s  %s\n", "scheme", "kind", "threads",
                options_.backward ? "output ms" : "plain ms", "ratio");
    for (const Scheme* scheme : schemes()) {
      const auto& names = options_.names;
      if (!names.empty() && std::find(names.begin(), names.end(), scheme->name) == names.end()) {
        continue;
      }
      run(*scheme);
    }
    if (options_.json.empty()) return;
    const Json all = {{"processor", bench::processor()},
                      {"compiler", bench::compiler()},
                      {"commit", bench::commit()},
                      {"target", chosen_target()},
                      {"pass", options_.backward ? "backward" : "forward"},
                      {"length", options_.length},
                      {"heads", kHeads},
                      {"head_dim", kHeadDim},
                      {"rows", rows_}};
    std::ofstream out(options_.json);
    out << all.dump(1) << "\n";
    if (!out) throw Error("--json", "cannot write " + options_.json);
  }

 private:
  void run(const Scheme& scheme) {
    const std::string name(scheme.name), kind(name_of(scheme.kind));
    AppliedPositions<float> positions;
    try {
      positions = positions_of(scheme, options_.length);
    } catch (const Error& error) {  // what needs a file, or other positions than a text's
      std::printf("%-22s %-14s %s\n", name.c_str(), kind.c_str(), error.what());
      return;
    }
    if (scheme.kind == SchemeKind::added || scheme.kind == SchemeKind::none) {
      std::printf("%-22s %-14s nothing inside attention\n", name.c_str(), kind.c_str());
      return;
    }
    for (const int threads : options_.threads) {
      AttentionOptions<float> plain{.causal = Causal::top_left, .threads = threads};
      AttentionOptions<float> with = plain;
      positions.set(with);
      const bool by_rows = attention_plan<float>(q_.view(), k_, v_, with).arithmetic == "float64";
      const int repeats = by_rows ? 1 : options_.repeats;  // they take long
      const Ratio ratio =
          options_.backward ? gradients_over_output(with, repeats)
                            : measure([&] { attention<float>(q_, k_, v_, out_, with); },
                                      [&] { attention<float>(q_, k_, v_, out_, plain); }, repeats);
      const double target = target_of(scheme.kind, options_.backward);
      std::printf(
          "%-22s %-14s %7d %10.1f  %.3f (%.3f)%s\n", name.c_str(), kind.c_str(), threads,
          ratio.plain_ms, ratio.best, ratio.median,
          target > 0 && std::min(ratio.best, ratio.median) > target ? "  above the target" : "");
      std::fflush(stdout);
      rows_.push_back({{"scheme", name},
                       {"kind", kind},
                       {"threads", threads},
                       {"plain_ms", ratio.plain_ms},
                       {"ratio", ratio.best},
                       {"median_ratio", ratio.median},
                       {"target", target > 0 ? Json(target) : Json()}});
    }
  }

  // All gradients: of q, k, v and of what the scheme learns.
  Ratio gradients_over_output(const AttentionOptions<float>& options, int repeats) {
    Tensor<float> dq(shape_), dk(shape_), dv(shape_), values;
    std::vector<Tensor<double>> of_terms;
    AttentionGradients<float> wanted{.q = dq.view(), .k = dk.view(), .v = dv.view()};
    if (options.bias != nullptr && options.bias->values.count() > 0) {
      values = Tensor<float>(options.bias->values.shape());
      wanted.bias.values = values.view();
    }
    for (const ScoreTerm* term : options.terms) {
      of_terms.emplace_back(Shape{term->needs().parameters});
    }
    for (Tensor<double>& of_term : of_terms) {
      wanted.terms.emplace_back(of_term.count() > 0 ? of_term.view() : View<double>());
    }
    Tensor<float> log_sum_exp(Shape{1, kHeads, options_.length});
    const auto output = [&] { attention<float>(q_, k_, v_, out_, options, log_sum_exp); };
    output();
    return measure(
        [&] { attention_backward<float>(q_, k_, v_, out_, dout_, wanted, options, log_sum_exp); },
        output, repeats);
  }

  const Options& options_;
  NumpyRandom random_{1};
  const Shape shape_{1, kHeads, options_.length, kHeadDim};
  Tensor<float> q_ = random_floats(shape_, random_), k_ = random_floats(shape_, random_),
                v_ = random_floats(shape_, random_), dout_ = random_floats(shape_, random_),
                out_{shape_};
  Json rows_ = Json::array();
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Bench(parse(argc, argv)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "schemes: %s\n", error.what());
    return 2;
  }
}
