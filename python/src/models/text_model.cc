// Language models: generation, logits, scores.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "copies.h"
#include "core/options/fields.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/text_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/save_pretrained.h"
#include "sextant/models/fill_masks.h"
#include "sextant/text/pairs.h"
#include "sextant/training/evaluate.h"

namespace sextant::python {
namespace {

nb::dict fill_text(const PyTextModel& self, nb::handle text, const nb::dict& given) {
  FillOptions options{.where = "fill.text"};
  take_arguments({given, "fill"}, options);
  const std::string masked = Argument{text, "fill", "text"}.text();
  const TextModel& model = self.text("fill");
  const auto filled = unlocked([&] { return fill_masks(model, masked, options); });
  nb::list masks;
  for (const auto& mask : filled.masks) {
    nb::list list;
    for (const auto& [id, token, probability] : mask)
      list.append(nb::make_tuple(token, probability));
    masks.append(list);
  }
  nb::dict result;
  result["text"] = filled.text;
  result["masks"] = masks;
  return result;
}

nb::dict logit_lens(const PyTextModel& self, nb::handle given_text, const nb::dict& given) {
  LogitLensOptions options;
  take_arguments({given, "logit_lens"}, options);
  const std::string text = Argument{given_text, "logit_lens", "text"}.text();
  const TextModel& model = self.text("logit_lens");
  const auto found = unlocked([&] { return logit_lens(model, text, options); });
  return dict_of(found, model.tokenizer);
}

// Returns vectors of texts [texts, width], the number of cut texts, and the largest number of
// tokens; options that are None come from the folder.
nb::tuple embed(const PyTextModel& self, const std::vector<std::string>& texts, nb::handle pooling,
                nb::handle normalize, nb::handle max_tokens, nb::handle threads) {
  SentenceOptions options = self.sentences;
  if (!pooling.is_none()) options.pooling = Argument{pooling, "embed", "pooling"}.choice<Pooling>();
  if (!normalize.is_none()) options.normalize = Argument{normalize, "embed", "normalize"}.flag();
  if (!max_tokens.is_none()) {
    options.max_tokens = Argument{max_tokens, "embed", "max_tokens"}.integer_in(at_least(1));
  }
  options.threads = Argument{threads, "embed", "threads"}.threads();
  const TextModel& model = self.text("embed");
  auto made = unlocked([&] { return sentence_vectors(model, texts, options); });
  return nb::make_tuple(to_python(std::move(made.vectors)), made.cut, made.max_tokens);
}

nb::dict evaluate_text(const PyTextModel& self, const nb::bytes& bytes, const nb::dict& given,
                       const std::string& where) {
  const std::string text =
      parse_texts({bytes.c_str(), bytes.size()}, TextUnit::file, where).front();
  TextWindows options;
  take_arguments({given, "evaluate"}, options);
  options.progress = [](std::int64_t, std::int64_t) { check_signals(); };
  const TextModel& model = self.text("evaluate");
  const auto score = unlocked([&] { return evaluate(model, text, options, where); });
  nb::list windows;
  for (const TextScore::Windows& each : score.windows) {
    nb::dict one;
    one["length"] = each.length;
    one["stride"] = each.stride;
    one["perplexity"] = each.perplexity;
    one["bits_per_character"] = each.bits_per_character;
    one["correct_percent"] = each.correct_percent;
    windows.append(one);
  }
  nb::dict result;
  result["tokens"] = score.tokens;
  result["unknown_tokens"] = score.unknown;
  result["characters"] = score.characters;
  result["windows"] = windows;
  return result;
}

nb::list one_item(const nb::object& item) {
  nb::list list;
  list.append(item);
  return list;
}

}  // namespace

void bind_text_model(nb::module_& module) {
  nb::class_<PyTextModel> type(module, "TextModel");
  copies_weights(type, [](const PyTextModel& self) {
    if (!self.has_tokenizer()) return PyTextModel(copied<LanguageModel<float>>(*self.model));
    const TextModel& model = self.text("deepcopy");
    return PyTextModel(copied(model, model.tokenizer), self.sentences);
  });
  type.def(
          "__reduce__",
          [](nb::handle self) {
            const auto& model = nb::cast<const PyTextModel&>(self);
            if (!model.has_tokenizer()) {
              return made_by("model_of_ids", format_config(model.model->config),
                             arrays_of(model.model->parameters(), self));
            }
            const SentenceOptions& how = model.sentences;
            return made_by("models", one_item(saved_files(self.attr("save"))),
                           nb::make_tuple(std::string(name_of(how.pooling)), how.normalize,
                                          how.lower_case, how.max_tokens));
          },
          nb::sig(kReduceSignature))
      .def("with_sentences",
           [](const PyTextModel& self, nb::handle pooling, bool normalize, bool lower_case,
              std::int64_t max_tokens) {
             PyTextModel other = self;
             other.sentences.pooling = Argument{pooling, "TextModel", "pooling"}.choice<Pooling>();
             other.sentences.normalize = normalize;
             other.sentences.lower_case = lower_case;
             other.sentences.max_tokens = max_tokens;
             return other;
           })
      .def_prop_ro("config",
                   [](const PyTextModel& self) { return format_config(self.model->config); })
      .def("has_tokenizer", &PyTextModel::has_tokenizer)
      .def_prop_ro(
          "tokenizer",
          [](const PyTextModel& self) -> const Tokenizer& {
            return self.text("tokenizer").tokenizer;
          },
          nb::rv_policy::reference_internal)
      .def("generate", &generate_any, nb::arg("prompt").none(), nb::arg("options"), nb::arg("stop"),
           nb::arg("on_text").none(),
           nb::sig("def generate(self, prompt: object, options: dict[str, typing.Any], stop: str, "
                   "on_text: object) -> tuple[typing.Any, str]"))
      .def("fill", &fill_text, nb::arg("text").none(), nb::arg("options"),
           nb::sig("def fill(self, text: str, options: dict[str, typing.Any]) -> dict[str, "
                   "typing.Any]"))
      .def("logit_lens", &logit_lens, nb::arg("text").none(), nb::arg("options"),
           nb::sig("def logit_lens(self, text: str, options: dict[str, typing.Any]) -> dict[str, "
                   "typing.Any]"))
      .def("logits", &logits, nb::arg("ids").none(), nb::arg("types").none(),
           nb::arg("threads").none(),
           nb::sig("def logits(self, ids: object, types: object, threads: int) -> typing.Any"))
      .def("hidden_states", &hidden_states, nb::arg("ids").none(), nb::arg("types").none(),
           nb::arg("threads").none(),
           nb::sig("def hidden_states(self, ids: object, types: object, threads: int) -> "
                   "typing.Any"))
      .def("embed", &embed, nb::arg("texts"), nb::arg("pooling").none(),
           nb::arg("normalize").none(), nb::arg("max_tokens").none(), nb::arg("threads").none(),
           nb::sig("def embed(self, texts: list[str], pooling: object, normalize: object, "
                   "max_tokens: object, threads: int) -> tuple[typing.Any, int, int]"))
      .def("attention_maps", &attention_maps, nb::arg("ids").none(), nb::arg("types").none(),
           nb::arg("layers").none(), nb::arg("heads").none(), nb::arg("rows").none(),
           nb::arg("threads").none(),
           nb::sig("def attention_maps(self, ids: object, types: object, layers: object, heads: "
                   "object, rows: object, threads: int) -> typing.Any"))
      .def(
          "hidden_pairs", &hidden_pairs, nb::arg("length"), nb::arg("layers").none(),
          nb::sig("def hidden_pairs(self, length: int, layers: object) -> typing.Any"),
          "Whether a token of a text of this length does not see another: [heads, length, length], "
          "or where layers differ [layers, heads, length, length].")
      .def("evaluate", &evaluate_text, nb::arg("text"), nb::arg("options"), nb::arg("where"),
           nb::sig("def evaluate(self, text: bytes, options: dict[str, typing.Any], where: str) -> "
                   "dict[str, typing.Any]"))
      .def(
          "weights",
          [](nb::handle self) {
            return arrays_of(nb::cast<const PyTextModel&>(self).model->parameters(), self);
          },
          nb::sig("def weights(self) -> dict[str, typing.Any]"))
      .def(
          "save_pretrained",
          [](const PyTextModel& self, const std::string& folder, nb::handle model_type,
             const std::string& like, nb::handle dtype) {
            PretrainedForm form{.like = like};
            if (!model_type.is_none()) {
              form.model_type = Argument{model_type, "save_pretrained", "model_type"}.text();
            }
            form.dtype = Argument{dtype, "save_pretrained", "dtype"}.dtype();
            const Unlocked released;
            const SavedPretrained saved =
                self.has_tokenizer() ? save_pretrained(self.text("save_pretrained"), folder, form)
                                     : save_pretrained(*self.model, folder, form);
            return saved.model_type;
          },
          nb::arg("folder"), nb::arg("model_type").none(), nb::arg("like"), nb::arg("dtype").none())
      .def("save", [](const PyTextModel& self, const std::string& folder) {
        const TextModel& model = self.text("save");
        const Unlocked released;
        model.save(folder);
      });
}

}  // namespace sextant::python
