// Refuses options for ranks if no launcher has started them.
#include "training/on_ranks.h"

#include <string>

#include "sextant/core/error.h"

namespace sextant::app {

void check_no_context_parallel(int context_parallel, const char* why) {
  if (context_parallel == 1) return;
  throw Error("train.context-parallel",
              "must be 1 " + std::string(why) + ", got " + std::to_string(context_parallel));
}

}  // namespace sextant::app
