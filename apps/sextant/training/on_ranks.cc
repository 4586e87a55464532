// What is refused where no launcher has started ranks.
#include "training/on_ranks.h"

#include <string>

#include "sextant/core/error.h"

namespace sextant::app {

void check_no_sequence_ranks(int sequence_ranks, const char* why) {
  if (sequence_ranks == 1) return;
  throw Error("train.sequence-ranks",
              "must be 1 " + std::string(why) + ", got " + std::to_string(sequence_ranks));
}

}  // namespace sextant::app
