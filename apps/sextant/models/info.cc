// `sextant info`: what was built, and what runs on this machine.
#include <memory>
#include <string>

#include "commands.h"
#include "sextant/core/parallel.h"
#include "sextant/kernels.h"
#include "sextant/schemes/scheme.h"
#include "sextant/text/segment.h"
#include "streams/console.h"
#include "streams/environment.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

}  // namespace

Json environment() {
  Json json;
  json["version"] = SEXTANT_VERSION;
  json["compiler"] = compiler();
  json["instruction_sets"] = {{"compiled", split_spaces(compiled_targets())},
                              {"chosen", chosen_target()}};
  json["threads"] = default_threads();
  json["schemes"] = schemes().size();
  return json;
}

std::string environment_line() {
  return "sextant " + std::string(SEXTANT_VERSION) + ", " + compiler() + ", " +
         std::string(chosen_target()) + ", " + std::to_string(default_threads()) + " threads";
}

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
      if (output->format(kTextOrJson, "info").value_or(Format::text) == Format::json) {
        return write_result(*output, Format::json, to_text(environment()) + "\n");
      }
      write_result(*output, Format::text,
                   aligned({{"version", SEXTANT_VERSION},
                            {"compiler", compiler()},
                            {"compiled for", compiled_targets()},
                            {"chosen", chosen_target()},
                            {"threads", std::to_string(default_threads())},
                            {"schemes", std::to_string(schemes().size())}},
                           false));
    };
  });
}

}  // namespace sextant::app
