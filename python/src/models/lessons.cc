// The small models of the teaching documents: recommendation, similarity, word vectors, the
// laboratory.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "core/arrays/converted.h"
#include "core/options/fields.h"
#include "interpreter_lock.h"
#include "models/watch.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/lessons/order_lab.h"
#include "sextant/lessons/recommendation.h"
#include "sextant/lessons/similarity.h"
#include "sextant/lessons/word_arithmetic.h"

namespace sextant::python {
namespace {

Tensor<double> matrix(nb::handle given, const char* call, const char* name, const char* axes) {
  const InputArray array({given, call, name});
  array.expect_rank(2, axes);
  return array.copy().to<double>();
}

nb::tuple recommended(nb::handle users, nb::handle items) {
  Recommendation found = recommend(matrix(users, "recommend", "users", "[users, attributes]"),
                                   matrix(items, "recommend", "items", "[items, attributes]"));
  return nb::make_tuple(to_python(std::move(found.scores)), to_python(std::move(found.weights)));
}

nb::object similarities(nb::handle rows, nb::handle threads) {
  const Tensor<double> given = matrix(rows, "similarity", "rows", "[rows, width]");
  const int workers = Argument{threads, "similarity", "threads"}.threads();
  auto found = unlocked([&] { return cosine_similarities(given, workers); });
  return to_python(std::move(found));
}

nb::list pairs_of(const std::vector<NearestWord>& words) {
  nb::list list;
  for (const NearestWord& each : words) list.append(nb::make_tuple(each.word, each.similarity));
  return list;
}

std::vector<std::vector<std::string>> sentences_of(const Argument& argument) {
  std::vector<std::vector<std::string>> sentences;
  if (!nb::hasattr(argument.value, "__iter__")) throw_type_error(argument, "lists of words");
  for (const nb::handle one : nb::borrow<nb::object>(argument.value)) {
    sentences.push_back(Argument{one, argument.scope, argument.name}.texts());
  }
  return sentences;
}

WordVectors trained(nb::handle sentences, const nb::dict& options) {
  const Argument given{sentences, "WordVectors.train", "sentences"};
  const auto words = sentences_of(given);
  SkipGram how;
  const auto integer = [&](const char* name, std::int64_t& value) {
    if (options.contains(name)) {
      const nb::object one = options[name];
      value = Argument{one, "WordVectors.train", name}.integer();
    }
  };
  integer("width", how.width);
  integer("window", how.window);
  integer("minimum_count", how.minimum_count);
  integer("epochs", how.epochs);
  integer("negatives", how.negatives);
  std::int64_t seed = how.seed;
  integer("seed", seed);
  check_range(IntegerRange{0, 0xffffffff}, "WordVectors.train.seed", seed);
  how.seed = static_cast<std::uint32_t>(seed);
  const Unlocked released;
  return WordVectors::train(words, how);
}

void bind_word_vectors(nb::module_& module) {
  nb::class_<WordVectors> vectors(
      module, "WordVectors",
      "Words with a vector each: vectors[word], nearest words, sums of words.");
  never_changes(vectors);
  vectors
      .def(
          "__init__",
          [](WordVectors* self, nb::handle words, nb::handle rows) {
            const auto wide = matrix(rows, "WordVectors", "vectors", "[words, width]");
            new (self) WordVectors(Argument{words, "WordVectors", "words"}.texts(),
                                   converted<float>(wide));
          },
          nb::arg("words").none(), nb::arg("vectors").none(),
          nb::sig("def __init__(self, words: collections.abc.Sequence[str], vectors: object) -> "
                  "None"))
      .def_static(
          "load",
          [](nb::handle path) {
            const std::string file = Argument{path, "WordVectors.load", "path"}.path();
            const Unlocked released;
            return WordVectors::load(file);
          },
          nb::arg("path").none(), nb::sig("def load(path: str | os.PathLike[str]) -> WordVectors"),
          "A .vec file of word2vec, fastText or GloVe.")
      .def_static("trained", &trained, nb::arg("sentences").none(), nb::arg("options"),
                  nb::sig("def trained(sentences: object, options: dict[str, typing.Any]) -> "
                          "WordVectors"))
      .def(
          "save",
          [](const WordVectors& self, nb::handle path) {
            self.save(Argument{path, "WordVectors.save", "path"}.path());
          },
          nb::arg("path").none(), nb::sig("def save(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "__reduce__",
          [](nb::handle self) {
            return nb::make_tuple(self.type(),
                                  nb::make_tuple(self.attr("words"), self.attr("vectors")));
          },
          nb::sig(kReduceSignature))
      .def_prop_ro("words",
                   [](const WordVectors& self) {
                     return std::vector<std::string>(self.words().begin(), self.words().end());
                   })
      .def_prop_ro(
          "vectors",
          [](nb::handle_t<WordVectors> self) {
            return python::numbers_of(nb::cast<const WordVectors&>(self).vectors(), self);
          },
          nb::sig("def vectors(self) -> numpy.typing.NDArray[numpy.float32]"),
          "[words, width], a read-only view.")
      .def("__len__", [](const WordVectors& self) { return self.words().size(); })
      .def(
          "__contains__",
          [](const WordVectors& self, nb::handle word) {
            return self.contains(Argument{word, "WordVectors", "word"}.text());
          },
          nb::arg("word").none(), nb::sig("def __contains__(self, word: object) -> bool"))
      .def(
          "__getitem__",
          [](const WordVectors& self, nb::handle word) {
            return to_python(copy_of(self[Argument{word, "WordVectors", "word"}.text()]));
          },
          nb::arg("word").none(),
          nb::sig("def __getitem__(self, word: str) -> numpy.typing.NDArray[numpy.float32]"))
      .def(
          "nearest",
          [](const WordVectors& self, nb::handle words, nb::handle count) {
            const Argument sum{words, "WordVectors.nearest", "words"};
            const auto terms = parse_word_sum(sum.text(), sum.where());
            const std::int64_t most =
                Argument{count, "WordVectors.nearest", "count"}.integer_in(at_least(1));
            const Unlocked released;
            const auto found = nearest_words(self, terms, most);
            const Locked held;
            return pairs_of(found);
          },
          nb::arg("words").none(), nb::arg("count").none() = 10,
          nb::sig("def nearest(self, words: str, count: int = 10) -> list[tuple[str, float]]"),
          "The words nearest to a word or a sum of words, \"king - man + woman\", and their cosine "
          "similarities; its own words are left out.");
}

nb::dict as_dict(OrderLab::Result result) {
  nb::dict dict;
  dict["tokens"] = result.tokens;
  dict["scores"] = to_python(std::move(result.scores));
  dict["weights"] = to_python(std::move(result.weights));
  dict["values"] = to_python(std::move(result.values));
  dict["output"] = to_python(std::move(result.output));
  return dict;
}

nb::dict lab_run(nb::handle sentence, nb::handle scheme) {
  const SchemeSpecs positions = read_positions({scheme, "lab", "scheme"});
  return as_dict(OrderLab().run(Argument{sentence, "lab", "sentence"}.text(), positions));
}

nb::dict lab_compare(nb::handle first, nb::handle second, nb::handle scheme) {
  const SchemeSpecs positions = read_positions({scheme, "lab_compare", "scheme"});
  OrderLab::Verdict verdict =
      OrderLab().compare(Argument{first, "lab_compare", "first"}.text(),
                         Argument{second, "lab_compare", "second"}.text(), positions);
  nb::dict result;
  result["verdict"] = verdict.verdict(figures::title_of(positions));
  result["headline"] = verdict.headline();
  result["same"] = verdict.same;
  result["last_differs"] = verdict.last_differs;
  result["largest_difference"] = verdict.largest_difference;
  result["why"] = verdict.why;
  result["first"] = as_dict(std::move(verdict.first));
  result["second"] = as_dict(std::move(verdict.second));
  return result;
}

}  // namespace

void bind_lessons(nb::module_& module) {
  bind_word_vectors(module);
  module.def("recommend", &recommended, nb::arg("users").none(), nb::arg("items").none(),
             nb::sig("def recommend(users: object, items: object) -> tuple[typing.Any, "
                     "typing.Any]"));
  module.def("similarities", &similarities, nb::arg("rows").none(), nb::arg("threads").none(),
             nb::sig("def similarities(rows: object, threads: object) -> typing.Any"));
  module.def("lab", &lab_run, nb::arg("sentence").none(), nb::arg("scheme"),
             nb::sig("def lab(sentence: object, scheme: object) -> dict[str, typing.Any]"));
  module.def("lab_compare", &lab_compare, nb::arg("first").none(), nb::arg("second").none(),
             nb::arg("scheme"),
             nb::sig("def lab_compare(first: object, second: object, scheme: object) -> dict[str, "
                     "typing.Any]"));
}

}  // namespace sextant::python
