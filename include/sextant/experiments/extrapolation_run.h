// The experiment "train at one length, test at others": one small causal model per scheme and seed,
// all with the same budget, in a folder from which it can be resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sextant/experiments/extrapolation.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/trainer.h"

namespace sextant {

struct ExtrapolationScheme {
  std::string label;    // of its row; its folder, with "-" for what no file name should have
  SchemeSpecs schemes;  // a decoder's T5 has bidirectional = no unless it is said
};

struct ExtrapolationOptions {
  std::string folder;  // plan.json, results.json, and a training run per piece; made if needed
  std::vector<ExtrapolationScheme> schemes;

  // Of each scheme so many models, which differ in everything random: seed i adds i to data.seed
  // (order, dropout), to model.seed, and to the parameter `seed` of its schemes.
  std::int64_t seeds = 1;

  // What is the same for all: the model (its scheme, vocabulary and length are set here), the data
  // (data.length is the length trained at), the optimiser.
  TransformerConfig model{};
  TaskOptions data{};
  double learning_rate = 2e-3;  // the peak; a tenth of it at the end of a cosine
  double dropout = 0;

  // One of the two. Minutes are for all schemes and seeds together, scoring included: a few steps
  // of each scheme are timed, and the number of steps that fits is used for all and stored in
  // plan.json.
  std::int64_t steps = 0;
  double minutes = 0;

  std::vector<std::int64_t> test_lengths;  // rising, at least 2
  std::int64_t stride = 32;                // of sliding windows, 1 .. the shortest length
  std::int64_t scored = 16384;             // tokens at most: see scored_tokens()

  int threads = 0;

  // Processes that train models side by side, each as it gets free; all call extrapolate() with
  // the same options and texts. The first one has plan.json and results.json, so all must see the
  // folder. Numbers are those of one process, but for seconds, and steps that minutes determine.
  TrainingGroup* group = nullptr;

  std::function<bool()> should_stop;  // asked after each step and each score: saves and returns,
                                      // with all of a group
  std::function<double()> clock;      // seconds, never decreasing; empty: the steady clock
};

// Sensible for two cores: seven schemes, trained at 128 tokens, tested at 128 .. 1024. The folder
// and steps or minutes are missing.
ExtrapolationOptions default_extrapolation();
// The options of its text: a vocabulary of 2000 where there are to be sub-words of no given size.
LanguageDataOptions with_small_vocabulary(LanguageDataOptions data);

// The progress of the experiment.
struct ExtrapolationProgress {
  std::size_t scheme = 0;                      // of options.schemes
  std::uint64_t seed = 0;                      // options.data.seed and those that follow
  std::string_view doing;                      // "measuring", "training", "scoring"
  std::int64_t length = 0;                     // scored next
  const TrainingProgress* training = nullptr;  // after each step
};
using ExtrapolationObserver = std::function<void(const ExtrapolationProgress&)>;
// "rotary", and of several seeds, which are measured together, "rotary, seed 1".
std::string name_of_run(const ExtrapolationOptions& options, const ExtrapolationProgress& progress);

struct ExtrapolationResult {
  ExtrapolationTable table;  // all rows unless stopped: schemes as in options, each with its seeds
  bool stopped = false;
};

// Trains and scores what is missing, all schemes with their first seed before any with its second.
// With one seed all schemes have the same batches in the same order and the same initial weights,
// except those of the scheme itself; `held_out` is scored at all test lengths. results.json is
// written after each model.
//
// The same call continues where it was stopped or killed. Everything that the runs depend on must
// be the same (Error names what differs); further schemes and seeds are trained with the steps of
// the plan; with other test lengths, stride, tokens or held-out text the trained models are scored
// again.
//
// Throws Error for options out of range ("extrapolation.OPTION"), for schemes that such a model
// cannot have, for a text that is too short, for files that are damaged or cannot be written, and
// as train(). With a group all throw the same, and return the same table; observers are told of the
// own models.
ExtrapolationResult extrapolate(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
                                const std::vector<std::int64_t>& tokens,
                                const std::vector<std::int64_t>& held_out,
                                const ExtrapolationObserver& observer = {});

}  // namespace sextant
