// Attention over ranks: how time falls with their number, and how much of the messages is hidden.
//   mpirun -n R bench/ranks [--length N] [--heads H] [--repeat K]     strong: N in all; weak: N
//   sqrt(R) mpirun -n R bench/ranks --long N                                  one causal forward,
//   its memory, and its ends beside one process
// Each rank is pinned to a core by mpirun (--bind-to core). The time of one rank is measured by
// rank 0 alone, with the others asleep, in turns with the time of all, so that both meet the same
// machine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/ranks.h"

namespace sextant::ranks {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Rows of an array of any length, the same whichever rank makes them.
Tensor<float> rows_of(std::int64_t heads, const Layout& layout, int rank, std::uint64_t seed) {
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

// One division's arrays and results.
struct Arrays {
  Arrays(std::int64_t heads, const Layout& layout, int rank)
      : q(rows_of(heads, layout, rank, 1)),
        k(rows_of(heads, layout, rank, 2)),
        v(rows_of(heads, layout, rank, 3)),
        dout(rows_of(heads, layout, rank, 4)),
        out(q.shape()),
        dq(q.shape()),
        dk(q.shape()),
        dv(q.shape()),
        logs({1, heads, layout.count(rank)}) {}
  Tensor<float> q, k, v, dout, out, dq, dk, dv, logs;
};

// Others sleep, so that one rank has its core for itself; then all go on together.
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

struct Times {
  double best = 1e300, waited = 0;
  void add(double seconds, double wait) {
    if (seconds >= best) return;
    best = seconds;
    waited = wait;
  }
};

// The time of all ranks: until the last is done.
template <class Work>
void measure(const Communicator& comm, Times& times, const Work& work) {
  comm.barrier();
  const double waited = comm.seconds_waited(), start = now();
  work();
  const double mine = now() - start, wait = comm.seconds_waited() - waited;
  const double all = comm.largest(mine);
  times.add(all, comm.largest(wait));
}

void scaling(const Communicator& comm, std::int64_t length, std::int64_t heads, int repeat) {
  const auto weak_length =
      static_cast<std::int64_t>(static_cast<double>(length) * std::sqrt(comm.size())) / 128 * 128;
  const AttentionOptions<float> causal{.causal = Causal::top_left, .threads = 1};
  const Options ring{.form = Form::ring, .division = Division::zigzag};
  const Layout alone(Division::zigzag, length, 1), strong(Division::zigzag, length, comm.size()),
      weak(Division::zigzag, weak_length, comm.size());
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

double memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The first and last rows are computed again on rank 0 by the operator, with all keys.
void long_sequence(const Communicator& comm, std::int64_t length) {
  const double before = memory_mib(), start = now();
  const Layout layout(Division::zigzag, length, comm.size());
  Tensor<float> first({1, 1, 1000, 64}), last(first.shape());
  {
    const auto q = rows_of(1, layout, comm.rank(), 1), k = rows_of(1, layout, comm.rank(), 2);
    const auto v = rows_of(1, layout, comm.rank(), 3);
    Tensor<float> out(q.shape());
    ranks::attention<float>(comm, q, k, v, out.view(), {.causal = Causal::top_left},
                            {.form = Form::ring, .division = Division::zigzag});
    const double seconds = comm.largest(now() - start);
    const double most = comm.largest(memory_mib() - before);
    if (comm.rank() == 0) {  // it has the first and the last piece
      std::printf(
          "ranks %d, N %ld: %.1f s, at most %.0f MiB on a rank beside %.0f MiB of the program\n",
          comm.size(), long(length), seconds, most, before);
      const std::int64_t rows = layout.count(0);
      first = copy_of(out.view().narrow(2, 0, 1000));
      last = copy_of(out.view().narrow(2, rows - 1000, 1000));
    }
  }
  if (comm.rank() != 0) return;
  const Layout whole(Division::contiguous, length, 1);
  const auto k = rows_of(1, whole, 0, 2), v = rows_of(1, whole, 0, 3);
  const auto q = rows_of(1, whole, 0, 1);
  for (const bool end : {false, true}) {
    const std::int64_t begin = end ? length - 1000 : 0;
    const std::int64_t offset[] = {begin};
    Tensor<float> wanted({1, 1, 1000, 64});
    AttentionOptions<float> options{.causal = Causal::at_offsets};
    options.query_offsets = offset;
    sextant::attention<float>(q.view().narrow(2, begin, 1000), k, v, wanted.view(), options);
    double largest = 0, size = 0;
    const Tensor<float>& got = end ? last : first;
    for (std::int64_t n = 0; n < wanted.count(); ++n) {
      largest = std::max(largest, std::fabs(double(got.data()[n]) - double(wanted.data()[n])));
      size = std::max(size, std::fabs(double(wanted.data()[n])));
    }
    std::printf("%s 1000 rows: largest difference from one process %.3g, largest value %.3g\n",
                end ? "last" : "first", largest, size);
  }
}

}  // namespace
}  // namespace sextant::ranks

int main(int argc, char** argv) {
  using namespace sextant::ranks;
  const Session session;
  std::int64_t length = 16384, heads = 1, long_length = 0;
  int repeat = 5;
  for (int n = 1; n + 1 < argc; n += 2) {
    const std::int64_t value = std::atoll(argv[n + 1]);
    if (std::strcmp(argv[n], "--length") == 0) length = value;
    if (std::strcmp(argv[n], "--heads") == 0) heads = value;
    if (std::strcmp(argv[n], "--repeat") == 0) repeat = static_cast<int>(value);
    if (std::strcmp(argv[n], "--long") == 0) long_length = value;
  }
  if (long_length > 0) {
    long_sequence(session.world(), long_length);
  } else {
    scaling(session.world(), length, heads, repeat);
  }
}
