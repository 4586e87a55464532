// `sextant train` in a program without MPI.
#include "commands.h"
#include "training/train_ranks.h"

namespace sextant::app {

void train_on_ranks(const std::function<int(TrainingGroup*)>& work) {
  if (const int code = work(nullptr); code != 0) throw EndWith{code};
}

}  // namespace sextant::app
