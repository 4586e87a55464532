// A model of the time of attention on ranks: that of ranks::plan_for(), with a machine's numbers
// fitted to measured points, and how far it is from points that the fit has not seen.
//   mpirun -n 2 build/ranks/bench/ranks --points 16384 > memory.txt;  bench/ranks/link.py --rate
//   100 -- build/ranks/bench/ranks --points 8192 > slow.txt build/ranks/bench/ranks_model [--cores
//   C] OUT-FOLDER "shared memory=memory.txt" "100 Mbit/s=slow.txt" ...
// Writes ranks-links.svg and ranks-model.svg into the folder; prints a Markdown table.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "ranks/model/pictures.h"
#include "sextant/core/error.h"

namespace {

using namespace sextant;
using namespace sextant::ranks::model;

void print(const char* what, const Errors& errors) {
  std::printf("| %s | %zu | %.1f %% | %.1f %% |\n", what, errors.count, 100 * errors.median,
              100 * errors.largest);
}

int run(int argc, char** argv) {
  int at = 1, cores = 64;
  if (argc > 2 && std::strcmp(argv[1], "--cores") == 0) {
    cores = std::atoi(argv[2]);
    at = 3;
  }
  if (argc < at + 2 || cores < 1)
    throw Error("ranks_model", "must have a folder and NETWORK=FILE, one or more");
  const std::string folder = argv[at++];
  std::vector<Measured> all;
  for (; at < argc; ++at) {
    const std::string given = argv[at];
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) throw Error(given, "must be NETWORK=FILE");
    all.push_back(read_points(given.substr(0, equals), given.substr(equals + 1)));
  }
  const double multiply_adds = fit_arithmetic(all);
  std::printf(
      "multiply-adds per second of one core: %.4g\n\n| network | bytes per second | latency "
      "|\n|---|---|---|\n",
      multiply_adds);
  std::vector<Fitted> fitted;
  for (const Measured& measured : all) {
    fitted.push_back({measured, fit_network(measured, multiply_adds)});
    std::printf("| %s | %.4g | %.3g ms |\n", measured.network.c_str(), fitted.back().machine.bytes,
                1e3 * fitted.back().machine.latency);
  }
  std::printf("\n| points held back | count | median error | largest |\n|---|---|---|---|\n");
  print("calls of one rank", held_back_arithmetic(all, multiply_adds));
  for (const Fitted& each : fitted) {
    print((each.measured.network + ": messages").c_str(),
          held_back_messages(each.measured, each.machine));
    print((each.measured.network + ": calls on two ranks").c_str(),
          held_back_calls(each.measured, each.machine));
  }
  save_picture(folder + "/ranks-links.svg", links(fitted));
  save_picture(folder + "/ranks-model.svg", to_a_thousand(multiply_adds, cores));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranks_model: %s\n", error.what());
    return 1;
  }
}
