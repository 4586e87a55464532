// The group of a command under mpirun.
#include "training/on_ranks.h"

#include <string>

#include "commands.h"
#include "sextant/ranks.h"
#include "streams/console.h"

namespace sextant::app {

void on_ranks(const std::function<int(TrainingGroup*)>& work, int sequence_ranks) {
  int code = 0;
  if (!ranks::launched_as_ranks()) {
    check_no_sequence_ranks(sequence_ranks, "without mpirun, which starts the ranks");
    code = work(nullptr);
  } else {
    const ranks::Session session;
    const int rank = session.world().rank();
    try {
      ranks::TrainingRanks group(session.world(), sequence_ranks);
      code = work(&group);
    } catch (const ranks::SharedError& error) {
      if (rank == 0) note(error.what());
      code = 1;
    } catch (const Error& error) {
      throw Error("rank " + std::to_string(rank), error.what());
    }
  }  // the ranks end together, whatever the code
  if (code != 0) throw EndWith{code};
}

}  // namespace sextant::app
