// Commands in a program without MPI.
#include "training/on_ranks.h"
#include "commands.h"

namespace sextant::app {

void on_ranks(const std::function<int(TrainingGroup*)>& work, int sequence_ranks) {
  check_no_sequence_ranks(sequence_ranks, "in a program that was built without MPI");
  if (const int code = work(nullptr); code != 0) throw EndWith{code};
}

}  // namespace sextant::app
