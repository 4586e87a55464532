// Rounds that interleave a case with its yardstick: a machine's clock drifts by more than what is
// to be seen.
#include "attention/measure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sextant/core/parallel.h"
#include "support/machine.h"

namespace sextant::bench {
namespace {

constexpr double kShortest = 1e-3;  // seconds: what one reading of the clock covers at least

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  Stopwatch(const Work& work, int threads) : work_(work), threads_(threads) {
    work_(threads_);  // wakes the threads, fills the caches
    for (double spent = sample(); spent < kShortest && calls_ < 1 << 20; spent = sample()) {
      calls_ = std::max(2 * calls_, static_cast<int>(calls_ * kShortest / std::max(spent, 1e-9)));
    }
    times_.clear();
  }

  // Seconds that one sample took, all of its calls together.
  double sample() {
    const double start = now();
    for (int i = 0; i < calls_; ++i) amount_ = work_(threads_);
    const double spent = now() - start;
    times_.push_back(spent / calls_);
    return spent;
  }

  Timing timing() const {
    std::vector<double> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    return {sorted.front(), sorted[sorted.size() / 2], amount_};
  }

 private:
  const Work& work_;
  int threads_;
  int calls_ = 1;
  double amount_ = 0;
  std::vector<double> times_;
};

}  // namespace

Measured measure(const Prepared& prepared, int threads, double seconds) {
  Stopwatch yardstick(prepared.yardstick, threads);
  std::optional<Stopwatch> other_yardstick;
  if (prepared.other_yardstick) other_yardstick.emplace(prepared.other_yardstick, threads);
  Stopwatch run(prepared.run, threads);
  std::optional<Stopwatch> plain;
  if (prepared.plain) plain.emplace(prepared.plain, threads);
  OtherLoad load;
  const double start = now();
  double spent = 0;
  double run_time = 0;
  // A short yardstick is taken several times, for a tenth of the case's time: other processes spoil
  // single readings.
  const auto sample_yardstick = [&] {
    double taken = 0;
    do {
      taken += yardstick.sample();
      if (other_yardstick) taken += other_yardstick->sample();
    } while (taken < 0.1 * run_time);
  };
  for (int round = 0; spent < seconds || round < (spent < 4 * seconds ? 5 : 3); ++round) {
    sample_yardstick();
    run_time = run.sample();
    if (plain) plain->sample();
    sample_yardstick();
    spent = now() - start;
  }
  Measured result{.run = run.timing(),
                  .yardstick = yardstick.timing(),
                  .yardstick_name = prepared.yardstick_name,
                  .others = load.since_last()};
  if (other_yardstick && other_yardstick->timing().rate() < result.yardstick.rate()) {
    result.yardstick = other_yardstick->timing();
    result.yardstick_name = prepared.other_yardstick_name;
  }
  if (plain) result.plain = plain->timing();
  if (prepared.check) {
    prepared.run(threads);  // the yardstick may have used the same output
    result.check = prepared.check();
  }
  return result;
}

double growth_in_new_process(const std::string& flags, const std::string& name, int threads) {
  std::array<char, 4096> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return -1;
  const std::string command = "'" + std::string(program.data()) + "' " + flags +
                              " --growth --case '" + name + "' --threads " +
                              std::to_string(threads);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return -1;
  double bytes = -1;
  if (std::fscanf(pipe, "%lf", &bytes) != 1) bytes = -1;
  return pclose(pipe) == 0 ? bytes : -1;
}

void print_growth(const Problem& problem, int threads) {
  const Prepared prepared = prepare(problem);
  parallel_for(threads, threads, [](std::int64_t) {});
  const MemoryGrowth growth;
  prepared.run(threads);
  std::printf("%.0f\n", growth.bytes());
}

}  // namespace sextant::bench
