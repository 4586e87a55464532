// The command line, where the build has it.
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "arguments.h"
#include "bindings.h"
#include "interpreter_lock.h"
#ifdef SEXTANT_PYTHON_PROGRAM
#include "program.h"
#else
#include <cstdio>
#endif

namespace nb = nanobind;

namespace sextant::python {
namespace {

int run_program([[maybe_unused]] const nb::list& given) {
#ifdef SEXTANT_PYTHON_PROGRAM
  std::vector<std::string> words;
  for (const nb::handle word : given) {
    const auto bytes = Argument{word, "run_program", "words"}.as<nb::bytes>("a list of bytes");
    words.emplace_back(bytes.c_str(), bytes.size());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  const Unlocked released(Signals::where_asked);  // the program has its own handlers
  return app::run_program(count, arguments.data());
#else
  std::fprintf(stderr,
               "sextant: this build of the module is without the command line (SEXTANT_APP=OFF)\n");
  return 1;
#endif
}

}  // namespace

void bind_program(nb::module_& module) {
  module.def("run_program", &run_program, nb::arg("words"),
             nb::sig("def run_program(words: list[bytes]) -> int"),
             "Runs a command of the command line, which takes over the process's signals: for "
             "`python -m sextant` alone.");
}

}  // namespace sextant::python
