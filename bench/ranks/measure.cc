// Arrays and clocks.
#include "ranks/measure.h"

namespace sextant::ranks::bench {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Tensor<float> rows_of(std::int64_t heads, const ShardLayout& layout, int rank, std::uint64_t seed) {
  Tensor<float> x({1, heads, layout.count(rank), 64});
  for (std::int64_t h = 0; h < heads; ++h) {
    std::int64_t row = 0;
    for (const Run& run : layout.runs(rank)) {
      for (std::int64_t n = 0; n < run.count; ++n, ++row) {
        auto state = static_cast<std::uint64_t>(run.begin + n * run.step) * 8191 +
                     static_cast<std::uint64_t>(h) * 131 + seed;
        for (std::int64_t c = 0; c < 64; ++c) {
          state = state * 6364136223846793005U + 1442695040888963407U;
          x(0, h, row, c) = static_cast<float>(static_cast<double>(state >> 40) / 0x1p23 - 1);
        }
      }
    }
  }
  return x;
}

Arrays::Arrays(std::int64_t heads, const ShardLayout& layout, int rank)
    : q(rows_of(heads, layout, rank, 1)),
      k(rows_of(heads, layout, rank, 2)),
      v(rows_of(heads, layout, rank, 3)),
      dout(rows_of(heads, layout, rank, 4)),
      out(q.shape()),
      dq(q.shape()),
      dk(q.shape()),
      dv(q.shape()),
      logs({1, heads, layout.count(rank)}) {}

void while_others_sleep(const Communicator& comm, const std::function<void()>& work) {
  comm.barrier();
  double seconds = 0;
  if (comm.rank() == 0) {
    const double start = now();
    work();
    seconds = now() - start;
  }
  comm.broadcast(0, std::as_writable_bytes(std::span(&seconds, 1)));
}

void measure(const Communicator& comm, Times& times, const std::function<void()>& work) {
  comm.barrier();
  const double waited = comm.seconds_waited(), start = now();
  work();
  const double mine = now() - start, wait = comm.seconds_waited() - waited;
  const double all = comm.largest(mine);
  times.add(all, comm.largest(wait));
}

}  // namespace sextant::ranks::bench
