// The group of a command under mpirun.
#include "training/on_ranks.h"

#include <string>

#include "commands.h"
#include "sextant/ranks.h"
#include "streams/console.h"

namespace sextant::app {

void on_ranks(const std::function<int(TrainingGroup*)>& work) {
  int code = 0;
  if (!ranks::launched_as_ranks()) {
    code = work(nullptr);
  } else {
    const ranks::Session session;
    ranks::TrainingRanks group(session.world());
    try {
      code = work(&group);
    } catch (const ranks::SharedError& error) {
      if (group.rank() == 0) note(error.what());
      code = 1;
    } catch (const Error& error) {
      throw Error("rank " + std::to_string(group.rank()), error.what());
    }
  }  // the ranks end together, whatever the code
  if (code != 0) throw EndWith{code};
}

}  // namespace sextant::app
