// `sextant attention --ranks` in a program without MPI.
#include "attention/attention_command.h"
#include "sextant/core/error.h"

namespace sextant::app {

void run_attention_on_ranks(const AttentionCommand&, CLI::App&) {
  throw Error("attention.ranks",
              "needs MPI, which this program was built without (SEXTANT_MPI=ON has it)");
}

}  // namespace sextant::app
