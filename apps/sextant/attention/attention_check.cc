// Checks the options of `sextant attention` before a file is read.
#include <algorithm>
#include <filesystem>

#include "attention/attention_command.h"
#include "options/options.h"
#include "sextant/core/error.h"

namespace sextant::app {
namespace {

// Checks options that need a whole file or the weights.
void check_ranks(const AttentionCommand& command) {
  if (!command.ranks.is_given()) return;
  if (command.wants("weights")) {
    throw Error("attention.weights", "must not be combined with --ranks");
  }
  for (const auto* files : {&command.inputs, &command.outputs}) {
    for (const auto& [name, path] : *files) {
      if (path == "-") throw Error("attention." + name, "must be a file with --ranks");
    }
  }
}

// Checks a scheme and the options that it excludes.
void check_scheme(const AttentionCommand& command) {
  const auto fail = [&](const std::string& option) {
    throw Error("attention." + option, "must not be combined with --scheme " +
                                           command.choice.scheme + ", which has its own");
  };
  if (!command.choice.is_given()) {
    if (!command.wants("dscheme")) return;
    throw Error("attention.dscheme", "must be given with --scheme");
  }
  command.choice.check();
  const SchemeSpecs chosen = command.choice.positions();
  for (const SchemeSpec& each : chosen) {
    const SchemeKind kind = find_scheme(each.scheme).kind;
    if (kind == SchemeKind::distance_bias && command.inputs.contains("bias")) fail("bias");
    if (kind == SchemeKind::rotated && command.rotates()) fail("rotary-base");
  }
  if (command.wants("dscheme") &&
      (chosen.size() != 1 || find_scheme(chosen[0].scheme).weights.empty())) {
    throw Error("attention.dscheme", "must be given with a single scheme that has weights, got '" +
                                         command.choice.scheme + "'");
  }
}

}  // namespace

void check_attention(const AttentionCommand& command) {
  const auto fail = [](const std::string& option, const std::string& what) {
    throw Error("attention." + option, what);
  };
  constexpr Format kFormats[] = {Format::npy};
  std::map<std::string, std::string> written;
  for (const auto& [name, path] : command.outputs) {
    if (path.starts_with("/dev/")) continue;  // a pipe or a sink
    if (name == "dscheme" && !path.ends_with(".safetensors")) {
      fail(name, "must be a file that ends in .safetensors, got '" + path + "'");
    }
    if (path != "-" && name != "dscheme") format_of_path(path, kFormats, "attention." + name);
    const auto [at, fresh] =
        written.emplace(std::filesystem::path(path).lexically_normal().string(), name);
    if (!fresh)
      fail(name, "must be a separate file, got " + path + " for --" + at->second + " too");
    if (path == "-" && (command.json || command.explain)) {
      fail(name, std::string("must be a file with ") + (command.json ? "--json" : "--explain") +
                     ", which prints to stdout");
    }
  }
  if (command.json && command.explain) fail("explain", "must not be combined with --json");
  if (command.outputs.empty() && !command.explain) {
    throw CLI::RequiredError("-o, another result, or --explain");
  }
  const bool offsets = command.inputs.contains("query-offsets");
  if (command.causal == Causal::at_offsets && !offsets) {
    fail("causal", "must be given with --query-offsets to be at_offsets");
  }
  if (command.causal == Causal::at_lengths && !command.inputs.contains("key-lengths")) {
    fail("causal", "must be given with --key-lengths to be at_lengths");
  }
  if (offsets && command.causal && *command.causal != Causal::at_offsets &&
      *command.causal != Causal::none) {
    fail("query-offsets", "must be given with --causal at_offsets or none, got " +
                              std::string(name_of(*command.causal)));
  }
  constexpr const char* kGradientNames[] = {"dq",    "dk",      "dv",     "dbias",
                                            "dmask", "dslopes", "dsinks", "dscheme"};
  if (command.inputs.contains("dout") &&
      std::none_of(std::begin(kGradientNames), std::end(kGradientNames),
                   [&](const char* name) { return command.wants(name); })) {
    fail("dout",
         "must be given with at least one of --dq, --dk, --dv, --dbias, --dmask, --dslopes, "
         "--dsinks, "
         "--dscheme");
  }
  check_scheme(command);
  check_ranks(command);
}

}  // namespace sextant::app
