// How many processes a launcher started.
#include "options/launcher.h"

#include <cstdlib>

#include "sextant/core/error.h"

namespace sextant::app {

int launched_processes() {
  // Open MPI; MPICH and those made of it.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* text = std::getenv(name);
    const int count = text == nullptr ? 0 : std::atoi(text);
    if (count > 0) return count;
  }
  return 1;
}

void check_started_alone(const std::string& where, const std::string& what) {
  const int count = launched_processes();
  if (count == 1) return;
  throw Error(where, what + " where a launcher starts " + std::to_string(count) +
                         " processes: each would do the whole work");
}

}  // namespace sextant::app
