// Losses of models and their gradients: one step of a training, number by number.
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/core/error.h"

namespace sextant::python {
namespace {

struct LossArguments {
  TokenLossOptions loss;
  double dropout = 0, attention_dropout = 0;
  std::uint64_t seed = 0;
  int threads = 0;
};

double share_of(const nb::dict& options, const char* name) {
  const nb::object value = options[name];
  const Argument argument{value, "loss", name};
  const double share = argument.number();
  check_range(NumberRange{0, 1, false, true}, argument.where(), share);
  return share;
}

LossArguments read_options(const nb::dict& options) {
  const nb::object seed = options["seed"], threads = options["threads"];
  return {.loss = {.label_smoothing = share_of(options, "label_smoothing")},
          .dropout = share_of(options, "dropout"),
          .attention_dropout = share_of(options, "attention_dropout"),
          .seed = static_cast<std::uint64_t>(
              Argument{seed, "loss", "seed"}.integer_in({0, (std::int64_t{1} << 32) - 1})),
          .threads = Argument{threads, "loss", "threads"}.threads()};
}

// Returns the mean loss of a batch, and the gradients by name or None.
template <class Model, class Batch>
nb::tuple loss_of(const Model& model, const Batch& batch, std::span<const std::int64_t> targets,
                  LossArguments given, bool with_gradients) {
  const auto count = std::ranges::count_if(targets, [](std::int64_t id) { return id >= 0; });
  if (count == 0) throw Error("loss.targets", "must have at least one target, got none");
  given.loss.scale = 1 / static_cast<double>(count);
  std::unique_ptr<Model> gradient;
  const LossSum sum = unlocked([&] {
    if (with_gradients) gradient = std::make_unique<Model>(zeros_like(model));
    Workspace memory;
    Pass pass{.memory = memory,
              .threads = given.threads,
              .dropout = given.dropout,
              .random = {.seed = given.seed},
              .attention_dropout = given.attention_dropout};
    return model.loss(batch, given.loss, gradient.get(), pass);
  });
  const double loss = sum.smoothed / static_cast<double>(count);
  if (!gradient) return nb::make_tuple(loss, nb::none());
  Model* kept = gradient.get();
  const nb::capsule owner(gradient.release(),
                          [](void* p) noexcept { delete static_cast<Model*>(p); });
  return nb::make_tuple(loss, arrays_of(kept->parameters(), owner));
}

nb::tuple text_loss(const PyTextModel& self, nb::handle ids, nb::handle targets,
                    const nb::dict& options, bool gradients) {
  const LossArguments given = read_options(options);
  auto [batch, shape] = read_batch({ids, "loss", "ids"});
  if (targets.is_none()) {
    if (self.model->config.kind != ModelKind::causal) {
      throw Error("loss.targets",
                  "must be given for a masked model: ids where a token is to be "
                  "predicted, and -1 elsewhere");
    }
    const std::int64_t length = shape[shape.rank() - 1];
    for (std::int64_t i = 0; i < std::ssize(batch.tokens); ++i) {
      const auto at = static_cast<std::size_t>(i);
      batch.targets[at] = (i + 1) % length == 0 ? -1 : batch.tokens[at + 1];
    }
  } else {
    const auto [other, of_targets] = read_batch({targets, "loss", "targets"});
    if (of_targets != shape) {
      throw Error("loss.targets", "must have the shape of ids, " + shape.to_string() + ", got " +
                                      of_targets.to_string());
    }
    batch.targets = other.tokens;
  }
  return loss_of<LanguageModel<float>>(*self.model, batch, batch.targets, given, gradients);
}

// The sides of pairs, lists of ids of a vocabulary.
std::vector<std::vector<std::int64_t>> read_sides(const nb::list& list, const char* name,
                                                  std::int64_t vocabulary) {
  std::vector<std::vector<std::int64_t>> sides;
  for (const nb::handle one : list) {
    sides.push_back(read_tokens({one, "loss", name}, vocabulary));
  }
  return sides;
}

nb::tuple pair_loss(const PyTranslator& self, const nb::list& source, const nb::list& target,
                    const nb::dict& options, bool gradients) {
  const LossArguments given = read_options(options);
  const Translator<float>& model = first_alone(self, "loss");
  const std::int64_t vocabulary = model.config.vocabulary;
  const auto sources = read_sides(source, "source", vocabulary),
             written = read_sides(target, "target", vocabulary);
  if (sources.empty() || sources.size() != written.size()) {
    throw Error("loss.target", "must be as many as source, and at least one, got " +
                                   std::to_string(written.size()) + " for " +
                                   std::to_string(sources.size()));
  }
  PairBatch batch{.source_segments = {0}, .target = {.segments = {0}}};
  const auto append = [](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    append(batch.source, sources[i]);
    batch.source_segments.push_back(std::ssize(batch.source));
    append(batch.target.tokens, model.decoder_input(written[i]));
    batch.target.targets.resize(batch.target.targets.size() + model.config.target_start.size() - 1,
                                -1);
    append(batch.target.targets, written[i]);
    batch.target.targets.push_back(model.config.target_end);
    batch.target.segments.push_back(std::ssize(batch.target.tokens));
  }
  return loss_of<Translator<float>>(model, batch, batch.target.targets, given, gradients);
}

}  // namespace

void bind_losses(nb::module_& module) {
  module.def("text_loss", &text_loss, nb::arg("model"), nb::arg("ids").none(),
             nb::arg("targets").none(), nb::arg("options"), nb::arg("gradients"),
             nb::sig("def text_loss(model: TextModel, ids: object, targets: object, options: "
                     "dict[str, typing.Any], gradients: bool) -> tuple[float, typing.Any]"));
  module.def("pair_loss", &pair_loss, nb::arg("model"), nb::arg("source"), nb::arg("target"),
             nb::arg("options"), nb::arg("gradients"),
             nb::sig("def pair_loss(model: Translator, source: list[typing.Any], target: "
                     "list[typing.Any], options: dict[str, typing.Any], gradients: bool) -> "
                     "tuple[float, typing.Any]"));
}

}  // namespace sextant::python
