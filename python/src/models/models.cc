// Implements what the bindings of models share, tokenizers, and models from folders.
#include "models/models.h"
#include "models/watch.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "core/options/fields.h"
#include "interpreter_lock.h"
#include "sextant/core/missing_file.h"
#include "sextant/hub/image_models.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/text/libraries.h"
#include "sextant/training/tasks/dates_translator.h"

namespace sextant::python {

TextTranslator& first_alone(const PyTranslator& translator, const std::string& call) {
  const std::size_t models = translator.lines->models().size();
  if (models == 1) return translator.first();
  throw Error(call + ".model",
              "must be one translator, got an ensemble of " + std::to_string(models));
}

std::vector<std::int64_t> read_tokens(const Argument& ids, std::int64_t vocabulary) {
  auto tokens = ids.integers();
  if (tokens.empty()) throw Error(ids.where(), "must have at least one token, got none");
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    throw Error(ids.where(), "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " +
                                 std::to_string(token));
  }
  return tokens;
}

std::pair<TokenBatch, Shape> read_batch(const Argument& argument) {
  const InputArray ids(argument);
  const int rank = ids.shape().rank();
  if (is_float(ids.dtype()) || rank < 1 || rank > 2) {
    throw Error(argument.where(), "must be whole numbers [tokens] or [batch, tokens], got " +
                                      std::string(dtype_name(ids.dtype())) + " " +
                                      ids.shape().to_string());
  }
  const Tensor<std::int64_t> all = ids.copy().to<std::int64_t>();
  const std::int64_t count = all.span().size(), length = all.size(rank - 1);
  if (count == 0) {
    throw Error(argument.where(), "must have a token, got " + ids.shape().to_string());
  }
  TokenBatch batch{.tokens = {all.span().begin(), all.span().end()}};
  batch.targets.assign(batch.tokens.size(), -1);
  for (std::int64_t end = 0; end <= count; end += length) batch.segments.push_back(end);
  return {std::move(batch), ids.shape()};
}

nb::dict arrays_of(const Parameters<float>& parameters, nb::handle owner) {
  nb::dict arrays;
  for (const auto& [name, tensor, decays] : parameters) {
    arrays[name.c_str()] = array_object(tensor->data(), DType::float32, tensor->shape(), owner);
  }
  return arrays;
}

std::vector<Tensor<float>> read_arrays(const Argument& argument,
                                       const Parameters<float>& parameters) {
  const auto given = argument.as<nb::dict>("a dict from names to arrays");
  std::vector<Tensor<float>> arrays;
  for (const auto& [name, tensor, decays] : parameters) {
    const std::string one = std::string(argument.name) + "[" + name + "]";
    if (!given.contains(name.c_str())) {
      throw Error(argument.where(), "must have an array for each weight, got none for " + name);
    }
    const nb::object value = given[name.c_str()];
    const InputArray array({value, argument.scope, one});
    if (!is_float(array.dtype()) || array.shape() != tensor->shape()) {
      throw Error(std::string(argument.scope) + "." + one,
                  "must be floats " + tensor->shape().to_string() + ", got " +
                      std::string(dtype_name(array.dtype())) + " " + array.shape().to_string());
    }
    arrays.push_back(array.copy().to<float>());
  }
  if (nb::len(given) == parameters.size()) return arrays;
  for (const auto& [key, value] : items_of(given)) {
    const std::string name = text_of(key);
    if (std::ranges::find(parameters, name, &Parameter<float>::name) != parameters.end()) continue;
    throw Error(argument.where(), "must be the model's weights, got " + name);
  }
  return arrays;
}

nb::object stacked(const std::vector<Tensor<float>>& layers) {
  const Shape& one = layers.at(0).shape();
  auto all = Tensor<float>::uninitialized(
      {static_cast<std::int64_t>(layers.size()), one[0], one[1], one[2]});
  float* to = all.data();
  for (const Tensor<float>& layer : layers) to = std::ranges::copy(layer.span(), to).out;
  return to_python(std::move(all));
}

nb::object as_flags(const Tensor<double>& hidden) {
  auto flags = Tensor<bool>::uninitialized(hidden.shape());
  std::ranges::transform(hidden.span(), flags.data(), [](double x) { return x == -HUGE_VAL; });
  return to_python(std::move(flags));
}

nb::dict dict_of(const LogitLens& found, const Tokenizer& tokenizer) {
  const auto piece = [&](std::int64_t token) -> nb::object {
    return token < 0 ? nb::none() : nb::object(nb::cast(tokenizer.piece_or_number(token)));
  };
  nb::dict result;
  nb::list tokens, next, layers;
  for (const std::int64_t token : found.read) tokens.append(piece(token));
  for (const std::int64_t token : found.next) next.append(piece(token));
  for (std::size_t layer = 0; layer < found.predictions.size(); ++layer) {
    nb::list probabilities, predictions;
    for (std::size_t row = 0; row < found.read.size(); ++row) {
      probabilities.append(found.next[row] < 0
                               ? nb::none()
                               : nb::object(nb::float_(found.next_probability[layer][row])));
      nb::list best;
      for (const auto& [token, probability] : found.predictions[layer][row]) {
        best.append(nb::make_tuple(piece(token), probability));
      }
      predictions.append(best);
    }
    nb::dict one;
    one["name"] = layer_name(layer);
    one["next_probability"] = probabilities;
    one["predictions"] = predictions;
    layers.append(one);
  }
  result["tokens"] = tokens;
  result["next"] = next;
  result["layers"] = layers;
  return result;
}

const TextModel& PyTextModel::text(const char* call) const {
  if (text_ != nullptr) return *text_;
  throw Error(std::string(call) + ".model",
              "must have a tokenizer, got a model of ids alone, which has logits(ids), "
              "hidden_states(ids) and attention_maps(ids)");
}

namespace {

nb::object opened(std::vector<ModelFolder> folders, const std::string& where) {
  const bool translates = folders.front().config.kind == ModelKind::translator;
  if (!translates && folders.size() > 1) {
    throw Error(where, "must be translators if there are several, got " +
                           described(folders.front().config.kind) + " in " + folders.front().path);
  }
  if (!translates) {
    auto model =
        unlocked([&] { return std::make_shared<TextModel>(TextModel::load(folders.front())); });
    return nb::cast(PyTextModel(std::move(model), find_sentence_options(folders.front())));
  }
  auto lines = unlocked([&] { return std::make_shared<LineTranslator>(std::move(folders)); });
  return nb::cast(PyTranslator{std::move(lines)});
}

// Returns the positions that replace a model's: a list as for read_positions(), or None.
SchemeSpecs other_schemes(nb::handle given, const char* call) {
  if (given.is_none()) return {};
  SchemeSpecs schemes = read_positions({given, call, "replace_scheme"});
  check_replacement(schemes, std::string(call) + ".replace_scheme");
  return schemes;
}

nb::object load_model(const std::vector<std::string>& paths, nb::handle positions,
                      nb::handle replace_in, const std::string& read_as, nb::handle dtype) {
  const SchemeSpecs others = other_schemes(positions, "load");
  std::vector<std::int64_t> layers;
  if (!replace_in.is_none()) {
    layers = Argument{replace_in, "load", "replace_in"}.integers();
    if (layers.empty() || others.empty()) {
      throw Error("load.replace_in",
                  "must be one layer or more, given together with replace_scheme");
    }
  }
  const auto type = Argument{dtype, "load", "dtype"}.choice<WeightType>();
  if (paths.size() == 1 && !paths.front().empty() && is_image_model(paths.front())) {
    for (const auto& [name, given] :
         {std::pair{"replace_scheme", !others.empty()}, {"read_as", !read_as.empty()}}) {
      if (given) throw Error(std::string("load.") + name, "must not be given for an image model");
    }
    return nb::cast(unlocked([&] { return load_image_model(paths.front(), type); }));
  }
  std::vector<ModelFolder> folders;
  for (const std::string& path : paths) {
    if (path.empty()) throw Error("load.path", "must be a model's folder, got ''");
    folders.push_back(open_model(path, read_as));
    folders.back().other_schemes = others;
    folders.back().replaced_layers = layers;
    folders.back().dtype = type;
  }
  return opened(std::move(folders), "load.path");
}

nb::object pretrained_model(const std::string& folder, const std::string& read_as,
                            nb::handle dtype) {
  if (folder.empty()) throw Error("load_pretrained.folder", "must be a model's folder, got ''");
  std::error_code problem;
  if (!std::filesystem::exists(folder, problem)) {
    throw MissingFile(folder, "must be a Hugging Face model's folder, with config.json");
  }
  const auto type = Argument{dtype, "load_pretrained", "dtype"}.choice<WeightType>();
  auto model = unlocked([&] {
    return std::make_shared<LanguageModel<float>>(load_pretrained(folder, read_as, type));
  });
  return nb::cast(PyTextModel(std::move(model)));
}

nb::object shipped_model(nb::handle positions) {
  std::vector<ModelFolder> folders;
  folders.push_back(dates_model());
  folders.back().other_schemes = other_schemes(positions, "shipped");
  return opened(std::move(folders), "shipped");
}

std::vector<std::int64_t> ids_of(nb::handle ids, const char* call) {
  return Argument{ids, call, "ids"}.integers();
}

void bind_tokenizer(nb::module_& module) {
  nb::class_<Tokenizer> tokenizer(
      module, "Tokenizer",
      "Text as a model's token ids. What is learned here: 0 <pad>, 1 <bos>, 2 <eos>, 3 <unk>, then "
      "the tokens; of a published model as its tokenizer.json says.");
  never_changes(tokenizer);
  tokenizer
      .def(
          "save",
          [](const Tokenizer& self, nb::handle folder) {
            const std::string path = Argument{folder, "tokenizer", "folder"}.path();
            const Unlocked released;
            self.save(path);
          },
          nb::arg("folder").none(),
          nb::sig("def save(self, folder: str | os.PathLike[str]) -> None"),
          "Writes tokenizer.json, and what belongs to it, into a folder that there is.")
      .def_static(
          "load",
          [](nb::handle folder) {
            const std::string path = Argument{folder, "tokenizer", "folder"}.path();
            const Unlocked released;
            return Tokenizer::load(path);
          },
          nb::arg("folder").none(),
          nb::sig("def load(folder: str | os.PathLike[str]) -> Tokenizer"),
          "The tokenizer of a folder, as save() writes it, or that of a model.")
      .def_static(
          "train",
          [](nb::handle texts, nb::handle kind, nb::handle lower_case, nb::handle split_punctuation,
             nb::handle min_count, nb::handle vocabulary) {
            const char* const call = "train";
            const TokenizerTraining options{
                .kind = Argument{kind, call, "kind"}.choice<TokenizerKind>(),
                .lower_case = Argument{lower_case, call, "lower_case"}.flag(),
                .split_punctuation = Argument{split_punctuation, call, "split_punctuation"}.flag(),
                .minimum_count = Argument{min_count, call, "min_count"}.integer_in(at_least(1)),
                .vocabulary_size =
                    Argument{vocabulary, call, "vocabulary"}.integer_in(at_least(0))};
            const std::vector<std::string> given = Argument{texts, call, "texts"}.texts();
            const Unlocked released;
            return Tokenizer::train(given, options);
          },
          nb::arg("texts").none(), nb::kw_only(), nb::arg("kind").none() = "word",
          nb::arg("lower_case").none() = false, nb::arg("split_punctuation").none() = false,
          nb::arg("min_count").none() = 1, nb::arg("vocabulary").none() = 0,
          nb::sig("def train(texts: collections.abc.Sequence[str], *, kind: "
                  "typing.Literal['word', 'character', 'subword'] = 'word', lower_case: bool = "
                  "False, split_punctuation: bool = False, min_count: int = 1, vocabulary: int = "
                  "0) -> Tokenizer"),
          "Learns a tokenizer from texts. Words and characters that occur less than min_count "
          "times "
          "become <unk>. vocabulary is the largest number of tokens: 0 for all words or "
          "characters, 8 .. 1000000 for sub-words.")
      .def(
          "__reduce__",
          [](nb::handle self) { return made_by("tokenizer", saved_files(self.attr("save"))); },
          nb::sig(kReduceSignature))
      .def_prop_ro(
          "kind", [](const Tokenizer& self) { return std::string(name_of(self.kind())); },
          "\"word\", \"character\", \"subword\" or \"pretrained\".")
      .def_prop_ro(
          "bos", [](const Tokenizer& self) { return self.special().bos; },
          "The id that begins a text, -1: none.")
      .def_prop_ro(
          "eos", [](const Tokenizer& self) { return self.special().eos; },
          "The id that ends a text, -1: none.")
      .def_prop_ro(
          "mask", [](const Tokenizer& self) { return self.special().mask; },
          "The id that stands for a hidden token, -1: none.")
      .def_prop_ro("checksum", &Tokenizer::checksum,
                   "Of all that is saved: equal where the same text gives the same ids. Files of "
                   "tokens name it.")
      .def("__len__", &Tokenizer::size)
      .def(
          "encode",
          [](const Tokenizer& self, nb::handle text) {
            return to_python(self.encode(Argument{text, "encode", "text"}.text()));
          },
          nb::arg("text").none(),
          nb::sig("def encode(self, text: str) -> numpy.typing.NDArray[numpy.int64]"),
          "The ids of a text, an array [tokens] of int64, without special tokens around it.")
      .def(
          "model_input",
          [](const Tokenizer& self, nb::handle text) {
            const TokenizedText read =
                self.model_input(Argument{text, "model_input", "text"}.text());
            return nb::make_tuple(to_python(read.ids), read.tokens);
          },
          nb::arg("text").none(),
          nb::sig("def model_input(self, text: str) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], list[str]]"),
          "What a model reads of a text: ids [tokens] and the text of each, with the special "
          "tokens "
          "that published models were trained to find around it ([CLS] and [SEP], <s>).")
      .def(
          "model_input",
          [](const Tokenizer& self, nb::handle text, nb::handle second) {
            const TokenizedText read =
                self.model_input(Argument{text, "model_input", "text"}.text(),
                                 Argument{second, "model_input", "second"}.text());
            return nb::make_tuple(to_python(read.ids), read.tokens, to_python(read.types));
          },
          nb::arg("text").none(), nb::arg("second").none(),
          nb::sig("def model_input(self, text: str, second: str) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], list[str], "
                  "numpy.typing.NDArray[numpy.int64]]"),
          "The same of a pair of texts, [CLS] text [SEP] second [SEP] in BERT, and the type of "
          "each token, 0 or 1.")
      .def(
          "tokens",
          [](const Tokenizer& self, nb::handle text) {
            return self.tokens(Argument{text, "tokens", "text"}.text());
          },
          nb::arg("text").none(), nb::sig("def tokens(self, text: str) -> list[str]"),
          "The text of each token of encode(), unknown ones as they stand in the text.")
      .def(
          "decode",
          [](const Tokenizer& self, nb::handle ids) { return self.decode(ids_of(ids, "decode")); },
          nb::arg("ids").none(),
          nb::sig("def decode(self, ids: collections.abc.Iterable[int]) -> str"),
          "The text of ids; special tokens are left out.")
      .def(
          "pieces",
          [](const Tokenizer& self, nb::handle ids) {
            std::vector<std::string> pieces;
            for (const std::int64_t id : ids_of(ids, "pieces")) {
              pieces.push_back(self.piece_or_number(id));
            }
            return pieces;
          },
          nb::arg("ids").none(),
          nb::sig("def pieces(self, ids: collections.abc.Iterable[int]) -> list[str]"),
          "The token of each id.");
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_tokenizer(module);
  bind_text_model(module);
  bind_translator(module);
  bind_new_models(module);
  bind_losses(module);
  bind_optimisers(module);
  module.def("load_model", &load_model, nb::arg("paths"), nb::arg("positions").none(),
             nb::arg("replace_in").none(), nb::arg("read_as"), nb::arg("dtype").none(),
             nb::sig("def load_model(paths: list[str], positions: object, replace_in: object, "
                     "read_as: str, dtype: object) -> TextModel | "
                     "Translator"));
  module.def(
      "pretrained_model", &pretrained_model, nb::arg("folder"), nb::arg("read_as"),
      nb::arg("dtype").none(),
      nb::sig("def pretrained_model(folder: str, read_as: str, dtype: object) -> TextModel"));
  module.def("shipped_model", &shipped_model, nb::arg("positions").none(),
             nb::sig("def shipped_model(positions: object) -> Translator"));
  module.def("has_text_libraries", &has_text_libraries,
             "Whether ICU, SentencePiece and fastText are in this build.");
}

}  // namespace sextant::python
