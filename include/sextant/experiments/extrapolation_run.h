// Runs the experiment "train at one length, test at others": one small causal model per scheme and
// seed, all with the same budget, in a folder from which it can be resumed.
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
  std::string label;    // the name of its row, and of its folder, with "-" for characters that file
                        // names should not have
  SchemeSpecs schemes;  // T5 in a decoder has bidirectional = no by default; empty: the positions
                        // of ExtrapolationOptions::trained
};

struct ExtrapolationOptions {
  std::string folder;  // plan.json, results.json, and a training run per piece; made if needed
  std::vector<ExtrapolationScheme> schemes;

  // The number of models of each scheme. They differ in all randomness: seed i adds i to data.seed
  // (order, dropout), to model.seed, and to the parameter `seed` of the schemes.
  std::int64_t seeds = 1;

  // A causal model that is trained further with each of the schemes in place of its positions; the
  // tokens are those of its tokenizer. It must exist as long as the options. The schemes must learn
  // nothing. Then every scheme has a row before the training and one after it, and `model` is not
  // used. nullptr: models with first weights are trained.
  const TextModel* trained = nullptr;

  // The settings that all share: the model (its scheme, vocabulary and length are set here), the
  // data (data.length is the trained length), the optimiser.
  TransformerConfig model{};
  TaskOptions data{};
  double learning_rate = 2e-3;  // the peak; the cosine ends at a tenth of it
  double dropout = 0;

  // Set one of the two. Minutes are for all schemes and seeds together, with scoring: a few steps
  // of each scheme are timed, and the number of steps that fits is used for all and stored in
  // plan.json.
  std::int64_t steps = 0;
  double minutes = 0;

  std::vector<std::int64_t> test_lengths;  // ascending, at least 2
  std::int64_t stride = 32;                // of sliding windows, 1 .. the shortest length
  std::int64_t scored = 16384;  // the largest number of scored tokens: see scored_tokens()

  int threads = 0;

  // Processes that train models in parallel, each taking the next model when it is free; all call
  // extrapolate() with the same options and texts. The first one writes plan.json and results.json,
  // so all must see the folder. The numbers are those of one process, except for seconds, and for
  // steps that minutes determine.
  TrainingGroup* group = nullptr;

  std::function<bool()> should_stop;  // called after each step and each score; true saves and
                                      // returns, on all of a group
  std::function<double()> clock;      // seconds, never decreasing; empty: the steady clock
};

// Returns sensible options for two cores: seven schemes, trained at 128 tokens, tested at 128 ..
// 1024. The caller sets the folder and steps or minutes.
ExtrapolationOptions default_extrapolation();
// Sets options.trained, puts the model's own positions before the other schemes, and limits the
// length of training to that of the model.
void train_further(ExtrapolationOptions& options, const TextModel& model);
inline constexpr double kFurtherRate = 2e-4;  // a learning rate for it, smaller than for new models
// Returns the options of the experiment's text: a vocabulary of 2000 if the tokens are sub-words
// without a given size.
LanguageDataOptions with_small_vocabulary(LanguageDataOptions data);

// The progress of the experiment.
struct ExtrapolationProgress {
  std::size_t scheme = 0;                      // of options.schemes
  std::uint64_t seed = 0;                      // options.data.seed and the following ones
  std::string_view doing;                      // "measuring", "training", "scoring"
  std::int64_t length = 0;                     // the length that is scored next
  const TrainingProgress* training = nullptr;  // after each step
};
using ExtrapolationObserver = std::function<void(const ExtrapolationProgress&)>;
// Returns "rotary", or "rotary, seed 1" if there are several seeds, which are measured together.
std::string name_of_run(const ExtrapolationOptions& options, const ExtrapolationProgress& progress);

struct ExtrapolationResult {
  ExtrapolationTable table;  // all rows unless stopped: schemes as in options, each with its seeds
  bool stopped = false;
};

// Trains and scores the missing models, all schemes with their first seed before any with its
// second; with `trained`, all schemes are first scored before their training. With one seed all
// schemes have the same batches in the same order and the same initial weights, except those of the
// scheme itself; `held_out` is scored at all test lengths. results.json is written after each
// model.
//
// The same call continues a run that was stopped or killed. All settings that the runs depend on
// must be the same (Error names the differences). Further schemes and seeds are trained with the
// steps of the plan. With other test lengths, stride, tokens or held-out text the trained models
// are scored again.
//
// Throws Error for options out of range ("extrapolation.OPTION"), for schemes that such a model
// cannot have, for a text that is too short, for files that are damaged or cannot be written, and
// as train(). With a group all ranks throw the same and return the same table; observers are called
// for the models of their own rank.
ExtrapolationResult extrapolate(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
                                const std::vector<std::int64_t>& tokens,
                                const std::vector<std::int64_t>& held_out,
                                const ExtrapolationObserver& observer = {});

}  // namespace sextant
