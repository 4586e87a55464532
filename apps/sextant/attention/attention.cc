// `sextant attention`: the operator on arrays from files, for scripts in any language.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>

#include "attention/attention_command.h"
#include "commands.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant::app {
namespace {

constexpr const char* kPositions = "Masks and positions";
constexpr const char* kScores = "Scores";
constexpr const char* kGradients = "Gradients";
constexpr const char* kRanks = "Several processes, started by mpirun -n R";

CLI::Option* add_file(CLI::App& command, std::map<std::string, std::string>& files,
                      const std::string& option, const std::string& meaning) {
  const std::string name = option.substr(option.find("--") + 2);
  return command
      .add_option_function<std::string>(
          option, [&files, name](const std::string& path) { files[name] = path; }, meaning)
      ->type_name("FILE");
}

// An option whose text `parse` understands.
template <class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& option, const std::string& type,
                        Parse parse, const std::string& meaning) {
  const std::string where = "attention." + option.substr(2);
  return command
      .add_option_function<std::string>(
          option, [parse, where](const std::string& text) { parse(text, where); }, meaning)
      ->type_name(type);
}

void add_arrays(CLI::App& program, AttentionCommand& command) {
  auto& inputs = command.inputs;
  add_file(program, inputs, "--q",
           "queries [batch, heads, length, head_dim]; - reads stdin, as everywhere")
      ->required();
  add_file(program, inputs, "--k",
           "keys [batch, kv_heads, k_len, head_dim]; kv_heads divides heads")
      ->required();
  add_file(program, inputs, "--v", "values [batch, kv_heads, k_len, v_dim]")->required();
  program
      .add_option("--dtype", command.dtype,
                  "type of q, k, v and all results; bfloat16 is stored as uint16 (default: that of "
                  "the q file)")
      ->type_name("T")
      ->check(CLI::IsMember({"float64", "float32", "bfloat16", "float16"}));
  add_file(program, command.outputs, "-o,--output",
           "the result, [batch, heads, length, v_dim], .npy; - is stdout");
}

void add_visibility(CLI::App& program, AttentionCommand& command) {
  auto& inputs = command.inputs;
  add_parsed(
      program, "--causal", "NAME",
      [&command](const std::string& text, const std::string& where) {
        command.causal = parse_name<Causal>(text, where);
      },
      "top_left: query i attends to keys 0 .. i; bottom_right: the last query to all keys of k; "
      "at_lengths: the last query to all keys before --kv-lengths; at_offsets: by --query-offsets; "
      "none (default)")
      ->group(kPositions);
  add_parsed(
      program, "--window", "L,R",
      [&command](const std::string& text, const std::string& where) {
        std::tie(command.window.left, command.window.right) = parse_pair(text, where, -1);
      },
      "visible keys to the left and right of a query's own, which is not counted; -1: no limit")
      ->group(kPositions);
  auto* segments =
      add_file(program, inputs, "--segments",
               "packed sequences: the start of each, then the length (cu_seqlens); int32 or int64")
          ->group(kPositions);
  add_file(program, inputs, "--key-segments",
           "cross attention of packed sequences: the start of each one's keys, then k_len; int32 "
           "or int64")
      ->group(kPositions)
      ->needs(segments);
  add_file(program, inputs, "--kv-lengths",
           "[batch]: keys from this index on are padding; with --causal at_lengths the key before "
           "it is the last query's own. int32 or int64")
      ->group(kPositions)
      ->excludes(segments);
  add_file(program, inputs, "--query-offsets",
           "[batch]: the key that is query 0's own, for chunks and caches; int32 or int64")
      ->group(kPositions)
      ->excludes(segments);
  auto* queries =
      add_file(program, inputs, "--query-positions",
               "[batch or 1, length]: position ids of the queries, for rotations and biases; masks "
               "and content terms still use the index in the sequence. int32 or int64")
          ->group(kPositions);
  auto* keys = add_file(program, inputs, "--key-positions",
                        "[batch or 1, k_len]: position ids of the keys; give both or neither")
                   ->group(kPositions)
                   ->needs(queries);
  queries->needs(keys);
  add_file(program, inputs, "--mask",
           "broadcasts to [batch, heads, length, k_len], rank 1 to 4: bool (true: visible), or "
           "floats that are added to the scores")
      ->group(kPositions);
}

void add_scores(CLI::App& program, AttentionCommand& command) {
  add_parsed(
      program, "--scale", "S",
      [&command](const std::string& text, const std::string& where) {
        command.scale = parse_finite(text, where);
      },
      "factor of the scores (default 1 / sqrt(head_dim))")
      ->group(kScores);
  add_parsed(
      program, "--softcap", "C",
      [&command](const std::string& text, const std::string& where) {
        command.softcap = parse_finite(text, where, 0);
      },
      "replaces each score by C tanh(score / C), before biases; 0: off (default)")
      ->group(kScores);
  add_file(program, command.inputs, "--bias",
           "[heads or 1, 2 L - 1], added by distance: index = key - query + L - 1")
      ->group(kScores);
  program.add_flag("--alibi", command.alibi, "the slopes of the ALiBi paper for the heads of q")
      ->group(kScores);
  add_file(program, command.inputs, "--sinks",
           "[heads]: a logit per head that takes part in the softmax but has no value")
      ->group(kScores);
  add_parsed(
      program, "--rotary-base", "B",
      [&command](const std::string& text, const std::string& where) {
        command.rotary_base = parse_finite(text, where, 0, true);
      },
      "rotate q and k by their positions before the scores (10000 with --rotary-layout alone)")
      ->group(kScores);
  add_parsed(
      program, "--rotary-layout", "NAME",
      [&command](const std::string& text, const std::string&) {
        command.rotary_layout =
            text == "interleaved" ? RotaryLayout::interleaved : RotaryLayout::half_split;
      },
      "half_split | interleaved: which channels make a pair (half_split with --rotary-base alone)")
      ->check(CLI::IsMember({"half_split", "interleaved"}))
      ->group(kScores);
}

void add_more_results(CLI::App& program, AttentionCommand& command) {
  auto& outputs = command.outputs;
  auto* weights =
      add_file(program, outputs, "--weights", "the weights, [batch, heads, length, k_len]");
  add_parsed(
      program, "--stage", "NAME",
      [&command](const std::string& text, const std::string& where) {
        command.stage = parse_name<Stage>(text, where);
      },
      "stage of the weights: scores | capped | biased | probabilities (default)")
      ->needs(weights);
  add_file(program, outputs, "--lse", "log(sum(exp(scores))) of each row, [batch, heads, length]");

  auto* grad = add_file(program, command.inputs, "--grad",
                        "the gradient of a loss with respect to the output, of its shape and type")
                   ->group(kGradients);
  const auto add = [&](const char* option, const char* of, const char* with) {
    auto* file = add_file(program, outputs, option,
                          std::string("the gradient of the loss with respect to ") + of)
                     ->group(kGradients)
                     ->needs(grad);
    if (with != nullptr) file->needs(program.get_option(with));
  };
  add("--dq", "q", nullptr);
  add("--dk", "k", nullptr);
  add("--dv", "v", nullptr);
  add("--dbias", "the bias", "--bias");
  add("--dmask", "the mask, which must have floats", "--mask");
  add("--dslopes", "the slopes, [heads]", "--alibi");
  add("--dsinks", "the sinks", "--sinks");
  add("--dscheme", "the scheme's learned weights, by name, .safetensors", nullptr);
}

void add_ranks(CLI::App& program, RanksChoice& ranks) {
  auto* form = program
                   .add_option("--ranks", ranks.form,
                               "the processes divide the sequence; each reads and writes its part "
                               "of the files. ring: keys travel; gather: each fetches all keys; "
                               "ulysses: whole heads; auto: what --explain expects to be fastest")
                   ->type_name("FORM")
                   ->check(CLI::IsMember({"auto", "ring", "gather", "ulysses"}))
                   ->group(kRanks);
  program
      .add_option("--divide", ranks.divide,
                  "which positions a process has: contiguous (default), zigzag: early and late "
                  "ones, for causal calls; striped: every R-th")
      ->type_name("NAME")
      ->check(CLI::IsMember({"contiguous", "zigzag", "striped"}))
      ->group(kRanks)
      ->needs(form);
  program
      .add_option("--transport", ranks.transport,
                  "keys and values are rounded for the journey: unchanged (default) | float16 | "
                  "bfloat16")
      ->type_name("T")
      ->check(CLI::IsMember({"unchanged", "float16", "bfloat16"}))
      ->group(kRanks)
      ->needs(form);
  program
      .add_flag("--reproducible", ranks.reproducible,
                "the bits of one process, by gather or ulysses")
      ->group(kRanks)
      ->needs(form);
}

// What needs the whole of a file or of the weights.
void check_ranks(const AttentionCommand& command) {
  if (!command.ranks.is_given()) return;
  if (command.wants("weights")) {
    throw Error("attention.weights", "must not go with --ranks");
  }
  for (const auto* files : {&command.inputs, &command.outputs}) {
    for (const auto& [name, path] : *files) {
      if (path == "-") throw Error("attention." + name, "must be a file with --ranks");
    }
  }
}

// Why the operator cannot take a scheme.
std::string why_it_cannot_attend(const Scheme& scheme) {
  if (scheme.kind != SchemeKind::added) return "";
  return "must be a scheme that acts on q, k or scores; an added one acts on the embeddings that q "
         "and k are made of";
}

// A scheme, and what may not go with it.
void check_scheme(const AttentionCommand& command) {
  const auto fail = [&](const std::string& option) {
    throw Error("attention." + option,
                "must not go with --scheme " + command.choice.scheme + ", which has its own");
  };
  if (!command.choice.is_given()) {
    if (!command.wants("dscheme")) return;
    throw Error("attention.dscheme", "must go with --scheme");
  }
  command.choice.check();
  const PositionSchemes chosen = command.choice.positions();
  for (const PositionScheme& each : chosen) {
    const SchemeKind kind = find_scheme(each.scheme).kind;
    if (kind == SchemeKind::distance_bias && command.inputs.contains("bias")) fail("bias");
    if (kind == SchemeKind::rotated && command.rotates()) fail("rotary-base");
  }
  if (command.wants("dscheme") &&
      (chosen.size() != 1 || find_scheme(chosen[0].scheme).weights.empty())) {
    throw Error("attention.dscheme", "must go with a single scheme that has weights, got '" +
                                         command.choice.scheme + "'");
  }
}

// What the words alone tell: files that would be taken twice or written over one another, options
// that exclude each other or would be ignored.
void check(const AttentionCommand& command) {
  const auto fail = [](const std::string& option, const std::string& what) {
    throw Error("attention." + option, what);
  };
  const char* taken = nullptr;
  for (const auto& [name, path] : command.inputs) {
    if (path != "-") continue;
    if (taken != nullptr)
      fail(name, std::string("must not be stdin too, --") + taken + " reads it");
    taken = name.c_str();
  }
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
      fail(name, "must be a file of its own, got " + path + " for --" + at->second + " too");
    if (path == "-" && (command.json || command.explain)) {
      fail(name, std::string("must be a file with ") + (command.json ? "--json" : "--explain") +
                     ", which prints to stdout");
    }
  }
  if (command.json && command.explain) fail("explain", "must not go with --json");
  if (command.outputs.empty() && !command.explain) {
    throw CLI::RequiredError("-o, another result, or --explain");
  }
  const bool offsets = command.inputs.contains("query-offsets");
  if (command.causal == Causal::at_offsets && !offsets) {
    fail("causal", "must go with --query-offsets to be at_offsets");
  }
  if (command.causal == Causal::at_lengths && !command.inputs.contains("kv-lengths")) {
    fail("causal", "must go with --kv-lengths to be at_lengths");
  }
  if (offsets && command.causal && *command.causal != Causal::at_offsets &&
      *command.causal != Causal::none) {
    fail("query-offsets",
         "must go with --causal at_offsets or none, got " + std::string(name_of(*command.causal)));
  }
  constexpr const char* kGradientNames[] = {"dq",    "dk",      "dv",     "dbias",
                                            "dmask", "dslopes", "dsinks", "dscheme"};
  if (command.inputs.contains("grad") &&
      std::none_of(std::begin(kGradientNames), std::end(kGradientNames),
                   [&](const char* name) { return command.wants(name); })) {
    fail("grad",
         "must go with at least one of --dq, --dk, --dv, --dbias, --dmask, --dslopes, --dsinks, "
         "--dscheme");
  }
  check_scheme(command);
  check_ranks(command);
}

}  // namespace

void add_attention(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "attention",
      "the operator on arrays from .npy files\n"
      "Computes softmax(scale q k^T + biases and masks) v of arrays from .npy files, and its "
      "gradients. float32, bfloat16 and float16 run on fast kernels; float64 is computed in "
      "float64, for reference. Files are written after everything has been computed, each complete "
      "or not at all.");
  auto attention = std::make_shared<AttentionCommand>();
  add_arrays(command, *attention);
  add_visibility(command, *attention);
  add_scores(command, *attention);
  add_more_results(command, *attention);
  add_ranks(command, attention->ranks);
  add_threads(command, attention->threads);
  command.add_flag(
      "--explain", attention->explain,
      "print which kernel runs, its tiles, threads and memory; without -o nothing is computed");
  command.add_flag("--json", attention->json, "print a summary: files, shapes, types, options");
  attention->choice.add_to(command, "none", why_it_cannot_attend, true);
  command.footer(
      "Examples:\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --causal top_left\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --alibi --causal top_left "
      "--window 511,0\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy --weights w.npy --stage probabilities\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --grad dout.npy --dq dq.npy "
      "--dk dk.npy --dv dv.npy\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy --rotary-base 10000 --explain\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --scheme t5 --scheme-weights "
      "t5.safetensors --causal top_left\n"
      "  mpirun -n 4 sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --causal top_left "
      "--ranks auto --divide zigzag");
  command.callback([attention, &job] {
    check(*attention);
    job = [attention] { run_attention(*attention); };
  });
}

}  // namespace sextant::app
