// The group of a command under mpirun.
#include "training/on_ranks.h"

#include <string>

#include "commands.h"
#include "ranks/as_rank.h"
#include "sextant/ranks.h"

namespace sextant::app {

void on_ranks(CLI::App& command, const std::function<int(TrainingGroup*)>& work,
              int context_parallel) {
  if (!ranks::launched_as_ranks()) {
    check_no_context_parallel(context_parallel, "without mpirun, which starts the ranks");
    const int code = work(nullptr);
    if (code != 0) throw EndWith{code};
    return;
  }
  const auto as_group = [&](const ranks::Communicator& world) {
    ranks::TrainingRanks group(world, context_parallel);
    return work(&group);
  };
  as_rank(command, as_group, [](const Error& error) { return std::string(error.what()); });
}

}  // namespace sextant::app
