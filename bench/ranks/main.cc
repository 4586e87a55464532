// Attention over ranks.
//   mpirun -n R bench/ranks [--length N] [--heads H] [--repeat K]   how time falls with their
//   number, and how much of the messages
//                                                                  is hidden. strong: N in all;
//                                                                  weak: N sqrt(R)
//   mpirun -n R bench/ranks --long N                               one causal forward call, its
//   memory, and its ends beside one process mpirun -n 2 bench/ranks --points N points up to length
//   N, for bench/time_model
// Each rank is pinned to a core by mpirun (--bind-to core).
#include <cstdlib>
#include <cstring>

#include "ranks/measure.h"

int main(int argc, char** argv) {
  using namespace sextant::ranks;
  const Session session;
  const Communicator& comm = session.world();
  std::int64_t length = 16384, heads = 1, long_length = 0, longest = 0;
  int repeat = 5;
  for (int n = 1; n + 1 < argc; n += 2) {
    const std::int64_t value = std::atoll(argv[n + 1]);
    if (std::strcmp(argv[n], "--length") == 0) length = value;
    if (std::strcmp(argv[n], "--heads") == 0) heads = value;
    if (std::strcmp(argv[n], "--repeat") == 0) repeat = static_cast<int>(value);
    if (std::strcmp(argv[n], "--long") == 0) long_length = value;
    if (std::strcmp(argv[n], "--points") == 0) longest = value;
  }
  if (long_length > 0) {
    bench::long_sequence(comm, long_length);
  } else if (longest > 0) {
    bench::points(comm, longest, repeat);
  } else {
    bench::scaling(comm, length, heads, repeat);
  }
}
