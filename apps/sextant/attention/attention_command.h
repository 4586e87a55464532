// Declares the options of `sextant attention` and its steps: read, check, compute, write.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "calls/printed_call.h"
#include "options/scheme_choice.h"
#include "sextant/attention/attention.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/schemes/rotated/rotary.h"
#include "streams/console.h"

namespace sextant::app {

// --ranks and its options: several processes of MPI that divide the sequence.
struct RanksChoice {
  std::string algorithm;  // empty: one process
  std::string divide = "contiguous", wire_type = "unchanged";
  bool reproducible = false;

  bool is_given() const { return !algorithm.empty(); }
};

struct AttentionCommand {
  // Paths by the names of their options without dashes: "q", "key-lengths"; those given only. "-"
  // is stdin or stdout, each once.
  std::map<std::string, std::string> inputs, outputs;
  std::string dtype;  // of q, k, v; empty: the dtype in the file of q
  bool alibi = false;
  std::optional<Causal> causal;
  Window window;
  std::optional<double> scale;
  double softcap = 0;
  double dropout = 0;
  std::uint64_t dropout_seed = 0;
  MatmulPrecision matmul_precision = MatmulPrecision::float32;
  Stage stage = Stage::probabilities;
  std::optional<double> rotary_base;  // with either of the two, q and k are rotated
  std::optional<RotaryLayout> rotary_layout;
  SchemeChoice choice;
  RanksChoice ranks;
  int threads = 0;
  bool explain = false;
  bool json = false;
  CallChoice call;

  bool rotates() const { return rotary_base || rotary_layout; }
  bool wants(const std::string& output) const { return outputs.contains(output); }
};

// The options that set its fields but those that other commands have too.
void add_attention_options(CLI::App& program, AttentionCommand& command);

// Throws Error for files that would be taken twice or written over one another, options that
// exclude each other or would be ignored.
void check_attention(const AttentionCommand& command);

// The arrays of the inputs by the names of their options.
using AttentionArrays = std::map<std::string, Array>;

// Reads every input; q, k, v and the gradient get the one type that they have, raw uint16 becoming
// bfloat16. Throws Error for files that are no arrays and for types that do not fit.
AttentionArrays load_arrays(const AttentionCommand& command);

// The type of q, k, v and the gradient, raw uint16 becoming bfloat16, checked.
void check_types(const AttentionCommand& command, AttentionArrays& arrays);

// The operator's complaint in the words of the command line.
Error as_option(const Error& error, bool scheme);

// Throws Error for folders that are not there.
void check_folders(const AttentionCommand& command);

// The job of the command, whose words are `words`, on ranks of MPI; throws Error where this program
// has none.
void run_attention_on_ranks(const AttentionCommand& command, CLI::App& words);

// Its job in one process.
void run_attention(const AttentionCommand& command);

// The command and its sizes; of the results: name -> {file, dtype, shape}.
Json summary_of(const AttentionCommand& command, const AttentionArrays& arrays,
                const Json& results);

}  // namespace sextant::app
