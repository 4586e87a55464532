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

// Seconds in which two ranks send `bytes` to each other. Short ones several times, because a
// barrier does not end at one time on all ranks; long ones once, because the next one's first words
// would wait behind what is still in the sockets.
double exchange(const Communicator& comm, std::size_t bytes, int repeat) {
  const int count = bytes <= 32768 ? 8 : 1;
  std::vector<std::byte> out(bytes), in(bytes);
  const int other = 1 - comm.rank();
  Times times;
  for (int turn = 0; turn < repeat; ++turn) {
    measure(comm, times, [&] {
      for (int n = 0; n < count && comm.rank() < 2; ++n) {
        const Communicator::Outgoing send{other, out};
        const Communicator::Incoming receive{other, in};
        comm.start(std::span(&send, 1), std::span(&receive, 1)).finish();
      }
    });
  }
  return times.best / count;
}

// Of one length: rank 0 alone, and all ranks.
struct Length {
  std::int64_t length;
  Times alone{}, all{};
};

void measure_calls(const Communicator& comm, Length& at) {
  const AttentionOptions<float> causal{.causal = Causal::top_left, .threads = 1};
  while_others_sleep(comm, [&] {
    Arrays a(1, ShardLayout(Sharding::zigzag, at.length, 1), 0);
    const double start = now();
    sextant::attention<float>(a.q, a.k, a.v, a.out.view(), causal, a.logs.view());
    at.alone.add(now() - start, 0);
  });
  if (comm.size() == 1) return;
  Arrays a(1, ShardLayout(Sharding::zigzag, at.length, comm.size()), comm.rank());
  measure(comm, at.all, [&] {
    ranks::attention<float>(comm, a.q, a.k, a.v, a.out.view(), causal,
                            {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag},
                            a.logs.view());
  });
}

void print(int ranks, std::int64_t length, const Times& times) {
  std::printf("{\"ranks\": %d, \"length\": %lld, \"seconds\": %.9g, \"waited\": %.9g}\n", ranks,
              static_cast<long long>(length), times.best, times.waited);
}

}  // namespace

void points(const Communicator& comm, std::int64_t longest, int repeat) {
  const bool speaks = comm.rank() == 0;
  for (std::size_t bytes = 1024; comm.size() > 1 && bytes <= (std::size_t{4} << 20); bytes *= 2) {
    const double seconds = exchange(comm, bytes, repeat);
    if (speaks) std::printf("{\"bytes\": %zu, \"seconds\": %.9g}\n", bytes, seconds);
  }
  std::vector<Length> lengths;
  for (std::int64_t length = 1024; length <= longest; length += length / 2 / 256 * 256) {
    lengths.push_back({length});
  }
  for (int turn = 0; turn < repeat; ++turn) {  // each length meets the machine at several times
    for (Length& each : lengths) measure_calls(comm, each);
  }
  for (const Length& each : lengths) {
    if (!speaks) continue;
    print(1, each.length, each.alone);
    if (comm.size() > 1) print(comm.size(), each.length, each.all);
  }
}

}  // namespace sextant::ranks::bench
