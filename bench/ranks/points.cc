// Points for a model of time, one JSON object a line, times in seconds:
//   {"messages": 4, "bytes": 65536, "seconds": ...}                     both ranks send to each
//   other
//   {"ranks": 2, "length": 4096, "heads": 1, "seconds": ..., "waited": ...}   causal, zigzag, a
//   ring
#include <cstdio>
#include <vector>

#include "ranks/measure.h"

namespace sextant::ranks::bench {
namespace {

// Ranks 0 and 1 exchange parts of `bytes` in as many messages, all under way at once.
double exchange(const Communicator& comm, std::size_t bytes, int messages, int repeat) {
  std::vector<std::byte> out(bytes * static_cast<std::size_t>(messages)), in(out.size());
  const int other = 1 - comm.rank();
  Times times;
  for (int turn = 0; turn < repeat; ++turn) {
    measure(comm, times, [&] {
      std::vector<Communicator::Outgoing> sends;
      std::vector<Communicator::Incoming> receives;
      for (int n = 0; n < messages && comm.rank() < 2; ++n) {
        const std::size_t at = static_cast<std::size_t>(n) * bytes;
        sends.push_back({other, std::span(out).subspan(at, bytes), n});
        receives.push_back({other, std::span(in).subspan(at, bytes), n});
      }
      comm.start(sends, receives).finish();
    });
  }
  return times.best;
}

}  // namespace

void points(const Communicator& comm, std::int64_t longest, int repeat) {
  const bool speaks = comm.rank() == 0;
  if (comm.size() > 1) {
    for (std::size_t bytes = 1024; bytes <= (std::size_t{4} << 20); bytes *= 2) {
      const double seconds = exchange(comm, bytes, 1, repeat);
      if (speaks)
        std::printf("{\"messages\": 1, \"bytes\": %zu, \"seconds\": %.9g}\n", bytes, seconds);
    }
  }
  for (std::int64_t length = 1024; length <= longest; length += length / 2 / 256 * 256) {
    Times alone, all;
    const AttentionOptions<float> causal{.causal = Causal::top_left, .threads = 1};
    for (int turn = 0; turn < repeat; ++turn) {
      while_others_sleep(comm, [&] {
        Arrays a(1, Layout(Division::zigzag, length, 1), 0);
        const double start = now();
        sextant::attention<float>(a.q, a.k, a.v, a.out.view(), causal, a.logs.view());
        alone.add(now() - start, 0);
      });
      if (comm.size() == 1) continue;
      Arrays a(1, Layout(Division::zigzag, length, comm.size()), comm.rank());
      measure(comm, all, [&] {
        ranks::attention<float>(comm, a.q, a.k, a.v, a.out.view(), causal,
                                {.form = Form::ring, .division = Division::zigzag}, a.logs.view());
      });
    }
    if (!speaks) continue;
    const auto print = [&](int count, const Times& times) {
      std::printf(
          "{\"ranks\": %d, \"length\": %lld, \"heads\": 1, \"seconds\": %.9g, \"waited\": %.9g}\n",
          count, static_cast<long long>(length), times.best, times.waited);
    };
    print(1, alone);
    if (comm.size() > 1) print(comm.size(), all);
    std::fflush(stdout);
  }
}

}  // namespace sextant::ranks::bench
