// The binding of Tokenizer.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "models/models.h"

namespace sextant::python {
namespace {

std::vector<std::int64_t> ids_of(nb::handle ids, const char* call) {
  return Argument{ids, call, "ids"}.integers();
}

}  // namespace

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

}  // namespace sextant::python
