// Trainings, with a look at signals and a callback after each step.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "bindings.h"
#include "calls.h"
#include "core/text/strings.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/watch.h"
#include "option_values.h"
#include "sextant/core/missing_file.h"
#include "sextant/schemes/scheme.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/make_task.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant::python {

SchemeSpecs read_positions(const Argument& argument) {
  SchemeSpecs list;
  constexpr std::string_view kWanted = "a list of names of schemes with their parameters";
  for (const nb::handle each : argument.as<nb::list>(kWanted)) {
    const auto both = Argument{each, argument.scope, argument.name}.as<nb::tuple>(kWanted);
    if (both.size() != 2) throw Error(argument.where(), "must be " + std::string(kWanted));
    const nb::object given_name = both[0], given_parameters = both[1];
    const auto name = Argument{given_name, argument.scope, argument.name}.text();
    const Scheme& scheme = find_scheme(name);
    SchemeSpec one(name);
    const auto options = scheme.parameters();
    const Argument parameters{given_parameters, argument.scope, argument.name};
    for (const auto& [key, value] : items_of(parameters.as<nb::dict>(kWanted))) {
      const std::string parameter = text_of(key);
      const auto option = std::ranges::find(options, parameter, &Option::name);
      const Argument given{value, name, parameter};
      if (option == options.end()) {
        const std::string known = joined(options, ", ", &Option::name);
        throw Error(argument.where(), name + " has " + (known.empty() ? "no parameters" : known) +
                                          ", got " + parameter);
      }
      const std::string text = text_of(*option, given);
      if (text != option->unset) check_range(option->range, given.where(), text);
      one.parameters[parameter] = text;
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<LayerSchemes> read_layers(const Argument& argument) {
  std::vector<LayerSchemes> all;
  constexpr std::string_view kWanted = "a list of layers with their schemes";
  for (const nb::handle each : argument.as<nb::list>(kWanted)) {
    const auto both = Argument{each, argument.scope, argument.name}.as<nb::tuple>(kWanted);
    if (both.size() != 2) throw Error(argument.where(), "must be " + std::string(kWanted));
    const nb::object layers = both[0], positions = both[1];
    all.push_back({Argument{layers, argument.scope, argument.name}.integers(),
                   read_positions({positions, argument.scope, argument.name})});
  }
  return all;
}

namespace {

std::vector<DataFile> data_files(const std::vector<std::string>& paths) {
  std::vector<DataFile> files;
  for (const std::string& path : paths) files.push_back(data_file(path));
  return files;
}

std::vector<std::string> paths_of(const nb::dict& given, const char* name) {
  return Argument{nb::object(given[name]), "train", name}.texts();
}

TrainingPlan plan_of(const std::string& kind, const nb::dict& sources, nb::handle positions,
                     nb::handle layers, nb::handle decoder, const nb::dict& options) {
  TrainingPlan plan = default_plan(kind);
  visit_training(plan, taking({options, "train"}));
  TrainingSettings& settings = plan.settings;
  settings.files = data_files(paths_of(sources, "files"));
  settings.valid = data_files(paths_of(sources, "valid"));
  settings.from = data_files(paths_of(sources, "from"));
  settings.tokenizer_from = data_files(paths_of(sources, "tokenizer_from"));
  settings.augment = {};
  for (const std::string& name : paths_of(sources, "augment")) {
    const PairAugmentation one = parse_augmentation(name, "train.augment");
    each_field<PairAugmentation>([&](const auto& field) {
      settings.augment.*field.member = settings.augment.*field.member || one.*field.member;
    });
  }
  settings.model.schemes = read_positions({positions, "train", "scheme"});
  settings.model.layer_schemes = read_layers({layers, "train", "layer_schemes"});
  settings.model.decoder_schemes = read_positions({decoder, "train", "decoder_scheme"});
  if (plan.trainer.steps == 0 && plan.trainer.minutes == 0 && plan.epochs.epochs == 0) {
    throw Error("train.steps", "must be above 0 when there are no epochs or minutes");
  }
  const auto chosen = [&options](const char* name) {
    return options.contains(name) && !nb::object(options[name]).is_none();
  };
  fill_defaults(plan, {.decay = chosen("decay"), .warmup = chosen("warmup")});
  return plan;
}

nb::object as_object(std::shared_ptr<TextModel> model) {
  return nb::cast(PyTextModel(std::move(model)));
}
nb::object as_object(std::shared_ptr<TextTranslator> model) {
  return nb::cast(PyTranslator{std::make_shared<LineTranslator>(std::move(*model))});
}

// Without a folder: returns the model of its best validation, else the last one.
template <class Task>
class Best {
 public:
  using Model = std::remove_reference_t<decltype(std::declval<Task>().model())>;
  explicit Best(TrainingTask& task) : task_(static_cast<Task&>(task)) {}

  void look(const StepMetrics& metrics) {
    if (!metrics.validation_loss || (model_ && *metrics.validation_loss >= loss_)) return;
    loss_ = *metrics.validation_loss;
    model_ = copy();
  }
  nb::object object() { return as_object(model_ ? model_ : copy()); }

 private:
  auto copy() const { return copied(task_.model(), task_.model().tokenizer); }

  Task& task_;
  std::shared_ptr<Model> model_;
  double loss_ = 0;
};

// Trains; result["model"] is None with a folder, which has the models.
template <class Task>
nb::dict run(TrainingPlan& plan, PlannedTask& made, nb::handle on_step) {
  StepWatch watch(on_step);
  Best<Task> best(*made.task);
  const bool keeps = plan.trainer.folder.empty();
  plan.trainer.should_stop = [&](const StepMetrics& metrics) {
    if (keeps) best.look(metrics);
    return watch.stops(metrics);
  };
  TrainingResult trained;
  {
    const Unlocked released(Signals::where_asked);  // the run is saved first
    trained = train(*made.task, plan.trainer);
  }
  nb::dict result;
  result["model"] = keeps ? best.object() : nb::none();
  result["error"] = watch.error();
  result["end"] = std::string(name_of(trained.end));
  result["steps"] = trained.step;
  result["seconds"] = trained.seconds;
  result["tokens"] = trained.tokens;
  result["best_loss"] = trained.best_loss;
  result["best_step"] = trained.best_step;
  result["folder"] = trained.folder;
  result["lost_best_step"] = trained.lost_best_step;
  result["parameters"] = made.parameters;
  result["learned"] = made.train;
  result["held_out"] = made.held_out;
  result["unit"] = made.unit;
  result["steps_per_epoch"] = made.steps_per_epoch;
  return result;
}

// An error of make_task() in the words of the call: arguments have underscores, and scopes are
// those of the call where it has an argument of that name.
Error in_words_of_call(const Error& error, const nb::dict& options) {
  std::string where = error.where();
  const std::string what = std::string(error.what()).substr(where.size() + 3);
  const auto dot = where.find('.');
  const std::string scope = where.substr(0, dot);
  std::string member = dot == std::string::npos ? "" : where.substr(dot + 1);
  std::ranges::replace(member, '-', '_');
  if (scope != "train" && !options.contains(member.c_str())) return error;
  if (scope == "train" && member == "file") member = "text";
  return {"train." + member, what};
}

nb::dict run_plan(TrainingPlan& plan, const std::string& folder, bool resume, nb::handle on_step,
                  const nb::dict& options) {
  PlannedTask made;
  plan.trainer.folder = folder;
  try {
    const Unlocked released;
    made = make_task(plan, resume ? folder : "");
  } catch (const MissingFile&) {
    throw;
  } catch (const Error& error) {
    throw in_words_of_call(error, options);
  }
  check_signals();
  if (!resume) plan.trainer.settings = format_settings(plan);
  return plan.settings.is_pairs() ? run<TranslationTask>(plan, made, on_step)
                                  : run<LanguageTask>(plan, made, on_step);
}

nb::dict train_new(const std::string& kind, const nb::dict& sources, nb::handle positions,
                   nb::handle layers, nb::handle decoder, const nb::dict& options,
                   const std::string& folder, nb::handle on_step) {
  TrainingPlan plan = plan_of(kind, sources, positions, layers, decoder, options);
  return run_plan(plan, folder, false, on_step, options);
}

nb::dict train_on(const std::string& folder, const nb::dict& sources, const nb::dict& options,
                  nb::handle on_step) {
  TrainingPlan plan = read_plan(folder);
  TrainingSettings& settings = plan.settings;
  const auto move = [&](const char* name, const char* argument, std::vector<DataFile>& files,
                        bool fits) {
    const std::string where = std::string("resume.") + argument;
    const std::vector<std::string> paths = paths_of(sources, name);
    if (paths.empty()) return;
    if (!fits) throw Error(where, "must not be given for a run of " + settings.kind);
    move_data(files, paths, where);
  };
  move("texts", "text", settings.files, !settings.is_pairs());
  move("pairs", "pairs", settings.files, settings.kind == "translate");
  move("valid", "valid", settings.valid, settings.kind == "translate");
  visit_resumption(plan, taking({options, "resume"}));
  return run_plan(plan, folder, true, on_step, options);
}

nb::object optional_number(const std::optional<double>& number) {
  return number ? nb::object(nb::float_(*number)) : nb::none();
}

}  // namespace

void bind_training(nb::module_& module) {
  nb::class_<StepMetrics>(module, "StepMetrics",
                          "What a step of a training came to. Losses are per token, in nats.")
      .def_ro("step", &StepMetrics::step, "how many are done, this one too")
      .def_ro("loss", &StepMetrics::loss, "negative log likelihood")
      .def_ro("objective", &StepMetrics::objective, "what was minimised: with label smoothing")
      .def_ro("mean_loss", &StepMetrics::mean_loss, "moving average of loss")
      .def_ro("gradient_norm", &StepMetrics::gradient_norm, "before clipping")
      .def_ro("learning_rate", &StepMetrics::learning_rate)
      .def_ro("tokens", &StepMetrics::tokens, "targets seen since the start")
      .def_ro("seconds", &StepMetrics::seconds, "since the start, across resumed runs")
      .def_ro("tokens_per_second", &StepMetrics::tokens_per_second, "over the last steps")
      .def_prop_ro(
          "validation_loss",
          [](const StepMetrics& self) { return optional_number(self.validation_loss); },
          nb::sig("def validation_loss(self) -> float | None"), "None: this step had none")
      .def_prop_ro(
          "validation_accuracy",
          [](const StepMetrics& self) { return optional_number(self.validation_accuracy); },
          nb::sig("def validation_accuracy(self) -> float | None"));
  module.def(
      "train", &train_new, nb::arg("kind"), nb::arg("sources"), nb::arg("positions").none(),
      nb::arg("layers").none(), nb::arg("decoder").none(), nb::arg("options"), nb::arg("folder"),
      nb::arg("on_step").none(),
      nb::sig(
          "def train(kind: str, sources: dict[str, list[str]], positions: object, "
          "layers: object, decoder: object, options: dict[str, typing.Any], folder: str, on_step: "
          "object) -> dict[str, "
          "typing.Any]"));
  module.def("train_on", &train_on, nb::arg("folder"), nb::arg("sources"), nb::arg("options"),
             nb::arg("on_step").none(),
             nb::sig("def train_on(folder: str, sources: dict[str, list[str]], options: dict[str, "
                     "typing.Any], on_step: object) -> dict[str, typing.Any]"));
}

}  // namespace sextant::python
