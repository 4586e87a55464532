// Train short, test long.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/watch.h"
#include "sextant/core/error.h"
#include "sextant/experiments/exchange_positions.h"
#include "sextant/experiments/seeds.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/text/pairs.h"
#include "sextant/training/tasks/text_data.h"

namespace sextant::python {
namespace {

// NaN where there is none.
template <class Score>
nb::object numbers_of(const std::vector<Score>& scores, std::optional<double> Score::*number) {
  Tensor<double> numbers({static_cast<std::int64_t>(scores.size())});
  for (std::size_t i = 0; i < scores.size(); ++i) {
    numbers.data()[i] = (scores[i].*number).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return to_python(std::move(numbers));
}

nb::list counts_of(const std::vector<SeedScore>& scores) {
  nb::list counts;
  for (const SeedScore& score : scores) counts.append(score.scored);
  return counts;
}

// Why a number is missing, where one is.
std::string reason_of(const ExtrapolationRow& row) {
  for (const LengthScore& score : row.segments) {
    if (!score.perplexity) return score.reason;
  }
  return "";
}

nb::list means_of(const ExtrapolationTable& table) {
  nb::list means;
  for (const SchemeScores& scheme : over_seeds(table)) {
    nb::dict one;
    one["label"] = scheme.label;
    one["seeds"] = scheme.seeds;
    one["segments"] = numbers_of(scheme.segments, &SeedScore::perplexity);
    one["segments_factor"] = numbers_of(scheme.segments, &SeedScore::factor);
    one["segments_scored"] = counts_of(scheme.segments);
    one["sliding"] = numbers_of(scheme.sliding, &SeedScore::perplexity);
    one["sliding_factor"] = numbers_of(scheme.sliding, &SeedScore::factor);
    one["sliding_scored"] = counts_of(scheme.sliding);
    means.append(one);
  }
  return means;
}

nb::dict as_dict(const ExtrapolationTable& table) {
  nb::list rows;
  for (const ExtrapolationRow& row : table.rows) {
    nb::dict one;
    one["label"] = row.label;
    one["stage"] = row.stage ? nb::cast(std::string(name_of(*row.stage))) : nb::none();
    one["seed"] = row.seed;
    one["weights"] = row.weights;
    one["seconds"] = row.seconds;
    one["validation_loss"] = row.validation_loss;
    one["segments"] = numbers_of(row.segments, &LengthScore::perplexity);
    one["sliding"] = numbers_of(row.sliding, &LengthScore::perplexity);
    one["reason"] = reason_of(row);
    rows.append(one);
  }
  nb::dict result;
  result["train_length"] = table.train_length;
  result["steps"] = table.steps;
  result["stride"] = table.stride;
  result["seeds"] = table.seeds;
  result["scored"] = table.scored.count;
  result["lengths"] = table.lengths;
  result["rows"] = rows;
  result["means"] = means_of(table);
  result["json"] = format_json(table);
  return result;
}

// Returns the positions that replace a model's: `schemes` are lists as for read_positions().
std::vector<ExtrapolationScheme> schemes_of(nb::handle schemes, const char* call) {
  std::vector<ExtrapolationScheme> made;
  for (const nb::handle list : nb::borrow<nb::object>(schemes)) {
    SchemeSpecs positions = read_positions({list, call, "schemes"});
    std::string label = label_of(positions);
    made.push_back({std::move(label), std::move(positions)});
  }
  return made;
}

// on_step(label, doing, length, metrics or None)
nb::dict watched(const ExtrapolationOptions& run, const LanguageData& data, StepWatch& watch,
                 bool& stop) {
  ExtrapolationResult result;
  {
    const Unlocked released(Signals::where_asked);  // the run is saved first
    result = extrapolate(
        run, data.tokenizer, data.tokens, data.held_out, [&](const ExtrapolationProgress& now) {
          if (stop) return;
          std::optional<StepMetrics> metrics;
          if (now.training != nullptr) metrics = now.training->metrics;
          stop = watch.stops(name_of_run(run, now), std::string(now.doing), now.length, metrics);
        });
  }
  nb::dict table = as_dict(result.table);
  table["stopped"] = result.stopped;
  table["error"] = watch.error();
  return table;
}

// Trains the model further with each of the schemes, and with its own positions.
nb::dict train_exchanged(const std::string& folder, const std::vector<std::string>& texts,
                         nb::handle schemes, const nb::dict& given, const std::string& kept,
                         nb::handle on_step) {
  constexpr const char* kCall = "exchange_positions";
  ExtrapolationOptions run = default_extrapolation();
  run.learning_rate = kFurtherRate;
  run.folder = kept;
  run.schemes = schemes_of(schemes, kCall);
  for (const ExtrapolationScheme& each : run.schemes) {
    check_replacement(each.schemes, "exchange_positions.schemes");
  }
  const Given asked{given, kCall};  // which the function borrows
  const auto take = taking(asked);
  take(run.data, kExtrapolationTaskWords, "");
  take(run, kExtrapolationWords, "");
  LanguageDataOptions divided;
  take(divided, kScoredTextWords, "");
  const std::int64_t length = run.data.length;
  StepWatch watch(on_step);
  bool stop = false;
  run.should_stop = [&stop] { return stop; };
  const TextModel model = unlocked([&] { return TextModel::load(open_model(folder)); });
  const LanguageData data = unlocked([&] {
    SplitTexts split;
    for (const std::string& text : texts) split.add(load_texts(text)[0], divided.held_out);
    return split.encode(model.tokenizer);
  });
  train_further(run, model);
  if (given.contains("train_length")) run.data.length = length;
  return watched(run, data, watch, stop);
}

nb::dict exchange(const std::string& folder, const std::vector<std::string>& texts,
                  nb::handle schemes, nb::handle lengths, nb::handle stride, nb::handle scored,
                  nb::handle threads) {
  constexpr const char* kCall = "exchange_positions";
  ExtrapolationOptions options = default_extrapolation();
  options.schemes = schemes_of(schemes, kCall);
  for (const ExtrapolationScheme& each : options.schemes) {
    check_replacement(each.schemes, "exchange_positions.schemes");
  }
  options.test_lengths = Argument{lengths, kCall, "test_lengths"}.integers();
  options.stride = Argument{stride, kCall, "stride"}.integer();
  options.scored = Argument{scored, kCall, "scored"}.integer();
  options.threads = Argument{threads, kCall, "threads"}.threads();
  ExtrapolationResult result;
  {
    const Unlocked released;
    TextModel model = TextModel::load(open_model(folder));
    std::vector<std::int64_t> tokens;
    for (const std::string& text : texts) {
      const auto more = model.tokenizer.encode(load_texts(text)[0]);
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
    result = exchange_positions(model, tokens, options,
                                [](const ExtrapolationProgress&) { check_signals(); });
  }
  nb::dict table = as_dict(result.table);
  table["stopped"] = false;
  return table;
}

nb::dict run(const std::vector<std::string>& texts, nb::handle schemes, const nb::dict& given,
             const std::string& folder, nb::handle on_step) {
  Extrapolation options;
  visit_extrapolation(options, taking({given, "extrapolate"}));
  ExtrapolationOptions& run = options.run;
  run.folder = folder;
  run.model.seed = static_cast<std::uint32_t>(run.data.seed);
  if (!schemes.is_none()) {
    run.schemes = schemes_of(schemes, "extrapolate");
  }
  if ((run.steps > 0) == (run.minutes > 0)) {
    throw Error("extrapolate.minutes", "must be above 0, or steps, and not both");
  }
  StepWatch watch(on_step);
  bool stop = false;
  run.should_stop = [&stop] { return stop; };
  const LanguageData data =
      unlocked([&] { return load_language_data(texts, with_small_vocabulary(options.data)); });
  return watched(run, data, watch, stop);
}

}  // namespace

void bind_extrapolation(nb::module_& module) {
  module.def("exchange_positions", &exchange, nb::arg("folder"), nb::arg("texts"),
             nb::arg("schemes"), nb::arg("test_lengths").none(), nb::arg("stride").none(),
             nb::arg("scored").none(), nb::arg("threads").none(),
             nb::sig("def exchange_positions(folder: str, texts: list[str], schemes: object, "
                     "test_lengths: object, stride: object, scored: object, threads: object) -> "
                     "dict[str, typing.Any]"));
  module.def(
      "train_exchanged", &train_exchanged, nb::arg("folder"), nb::arg("texts"), nb::arg("schemes"),
      nb::arg("options"), nb::arg("kept"), nb::arg("on_step").none(),
      nb::sig("def train_exchanged(folder: str, texts: list[str], schemes: object, options: "
              "dict[str, typing.Any], kept: str, on_step: object) -> dict[str, typing.Any]"));
  module.def("extrapolate", &run, nb::arg("texts"), nb::arg("schemes").none(), nb::arg("options"),
             nb::arg("folder"), nb::arg("on_step").none(),
             nb::sig("def extrapolate(texts: list[str], schemes: object, options: dict[str, "
                     "typing.Any], folder: str, on_step: object) -> dict[str, typing.Any]"));
}

}  // namespace sextant::python
