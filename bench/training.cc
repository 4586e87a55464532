// How fast do models learn, as a share of what the machine can do, and where does the time go?
// docs/benchmarks.md says how it is measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "support/machine.h"
#include "support/usage.h"
#include "training/rounds.h"

namespace {

using namespace sextant;
using namespace sextant::bench;

constexpr const char* kUsage = R"(usage: training [options]
  --model NAME   only this case: lm, translator, uneven, "lm dropout", ...; may be given again
  --threads N    number of threads (default 2)
  --steps N      rounds to time, behind one to warm up (default 10)
  --profile      seconds per part of a round as well
  --json         a line of JSON per case
  --serve        one case: write what it is, then make as many rounds as each line of the input says
  --quick        an eighth of the sequences and lengths, to try the program
  --list-json    the cases in full
)";

struct Options {
  std::vector<std::string> models;
  int threads = 2, steps = 10;
  bool profile = false, json = false, serve = false, quick = false, list = false;
};

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  const auto value = [&]() -> std::string {
    if (i + 1 == argc) throw Error(argv[i], "needs a value");
    return argv[++i];
  };
  const auto number = [&](int most) {
    const std::string name = argv[i], text = value();
    const int n = std::atoi(text.c_str());
    if (n < 1 || n > most) {
      throw Error(name, "must be 1 .. " + std::to_string(most) + ", got " + text);
    }
    return n;
  };
  const std::map<std::string, std::function<void()>> known = {
      {"--model", [&] { options.models.push_back(value()); }},
      {"--threads", [&] { options.threads = number(kMaxThreads); }},
      {"--steps", [&] { options.steps = number(1'000'000); }},
      {"--profile", [&] { options.profile = true; }},
      {"--json", [&] { options.json = true; }},
      {"--serve", [&] { options.serve = true; }},
      {"--quick", [&] { options.quick = true; }},
      {"--list-json", [&] { options.list = true; }}};
  for (; i < argc; ++i) {
    const auto option = known.find(argv[i]);
    if (option == known.end()) end_with_usage(argv[i], kUsage);
    option->second();
  }
  return options;
}

std::vector<TrainingCase> chosen_cases(const Options& options) {
  std::vector<TrainingCase> chosen;
  for (const TrainingCase& test : training_cases(options.quick)) {
    const auto& names = options.models;
    if (names.empty() || std::ranges::find(names, test.name) != names.end()) chosen.push_back(test);
  }
  if (chosen.empty()) throw Error("--model", "there is none of that name; --list-json shows all");
  return chosen;
}

// What does not depend on the run.
Json description(const TrainingCase& test, int threads, Rounds& rounds) {
  const Operations operations = operations_of(test);
  return {{"case", test.name},
          {"threads", threads},
          {"parameters", rounds.parameters()},
          {"tokens", tokens_of(test)},
          {"operations",
           {{"all", operations.all()},
            {"products", operations.products},
            {"attention", operations.attention},
            {"attention backward", operations.attention_backward}}},
          {"processor", processor()},
          {"compiler", compiler()},
          {"commit", commit()}};
}

// So many rounds, with the peak of the machine before and behind them and the memory so far.
Json measure(Rounds& rounds, int count, int threads, const MemoryGrowth& memory) {
  OtherLoad load;
  const double before = peak_rate(threads);
  Json result = rounds.run(count);
  result["peak"] = std::max(before, peak_rate(threads));
  result["others"] = load.since_last();
  result["memory"] = peak_memory();
  result["growth"] = memory.bytes();
  return result;
}

void serve(const TrainingCase& test, int threads) {
  const MemoryGrowth memory;
  const auto rounds = make_rounds(test, threads);
  std::cout << description(test, threads, *rounds).dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const int count = std::atoi(line.c_str());
    if (count < 1) throw Error("rounds", "must be at least 1, got " + line);
    std::cout << measure(*rounds, count, threads, memory).dump() << std::endl;
  }
}

void show_parts(const Json& about, const Json& measured) {
  const auto rounds = static_cast<double>(measured["seconds"].size());
  double all = 0;
  for (const Json& seconds : measured["seconds"]) all += seconds.get<double>();
  for (const auto& [name, seconds] : measured["parts"].items()) {
    const auto spent = seconds.get<double>();
    std::printf("  %-20s %9.4f s %5.1f %%", name.c_str(), spent / rounds, 100 * spent / all);
    if (about["operations"].contains(name)) {
      const auto operations = about["operations"][name].get<double>();
      const double share = operations * rounds / spent / measured["peak"].get<double>();
      std::printf("   %5.1f %% of the peak", 100 * share);
    }
    std::printf("\n");
  }
}

void show(const Options& options, Json about, const Json& measured) {
  auto seconds = measured["seconds"].get<std::vector<double>>();
  std::sort(seconds.begin(), seconds.end());
  const auto tokens = about["tokens"].get<double>(),
             operations = about["operations"]["all"].get<double>();
  const double best = tokens / seconds.front(), median = tokens / seconds[seconds.size() / 2];
  const double share = operations / seconds.front() / measured["peak"].get<double>();
  if (options.json) {
    about.update({{"tokens/s", {{"best", best}, {"median", median}}}, {"share", share}});
    about.update(measured);
    if (!options.profile) about.erase("parts");
    std::printf("%s\n", about.dump().c_str());
    return;
  }
  std::printf("%-20s %2d threads %9.0f tokens/s, median %9.0f   %5.1f %% of the peak   %6.0f MiB\n",
              about["case"].get<std::string>().c_str(), options.threads, best, median, 100 * share,
              measured["memory"].get<double>() / (1 << 20));
  if (options.profile) show_parts(about, measured);
}

int run(const Options& options) {
  const std::vector<TrainingCase> cases = chosen_cases(options);
  if (options.list) {
    Json list = Json::array();
    for (const TrainingCase& test : cases) list.push_back(to_json(test));
    std::printf("%s\n", list.dump(1).c_str());
    return 0;
  }
  if (options.serve) {
    serve(cases.front(), options.threads);
    return 0;
  }
  for (const TrainingCase& test : cases) {
    const MemoryGrowth memory;
    const auto rounds = make_rounds(test, options.threads);
    rounds->run(1);
    show(options, description(test, options.threads, *rounds),
         measure(*rounds, options.steps, options.threads, memory));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "training: %s\n", error.what());
    return 2;
  }
}
