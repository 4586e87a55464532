// The options of `sextant attention`.
#include <tuple>

#include "attention/attention_command.h"
#include "options/choices.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "sextant/core/names.h"

namespace sextant::app {
namespace {

constexpr const char* kPositions = "Masks and positions";
constexpr const char* kScores = "Scores";
constexpr const char* kGradients = "Gradients";
constexpr const char* kRanks = "Several processes, started by mpirun -n R";

CLI::Option* add_path(CLI::App& command, std::map<std::string, std::string>& files,
                      const std::string& option, const std::string& meaning) {
  const std::string name = option.substr(option.find("--") + 2);
  return command.add_option_function<std::string>(
      option, [&files, name](const std::string& path) { files[name] = path; }, meaning);
}
CLI::Option* add_input(CLI::App& program, AttentionCommand& command, const std::string& option,
                       const std::string& meaning) {
  return input_file(add_path(program, command.inputs, option, meaning));
}
CLI::Option* add_output(CLI::App& program, AttentionCommand& command, const std::string& option,
                        const std::string& meaning) {
  return output_file(add_path(program, command.outputs, option, meaning));
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
  add_input(program, command, "--q",
            "queries [batch, heads, length, head_dim]; - reads stdin, as for every input")
      ->required();
  add_input(program, command, "--k",
            "keys [batch, kv_heads, k_len, head_dim]; kv_heads divides heads")
      ->required();
  add_input(program, command, "--v", "values [batch, kv_heads, k_len, v_dim]")->required();
  program
      .add_option("--dtype", command.dtype,
                  "type of q, k, v and all results; bfloat16 is stored as uint16 (default: that of "
                  "the q file)")
      ->type_name("T")
      ->check(one_of("attention.dtype", {"float64", "float32", "bfloat16", "float16"}));
  add_output(program, command, "-o,--output",
             "the result, [batch, heads, length, v_dim], .npy; - writes to stdout");
}

void add_visibility(CLI::App& program, AttentionCommand& command) {
  offer(add_parsed(
            program, "--causal", "NAME",
            [&command](const std::string& text, const std::string& where) {
              command.causal = parse_name<Causal>(text, where);
            },
            "top_left: query i attends to keys 0 .. i; bottom_right: the last query to all keys of "
            "k; at_lengths: the last query to all keys before --key-lengths; at_offsets: by "
            "--query-offsets; none (default)"),
        names_of<Causal>())
      ->group(kPositions);
  add_parsed(
      program, "--window", "L,R",
      [&command](const std::string& text, const std::string& where) {
        std::tie(command.window.left, command.window.right) = parse_pair(text, where, -1);
      },
      "visible keys before and after the query's position, which is not counted; -1: no limit")
      ->group(kPositions);
  auto* segments =
      add_input(program, command, "--segments",
                "packed sequences: the start of each, then the length (cu_seqlens); int32 or int64")
          ->group(kPositions);
  add_input(program, command, "--key-segments",
            "cross attention of packed sequences: the start of each one's keys, then k_len; int32 "
            "or int64")
      ->group(kPositions)
      ->needs(segments);
  add_input(program, command, "--key-lengths",
            "[batch]: keys from this index on are padding; with --causal at_lengths the key before "
            "it is aligned with the last query. int32 or int64")
      ->group(kPositions)
      ->excludes(segments);
  add_input(program, command, "--query-offsets",
            "[batch]: index of the key aligned with query 0, for chunks and caches; int32 or int64")
      ->group(kPositions)
      ->excludes(segments);
  auto* queries =
      add_input(
          program, command, "--query-positions",
          "[batch or 1, length]: position ids of the queries, for rotations and biases; masks "
          "and content terms still use the index in the sequence. int32 or int64")
          ->group(kPositions);
  auto* keys = add_input(program, command, "--key-positions",
                         "[batch or 1, k_len]: position ids of the keys; give both or neither")
                   ->group(kPositions)
                   ->needs(queries);
  queries->needs(keys);
  add_input(program, command, "--mask",
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
  auto* dropout = add_parsed(
                      program, "--dropout", "RATE",
                      [&command](const std::string& text, const std::string& where) {
                        command.dropout = parse_finite(text, where, 0);
                      },
                      "probability that a weight is 0, for training; the others are divided by 1 - "
                      "RATE; 0: off "
                      "(default)")
                      ->group(kScores);
  add_integer(program, "--dropout-seed", command.dropout_seed, 0, kMaxSeed,
              "selects the weights that are dropped (default 0)")
      ->group(kScores)
      ->needs(dropout);
  offer(add_parsed(
            program, "--matmul-precision", "NAME",
            [&command](const std::string& text, const std::string& where) {
              command.matmul_precision = parse_name<MatmulPrecision>(text, where);
            },
            "to what the factors of the two products may be rounded: float32 (default) | bfloat16, "
            "where the processor multiplies those faster"),
        names_of<MatmulPrecision>())
      ->group(kScores);
  add_input(program, command, "--bias",
            "[heads or 1, 2 L - 1], added by distance: index = key - query + L - 1")
      ->group(kScores);
  program
      .add_flag("--alibi", command.alibi, "add ALiBi, with the paper's slopes for the heads of q")
      ->group(kScores);
  add_input(
      program, command, "--sinks",
      "[heads]: attention sinks, an additional logit per head in the softmax, without a value")
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
      meaning_of("rotary", "layout") + " (half_split with --rotary-base alone)")
      ->check(one_of("attention.rotary-layout", {"half_split", "interleaved"}))
      ->group(kScores);
}

void add_more_results(CLI::App& program, AttentionCommand& command) {
  auto* weights =
      add_output(program, command, "--weights", "the weights, [batch, heads, length, k_len]");
  offer(add_parsed(
            program, "--stage", "NAME",
            [&command](const std::string& text, const std::string& where) {
              command.stage = parse_name<Stage>(text, where);
            },
            "stage of the weights: scores | capped | biased | probabilities (default)"),
        names_of<Stage>())
      ->needs(weights);
  add_output(program, command, "--log-sum-exp",
             "log(sum(exp(scores))) of each row, [batch, heads, length]");

  auto* grad = add_input(program, command, "--dout",
                         "the gradient of a loss with respect to the output, of its shape and type")
                   ->group(kGradients);
  const auto add = [&](const char* option, const char* of, const char* with) {
    auto* file = add_output(program, command, option,
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
  auto* algorithm =
      program
          .add_option(
              "--ranks", ranks.algorithm,
              "the processes divide the sequence; each reads and writes its part of the files. "
              "ring: keys are sent in a ring; gather: each process fetches all keys; ulysses: by "
              "whole heads; auto: the fastest by the estimate of --explain")
          ->type_name("ALGORITHM")
          ->check(one_of("attention.ranks", {"auto", "ring", "gather", "ulysses"}))
          ->group(kRanks);
  program
      .add_option("--divide", ranks.divide,
                  "positions of each process: contiguous (default); zigzag: early and late ones, "
                  "for causal calls; striped: every R-th")
      ->type_name("NAME")
      ->check(one_of("attention.divide", {"contiguous", "zigzag", "striped"}))
      ->group(kRanks)
      ->needs(algorithm);
  program
      .add_option(
          "--wire-type", ranks.wire_type,
          "type in which keys and values are sent: unchanged (default) | float16 | bfloat16")
      ->type_name("T")
      ->check(one_of("attention.wire-type", {"unchanged", "float16", "bfloat16"}))
      ->group(kRanks)
      ->needs(algorithm);
  program
      .add_flag("--reproducible", ranks.reproducible,
                "compute the same bits as one process, with gather or ulysses")
      ->group(kRanks)
      ->needs(algorithm);
}

}  // namespace

void add_attention_options(CLI::App& program, AttentionCommand& command) {
  add_arrays(program, command);
  add_visibility(program, command);
  add_scores(program, command);
  add_more_results(program, command);
  add_ranks(program, command.ranks);
}

}  // namespace sextant::app
