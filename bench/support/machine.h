// What the figures were taken on: processor, compiler, commit, memory in use, and who else was
// using the cores.
#pragma once

#include <string>

namespace sextant::bench {

std::string
processor();  // as it calls itself, with family and model: "AMD EPYC (family 26 model 2)"
std::string compiler();
std::string commit();  // of the sources, with "-dirty" behind it; "" where git does not say

// Starts the program again with the threads of OpenMP, which rivals use, pinned one to a core,
// unless the environment says something about that already. Call it first in main().
void pin_openmp_threads(char** argv);

// Share of the machine's cores that other processes used since the last call, 0 .. 1; from Linux'
// counters of 10 ms, so only good over a second or so. 0 where there are none.
class OtherLoad {
 public:
  OtherLoad() { since_last(); }
  double since_last();

 private:
  double busy_ = 0, own_ = 0, total_ = 0;
};

// The most resident memory there was so far, bytes; negative: not known here.
double peak_memory();

// How many bytes the resident memory grew, at its peak, above what it was at the construction. Good
// to about 0.3 MiB, because Linux counts pages in batches per thread. Negative: not known here.
class MemoryGrowth {
 public:
  MemoryGrowth();
  double bytes() const;

 private:
  double before_;
};

}  // namespace sextant::bench
