// A sequence too long for one process, whose first and last rows are computed again.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ranks/measure.h"

namespace sextant::ranks::bench {
namespace {

double memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

// The first and last rows are computed again on rank 0 by the operator, with all keys.
void long_sequence(const Communicator& comm, std::int64_t length) {
  const double before = memory_mib(), start = now();
  const ShardLayout layout(Sharding::zigzag, length, comm.size());
  Tensor<float> first({1, 1, 1000, 64}), last(first.shape());
  {
    const auto q = rows_of(1, layout, comm.rank(), 1), k = rows_of(1, layout, comm.rank(), 2);
    const auto v = rows_of(1, layout, comm.rank(), 3);
    Tensor<float> out(q.shape());
    ranks::attention<float>(comm, q, k, v, out.view(), {.causal = Causal::top_left},
                            {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag});
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
  const ShardLayout whole(Sharding::contiguous, length, 1);
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

}  // namespace sextant::ranks::bench
