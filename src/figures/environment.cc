// Describes the build and the machine.
#include "sextant/figures/environment.h"

#include "core/json/json_text.h"
#include "sextant/core/parallel.h"
#include "sextant/kernels.h"
#include "sextant/schemes/scheme.h"
#include "sextant/text/segment.h"

namespace sextant::figures {
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

Environment environment() {
  return {SEXTANT_VERSION, compiler(),        compiled_targets(),
          chosen_target(), default_threads(), schemes().size()};
}

std::string Environment::line() const {
  return "sextant " + version + ", " + compiler + ", " + chosen_target + ", " +
         std::to_string(threads) + " threads";
}

std::string Environment::json() const {
  Json json;
  json["version"] = version;
  json["compiler"] = compiler;
  json["instruction_sets"] = {{"compiled", split_spaces(compiled_targets)},
                              {"chosen", chosen_target}};
  json["threads"] = threads;
  json["schemes"] = schemes;
  return to_text(json);
}

}  // namespace sextant::figures
