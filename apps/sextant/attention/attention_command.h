// What `sextant attention` was asked for, and the steps it takes: read, check, compute, write.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "options/scheme_choice.h"
#include "sextant/attention/attention.h"
#include "sextant/core/npy.h"
#include "sextant/schemes/rotated/rotary.h"
#include "streams/console.h"

namespace sextant::app {

struct AttentionCommand {
  // Paths by the names of their options without dashes: "q", "kv-lengths"; those given only. "-" is
  // stdin or stdout, each once.
  std::map<std::string, std::string> inputs, outputs;
  std::string dtype;  // of q, k, v; empty: what the file of q says
  bool alibi = false;
  std::optional<Causal> causal;
  Window window;
  std::optional<double> scale;
  double softcap = 0;
  Stage stage = Stage::probabilities;
  std::optional<double> rotary_base;  // with either of the two, q and k are rotated
  std::optional<RotaryLayout> rotary_layout;
  SchemeChoice choice;
  int threads = 0;
  bool explain = false;
  bool json = false;

  bool rotates() const { return rotary_base || rotary_layout; }
  bool wants(const std::string& output) const { return outputs.contains(output); }
};

// The arrays of the inputs by the names of their options.
using AttentionArrays = std::map<std::string, Array>;

// Reads every input; q, k, v and the gradient get the one type that they have, raw uint16 becoming
// bfloat16. Throws Error for files that are no arrays and for types that do not fit.
AttentionArrays load_arrays(const AttentionCommand& command);

// Does all of it: the job of the command.
void run_attention(const AttentionCommand& command);

// The command and its sizes; of the results: name -> {file, dtype, shape}.
Json summary_of(const AttentionCommand& command, const AttentionArrays& arrays,
                const Json& results);

}  // namespace sextant::app
