// Commands in a program without MPI.
#include "training/on_ranks.h"
#include "commands.h"
#include "options/launcher.h"

namespace sextant::app {

void on_ranks(CLI::App& command, const std::function<int(TrainingGroup*)>& work,
              int context_parallel) {
  check_started_alone(command.get_name(),
                      "needs MPI, which this program was built without (SEXTANT_MPI=ON has it),");
  check_no_context_parallel(context_parallel, "in a program that was built without MPI");
  if (const int code = work(nullptr); code != 0) throw EndWith{code};
}

}  // namespace sextant::app
