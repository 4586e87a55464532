// Language models: generation, logits, scores.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "copies.h"
#include "core/options/fields.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/core/error.h"
#include "sextant/figures/model_attention.h"
#include "sextant/hub/save_pretrained.h"
#include "sextant/models/fill_masks.h"
#include "sextant/models/generate_batch.h"
#include "sextant/models/text_stream.h"
#include "sextant/text/pairs.h"
#include "sextant/training/evaluate.h"

namespace sextant::python {
namespace {

// Returns the text of one prompt, and a note on its end or nothing.
std::pair<std::string, std::string> generate_text(const TextModel& model, const std::string& prompt,
                                                  const GenerateOptions& options,
                                                  const std::string& stop, nb::handle on_text) {
  const Unlocked released;
  const auto ids = model.tokenizer.model_input(prompt).ids;
  TextStream stream(model.tokenizer, prompt, ids, stop, [&](std::string_view part) {
    const Locked held;
    if (!on_text.is_none()) on_text(nb::str(part.data(), part.size()));
  });
  const GeneratedTokens made =
      generate(model, ids, for_text(model, options), [&stream](std::int64_t token) {
        check_signals();
        return stream.add(token);
      });
  stream.finish();
  const bool is_cut = made.ended_by == GenerationEnd::positions;
  return {stream.text(), is_cut ? end_of_positions(model, made.tokens.size(), "slide=True") : ""};
}

// Returns the texts, [prompts][samples], and a note on their ends or nothing.
std::pair<std::vector<std::vector<std::string>>, std::string> generate_texts(
    const TextModel& model, const std::vector<std::string>& prompts, GenerateOptions options,
    const BatchOptions& batch, const std::string& stop) {
  const Unlocked released;
  options.watch = [](const GeneratedToken&) { check_signals(); };
  const auto made = generate_batch(model, prompts, options, batch, stop);
  std::vector<std::vector<std::string>> texts;
  std::size_t cut = 0;
  for (const auto& samples : made) {
    auto& list = texts.emplace_back();
    for (const GeneratedText& each : samples) {
      list.push_back(each.text);
      cut += each.ended_by == GenerationEnd::positions ? 1 : 0;
    }
  }
  if (cut == 0) return {texts, ""};
  return {texts, end_of_positions(model, made[0][0].tokens.size(), "slide=True", cut,
                                  made.size() * made[0].size())};
}

// prompt: a str or several. Returns a str, a list of the samples or of the prompts' texts, or a
// list of the prompts' lists of samples; and a note on the end of a text or nothing.
nb::tuple generate_any(const PyTextModel& self, nb::handle given_prompt, const nb::dict& given,
                       const std::string& stop, nb::handle on_text) {
  GenerateOptions options = default_generation();
  BatchOptions batch;
  visit_generation(options, batch, taking({given, "generate"}));
  const Argument prompt{given_prompt, "generate", "prompt"};
  const bool is_one = nb::isinstance<nb::str>(given_prompt);
  const bool is_list =
      nb::isinstance<nb::list>(given_prompt) || nb::isinstance<nb::tuple>(given_prompt);
  if (!is_one && !is_list) throw_type_error(prompt, "a str or a list of str");
  if (is_one && batch.samples == 1) {
    const auto [text, note] =
        generate_text(self.text("generate"), prompt.text(), options, stop, on_text);
    return nb::make_tuple(text, note);
  }
  if (!on_text.is_none()) {
    throw Error("generate.on_text",
                "must be None unless there is one prompt, a str, and one sample");
  }
  std::vector<std::string> prompts;
  const auto add = [&](nb::handle one, const std::string& name) {
    prompts.push_back(Argument{one, "generate", name}.text());
    batch.names.push_back("generate." + name);
  };
  if (is_one) {
    add(given_prompt, "prompt");
  } else {
    for (const nb::handle one : nb::borrow<nb::object>(given_prompt)) {
      add(one, "prompt[" + std::to_string(prompts.size()) + "]");
    }
  }
  if (prompts.empty()) throw Error("generate.prompt", "must have at least one prompt, got none");
  const auto [texts, note] = generate_texts(self.text("generate"), prompts, options, batch, stop);
  if (is_one) return nb::make_tuple(texts[0], note);
  if (batch.samples > 1) return nb::make_tuple(texts, note);
  std::vector<std::string> firsts;
  for (const auto& samples : texts) firsts.push_back(samples[0]);
  return nb::make_tuple(firsts, note);
}

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

// Types of the tokens, of the same shape as their ids, or None.
std::vector<std::int64_t> read_types(const Argument& types, const Shape& shape,
                                     const PyTextModel& self) {
  if (types.is_none()) return {};
  const auto [read, own] = read_batch(types);
  if (own != shape) {
    throw Error(types.where(), "must have the shape of the ids, " + shape.to_string() + ", got " +
                                   own.to_string());
  }
  const IntegerRange range{0, self.model->config.token_types - 1};
  for (const std::int64_t type : read.tokens) check_range(range, types.where(), type);
  return read.tokens;
}

// ids [tokens] or [batch, tokens], each row a sequence.
nb::object logits(const PyTextModel& self, nb::handle given, nb::handle types, nb::handle threads) {
  auto read = read_batch({given, "logits", "ids"});
  TokenBatch& batch = read.first;
  const Shape& shape = read.second;
  batch.types = read_types({types, "logits", "types"}, shape, self);
  std::vector<std::int64_t> places(batch.tokens.size());
  std::iota(places.begin(), places.end(), 0);
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "logits", "threads"}.threads()};
  auto result = unlocked([&] { return self.model->logits(batch, places, pass); });
  if (shape.rank() == 1) return to_python(std::move(result));
  auto shaped = Tensor<float>::uninitialized({shape[0], shape[1], result.size(1)});
  std::ranges::copy(result.span(), shaped.data());
  return to_python(std::move(shaped));
}

nb::object hidden_states(const PyTextModel& self, nb::handle ids, nb::handle types,
                         nb::handle threads) {
  const auto tokens = read_tokens({ids, "hidden_states", "ids"}, self.model->config.vocabulary);
  const auto of_tokens = read_types({types, "hidden_states", "types"}, {std::ssize(tokens)}, self);
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "hidden_states", "threads"}.threads()};
  const auto states = unlocked([&] { return self.model->hidden_states(tokens, pass, of_tokens); });
  const Shape& one = states.at(0).shape();
  auto all = Tensor<float>::uninitialized({std::ssize(states), one[0], one[1]});
  float* to = all.data();
  for (const Tensor<float>& each : states) to = std::ranges::copy(each.span(), to).out;
  return to_python(std::move(all));
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

nb::object attention_maps(const PyTextModel& self, nb::handle ids, nb::handle types,
                          nb::handle layers, nb::handle heads, nb::handle rows,
                          nb::handle threads) {
  const auto tokens = read_tokens({ids, "attention_maps", "text"}, self.model->config.vocabulary);
  const auto of_tokens = read_types({types, "attention_maps", "types"}, {std::ssize(tokens)}, self);
  const auto of_layers = Argument{layers, "attention_maps", "layers"}.integers();
  const auto of_heads = Argument{heads, "attention_maps", "heads"}.integers();
  const auto of_rows = Argument{rows, "attention_maps", "rows"}.integers();
  const MapSelection chosen{.layers = of_layers, .heads = of_heads, .rows = of_rows};
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "attention_maps", "threads"}.threads()};
  const auto maps =
      unlocked([&] { return self.model->attention_maps(tokens, pass, chosen, of_tokens); });
  return stacked(maps);
}

// [heads, length, length], or where layers differ of each of `layers` (none: all).
nb::object hidden_pairs(const PyTextModel& self, std::int64_t length, nb::handle layers) {
  const TransformerConfig& config = self.model->config;
  const std::vector<std::size_t>& kinds = self.model->stack.options.kinds;
  const auto of_kind = [&](std::size_t kind) {
    return figures::hidden_pairs(self.model->positions, config.heads, length,
                                 config.kind == ModelKind::causal, kind);
  };
  if (kinds.empty()) return as_flags(of_kind(0));
  auto chosen = Argument{layers, "attention_maps", "layers"}.integers();
  if (chosen.empty()) {
    chosen.resize(kinds.size());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  Tensor<double> all({std::ssize(chosen), config.heads, length, length});
  double* to = all.data();
  for (const std::int64_t layer : chosen) {
    const Tensor<double> one = of_kind(kinds.at(static_cast<std::size_t>(layer)));
    to = std::ranges::copy(one.span(), to).out;
  }
  return as_flags(all);
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
