// What a second thread is worth, alone and beside a busy neighbour: two threads, or all, over one,
// for work in short parallel pieces. Beside neighbours, one thread gets part of a processor too, so
// the ratio is what counts: above 1, threads cost time.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sextant/attention.h"
#include "sextant/core/parallel.h"
#include "sextant/models/generate.h"
#include "sextant/models/language_model.h"
#include "support/machine.h"
#include "support/usage.h"

namespace {

using namespace sextant;
using namespace sextant::bench;
using Clock = std::chrono::steady_clock;

constexpr char kUsage[] =
    "threads [--threads N] [--turns N] [--seconds X]\n"
    "  --threads N   compared with one (default: all)\n"
    "  --turns N     of each case, in turn (default 5)\n"
    "  --seconds X   of each turn, at least (default 0.5)\n";

struct Options {
  int threads = default_threads(), turns = 5;
  double seconds = 0.5;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) end_with_usage(name, kUsage);
    if (name == "--threads") {
      options.threads = std::atoi(argv[i + 1]);
    } else if (name == "--turns") {
      options.turns = std::atoi(argv[i + 1]);
    } else if (name == "--seconds") {
      options.seconds = std::atof(argv[i + 1]);
    } else {
      end_with_usage(name, kUsage);
    }
  }
  return options;
}

unsigned spend(unsigned steps) {
  volatile unsigned spent = 0;
  while (spent < steps) {
    spent = spent + 1;
  }
  return spent;
}

// Processes that take a processor each while they live.
class Neighbours {
 public:
  explicit Neighbours(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (;;) spend(1000);
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~Neighbours() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  std::vector<pid_t> children_;
};

struct Case {
  std::string name;
  std::function<void(int threads)> run;
};

LanguageModel<float> model_of(std::int64_t width, std::int64_t layers) {
  return LanguageModel<float>(
      {.vocabulary = 256, .width = width, .heads = width / 32, .layers = layers});
}

Case training_step() {
  struct State {
    LanguageModel<float> model = model_of(64, 2), gradient = zeros_like(model);
    TokenBatch batch;
    Workspace memory;
  };
  const auto state = std::make_shared<State>();
  state->batch.segments.push_back(0);
  for (int sequence = 0; sequence < 8; ++sequence) {
    for (int i = 0; i < 64; ++i) {
      state->batch.tokens.push_back((sequence * 31 + i * 7) % 256);
      state->batch.targets.push_back((sequence * 31 + i * 7 + 7) % 256);
    }
    state->batch.segments.push_back(64 * (sequence + 1));
  }
  return {"loss and gradients, width 64", [state](int threads) {
            state->memory.reset();
            Pass pass{.memory = state->memory, .threads = threads};
            state->model.loss(state->batch, {}, &state->gradient, pass);
          }};
}

Case generation(std::int64_t width, std::int64_t layers) {
  const auto model = std::make_shared<LanguageModel<float>>(model_of(width, layers));
  return {"32 tokens generated, width " + std::to_string(width), [model](int threads) {
            const std::vector<std::int64_t> prompt{10, 20, 30};
            generate(*model, prompt, {.max_tokens = 32, .threads = threads});
          }};
}

Case forward(std::int64_t length) {
  struct State {
    Tensor<float> q, k, v, out;
  };
  std::mt19937 random(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  const auto made = [&] {
    Tensor<float> x({1, 8, length, 64});
    for (float& value : x.span()) value = numbers(random);
    return x;
  };
  const auto state = std::make_shared<State>(State{made(), made(), made(), made()});
  return {"attention of " + std::to_string(length) + " tokens", [state](int threads) {
            attention<float>(state->q, state->k, state->v, state->out.view(), {.threads = threads});
          }};
}

Case short_calls() {
  return {"1,000 calls of two short bodies", [](int threads) {
            for (int call = 0; call < 1000; ++call) {
              parallel_for(2, threads, [](std::int64_t) { spend(2000); });
            }
          }};
}

double seconds_of(const Case& one, int threads, double seconds) {
  const auto start = Clock::now();
  int runs = 0;
  double spent = 0;
  while (spent < seconds || runs == 0) {
    one.run(threads);
    ++runs;
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return spent / runs;
}

// The median over turns of a thread's time, and of the ratio.
void measure(const Case& one, const Options& options, int neighbours) {
  std::vector<double> alone, ratios;
  const Neighbours busy(neighbours);
  for (int turn = 0; turn < options.turns; ++turn) {
    alone.push_back(seconds_of(one, 1, options.seconds));
    ratios.push_back(seconds_of(one, options.threads, options.seconds) / alone.back());
  }
  std::ranges::sort(alone);
  std::ranges::sort(ratios);
  std::printf("%-36s %10d %12.3f %10.2f %14.2f .. %.2f\n", one.name.c_str(), neighbours,
              1e3 * alone[alone.size() / 2], ratios[ratios.size() / 2], ratios.front(),
              ratios.back());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    std::printf("%s, %d threads over one\n%-36s %10s %12s %10s %14s\n", processor().c_str(),
                options.threads, "", "neighbours", "ms, 1 thread", "ratio", "least .. most");
    for (const Case& one : {short_calls(), training_step(), generation(64, 2), generation(512, 4),
                            forward(128), forward(1024)}) {
      for (const int neighbours : {0, default_threads()}) measure(one, options, neighbours);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "threads: %s\n", error.what());
    return 2;
  }
}
