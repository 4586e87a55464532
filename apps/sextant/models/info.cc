// `sextant info`: what was built, and what runs on this machine.
#include <memory>
#include <string>

#include "commands.h"
#include "options/options.h"
#include "sextant/figures/environment.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {

void add_info(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "info",
      "version, compiler, instruction sets, threads\n"
      "Prints the version, the compiler, the compiled instruction sets and the one in use on this "
      "processor, and the number of threads of a call (set by OMP_NUM_THREADS).");
  auto output = std::make_shared<Output>();
  output->add_to(command, kTextOrJson, "save as .json");
  command.footer("Examples:\n  sextant info\n  OMP_NUM_THREADS=1 sextant info --json");
  command.callback([output, &job] {
    output->format(kTextOrJson, "info");
    job = [output] {
      const figures::Environment here = figures::environment();
      if (output->format(kTextOrJson, "info").value_or(Format::text) == Format::json) {
        return write_result(*output, Format::json, here.json() + "\n");
      }
      write_result(*output, Format::text,
                   aligned({{"version", here.version},
                            {"compiler", here.compiler},
                            {"compiled for", here.compiled_targets},
                            {"chosen", here.chosen_target},
                            {"threads", std::to_string(here.threads)},
                            {"schemes", std::to_string(here.schemes)}},
                           false));
    };
  });
}

}  // namespace sextant::app
