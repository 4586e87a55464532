// How fast is attention, as a share of what the machine can do and against other libraries?
// docs/benchmarks.md says how it is measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "attention/cases.h"
#include "attention/measure.h"
#include "attention/report.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "support/machine.h"
#include "support/usage.h"

namespace {

using namespace sextant;
using namespace sextant::bench;

constexpr const char* kUsage = R"(usage: attention [options]
  --cases TEXT        only cases whose name holds TEXT; may be given again
  --case NAME         only this case; may be given again
  --threads LIST      numbers of threads, for example 1,2 (the default)
  --seconds S         time for each case and number of threads (default 1)
  --json FILE         write the results to FILE
  --update            keep the rows of FILE that were not measured this time
  --peers FILE        results of a rival, for the ratios; may be given again
  --from FILE         measure nothing, show the results in FILE
  --markdown          the table as Markdown
  --quick             lengths divided by 16, to try the program
  --list, --list-json the names of the cases; the cases in full
)";

struct Options {
  std::vector<std::string> parts, names, peers;
  std::vector<int> threads = {1, 2};
  double seconds = 1;
  std::string json, from;
  bool update = false, markdown = false, quick = false, list = false, list_json = false,
       growth = false;
};

std::vector<int> parse_threads(const std::string& text) {
  std::vector<int> threads;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    threads.push_back(std::atoi(text.substr(begin, end - begin).c_str()));
    if (threads.back() < 1 || threads.back() > kMaxThreads) {
      throw Error("threads", "must be a list such as 1,2, got " + text);
    }
    begin = end + 1;
  }
  return threads;
}

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  const auto value = [&]() -> std::string {
    if (i + 1 == argc) throw Error(argv[i], "needs a value");
    return argv[++i];
  };
  const std::map<std::string, std::function<void()>> known = {
      {"--cases", [&] { options.parts.push_back(value()); }},
      {"--case", [&] { options.names.push_back(value()); }},
      {"--threads", [&] { options.threads = parse_threads(value()); }},
      {"--seconds", [&] { options.seconds = std::atof(value().c_str()); }},
      {"--json", [&] { options.json = value(); }},
      {"--update", [&] { options.update = true; }},
      {"--peers", [&] { options.peers.push_back(value()); }},
      {"--from", [&] { options.from = value(); }},
      {"--markdown", [&] { options.markdown = true; }},
      {"--quick", [&] { options.quick = true; }},
      {"--list", [&] { options.list = true; }},
      {"--list-json", [&] { options.list_json = true; }},
      {"--growth", [&] { options.growth = true; }}};
  for (; i < argc; ++i) {
    const auto option = known.find(argv[i]);
    if (option == known.end()) end_with_usage(argv[i], kUsage);
    option->second();
  }
  return options;
}

bool wanted(const Options& options, const std::string& name) {
  for (const std::string& part : options.parts) {
    if (name.find(part) != std::string::npos) return true;
  }
  if (std::find(options.names.begin(), options.names.end(), name) != options.names.end())
    return true;
  return options.parts.empty() && options.names.empty();
}

std::vector<Case> chosen_cases(const Options& options) {
  std::vector<Case> chosen;
  for (const Case& test : all_cases(options.quick)) {
    if (wanted(options, test.name)) chosen.push_back(test);
  }
  if (chosen.empty()) throw Error("cases", "there is none of that name; --list shows all");
  return chosen;
}

void list_cases(const Options& options) {
  Json cases = Json::array();
  for (const Case& test : chosen_cases(options)) {
    if (options.list) std::printf("%s\n", test.name.c_str());
    cases.push_back(to_json(test));
  }
  if (options.list_json) std::printf("%s\n", cases.dump(1).c_str());
}

void show(const Options& options, const Table& table) {
  const Json results = read_json(options.from, "machine");
  table.header(results["machine"]);
  for (const auto& row : results["rows"]) {
    if (wanted(options, row["case"].text())) table.row(row);
  }
  table.footer();
}

// Returns whether every case could be measured.
bool measure_cases(const Options& options, const Table& table) {
  const std::vector<Case> cases = chosen_cases(options);
  Json results = {{"machine", machine_json()}, {"rows", Json::array()}};
  if (options.update && std::filesystem::exists(options.json)) {
    results["rows"] = read_json(options.json, "machine")["rows"];
  }
  bool complete = true;
  table.header(results["machine"]);
  for (const Case& test : cases) {
    try {
      const Prepared prepared = prepare(test.problem);
      for (const int threads : options.threads) {
        const double extra =
            growth_in_new_process(options.quick ? "--quick" : "", test.name, threads);
        const Measured measured = measure(prepared, threads, options.seconds);
        const auto row = row_json(test, prepared, threads, measured, extra);
        table.row(row);
        merge_row(results["rows"], row);
      }
    } catch (const Error& error) {
      std::fprintf(stderr, "%s: %s\n", test.name.c_str(), error.what());
      complete = false;
    }
  }
  table.footer();
  if (!options.json.empty()) write_json(options.json, results);
  return complete;
}

int run(const Options& options) {
  if (options.list || options.list_json) {
    list_cases(options);
    return 0;
  }
  if (options.growth) {
    print_growth(chosen_cases(options).front().problem, options.threads.front());
    return 0;
  }
  Peers peers;
  for (const std::string& path : options.peers) peers.add(read_json(path, "peers"));
  const Table table(options.markdown, peers);
  if (!options.from.empty()) {
    show(options, table);
    return 0;
  }
  return measure_cases(options, table) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attention: %s\n", error.what());
    return 2;
  }
}
