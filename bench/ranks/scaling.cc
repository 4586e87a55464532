// The time of one rank is measured by rank 0 alone, with the others asleep, in turns with the time
// of all, so that both meet the same machine.
#include <cmath>
#include <cstdio>
#include <vector>

#include "ranks/measure.h"

namespace sextant::ranks::bench {

void scaling(const Communicator& comm, std::int64_t length, std::int64_t heads, int repeat) {
  const auto weak_length =
      static_cast<std::int64_t>(static_cast<double>(length) * std::sqrt(comm.size())) / 128 * 128;
  const AttentionOptions<float> causal{.causal = Causal::top_left, .threads = 1};
  const Options ring{.algorithm = Algorithm::ring, .sharding = Sharding::zigzag};
  const ShardLayout alone(Sharding::zigzag, length, 1),
      strong(Sharding::zigzag, length, comm.size()),
      weak(Sharding::zigzag, weak_length, comm.size());
  Times one[2], many[2], wide[2];
  for (int turn = 0; turn < repeat; ++turn) {
    if (turn == 0 && comm.rank() == 0)
      std::printf("ranks %d, N %ld, weak N %ld, heads %ld, causal, head_dim 64, one thread each\n",
                  comm.size(), long(length), long(weak_length), long(heads));
    while_others_sleep(comm, [&] {
      Arrays a(heads, alone, 0);
      double start = now();
      sextant::attention<float>(a.q, a.k, a.v, a.out.view(), causal, a.logs.view());
      one[0].add(now() - start, 0);
      start = now();
      sextant::attention_backward<float>(a.q, a.k, a.v, a.out, a.dout,
                                         {.q = a.dq, .k = a.dk, .v = a.dv, .bias = {}}, causal,
                                         a.logs);
      one[1].add(now() - start, 0);
    });
    for (const auto& [layout, times] : {std::pair{&strong, many}, std::pair{&weak, wide}}) {
      Arrays a(heads, *layout, comm.rank());
      measure(comm, times[0], [&] {
        ranks::attention<float>(comm, a.q, a.k, a.v, a.out.view(), causal, ring, a.logs.view());
      });
      measure(comm, times[1], [&] {
        ranks::attention_backward<float>(comm, a.q, a.k, a.v, a.out, a.dout,
                                         {.q = a.dq, .k = a.dk, .v = a.dv, .bias = {}}, causal,
                                         ring, a.logs);
      });
    }
  }
  // What the messages would take if nothing were computed meanwhile.
  Arrays a(heads, strong, comm.rank());
  std::vector<std::byte> mine(static_cast<std::size_t>(a.k.count() + a.v.count()) * 4),
      all(mine.size() * static_cast<std::size_t>(comm.size()));
  Times messages;
  for (int turn = 0; turn < repeat; ++turn) {
    measure(comm, messages, [&] { comm.all_gather(mine, all); });
  }
  if (comm.rank() != 0) return;
  const char* names[] = {"forward", "backward"};
  for (int n = 0; n < 2; ++n) {
    std::printf(
        "%-8s one rank %.3f s; strong %.3f s, efficiency %.1f %%; weak %.3f s, efficiency %.1f %%; "
        "waited %.1f ms of it\n",
        names[n], one[n].best, many[n].best, 100 * one[n].best / many[n].best / comm.size(),
        wide[n].best,
        100 * one[n].best * std::pow(double(weak_length) / double(length), 2) / wide[n].best /
            comm.size(),
        1e3 * many[n].waited);
  }
  std::printf("messages of a forward call alone: %.2f ms\n", 1e3 * messages.best);
}

}  // namespace sextant::ranks::bench
