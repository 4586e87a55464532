// Translators: translations, scores.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/core/error.h"
#include "sextant/figures/model_attention.h"
#include "sextant/training/evaluate.h"
#include "sextant/training/tasks/built_in_data.h"

namespace sextant::python {
namespace {

nb::dict as_dict(const Hypothesis& found, const std::string& text) {
  nb::dict result;
  result["text"] = text;
  result["tokens"] = found.tokens;
  result["score"] = found.score;
  result["log_probability"] = found.log_probability;
  result["finished"] = found.finished;
  return result;
}

// Returns the hypotheses of each line, several lines at a time, with checks for signals between.
nb::list translate_lines(const PyTranslator& self, nb::handle lines, const nb::dict& given) {
  TranslateOptions options;
  visit_translation(options, taking({given, "translate"}));
  const std::vector<std::string> texts = Argument{lines, "translate", "text"}.texts();
  const LineTranslator& translator = *self.lines;
  nb::list result;
  const auto together = static_cast<std::size_t>(std::max<std::int64_t>(1, options.batch_size));
  for (std::size_t begin = 0; begin < texts.size(); begin += together) {
    const std::size_t end = std::min(begin + together, texts.size());
    std::vector<std::vector<Hypothesis>> found;
    std::vector<std::vector<std::string>> shown;
    {
      const Unlocked released;
      check_signals();
      std::vector<std::vector<std::int64_t>> tokens;
      for (std::size_t i = begin; i < end; ++i) {
        tokens.push_back(translator.tokens(texts[i], "translate.text[" + std::to_string(i) + "]"));
      }
      found = translator.hypotheses(tokens, options);
      for (std::size_t i = begin; i < end; ++i) {
        auto& all = shown.emplace_back();
        for (const Hypothesis& each : found[i - begin]) {
          all.push_back(translator.text(texts[i], each, options.threads));
        }
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      nb::list all;
      for (std::size_t j = 0; j < found[i].size(); ++j) {
        all.append(as_dict(found[i][j], shown[i][j]));
      }
      result.append(all);
    }
  }
  return result;
}

nb::dict attention_maps_of(const PyTranslator& self, nb::handle source, nb::handle target,
                           nb::handle layers, nb::handle heads, nb::handle threads) {
  const auto from = Argument{source, "attention_maps", "text"}.integers();
  const auto of_layers = Argument{layers, "attention_maps", "layers"}.integers();
  const auto of_heads = Argument{heads, "attention_maps", "heads"}.integers();
  const MapSelection chosen{.layers = of_layers, .heads = of_heads};
  const auto read = Argument{target, "attention_maps", "target"}.integers();
  if (from.empty()) throw Error("attention_maps.text", "must have at least one token, got none");
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "attention_maps", "threads"}.threads()};
  auto maps = unlocked([&] { return self.first().attention_maps(from, read, pass, chosen); });
  nb::dict result;
  result["encoder"] = stacked(maps.encoder);
  result["decoder"] = stacked(maps.decoder);
  result["cross"] = stacked(maps.cross);
  result["copied"] = self.first().pointer ? to_python(std::move(maps.copied)) : nb::none();
  return result;
}

nb::dict logit_lens_of(const PyTranslator& self, nb::handle given_text, nb::handle given_target,
                       const nb::dict& given) {
  LogitLensOptions options;
  take_arguments({given, "logit_lens"}, options);
  const std::string text = Argument{given_text, "logit_lens", "text"}.text();
  std::optional<std::string> target;
  if (!given_target.is_none()) target = Argument{given_target, "logit_lens", "target"}.text();
  const auto found = unlocked([&] { return logit_lens(self.first(), text, target, options); });
  return dict_of(found, self.lines->tokenizer());
}

// Returns the pairs of the encoder and of the decoder.
nb::tuple hidden_pairs_of(const PyTranslator& self, std::int64_t source, std::int64_t target) {
  const TextTranslator& model = self.first();
  const std::int64_t heads = model.config.heads;
  return nb::make_tuple(
      as_flags(figures::hidden_pairs(model.encoder_positions, heads, source, false)),
      as_flags(figures::hidden_pairs(model.decoder_positions, heads, target, true)));
}

nb::dict evaluate_pairs(const PyTranslator& self, const SentencePairs& pairs, const nb::dict& given,
                        const std::string& where) {
  TranslateOptions options;
  visit_scored_translation(options, taking({given, "evaluate"}));
  const auto score = unlocked([&] {
    return evaluate(
        *self.lines, pairs, options,
        [](std::string_view, std::size_t, std::size_t) { check_signals(); }, where);
  });
  nb::dict bleu;
  bleu["score"] = score.bleu.score;
  bleu["precisions"] =
      std::vector<double>(score.bleu.precisions.begin(), score.bleu.precisions.end());
  bleu["brevity_penalty"] = score.bleu.brevity_penalty;
  bleu["hypothesis_length"] = score.bleu.hypothesis_length;
  bleu["reference_length"] = score.bleu.reference_length;
  bleu["signature"] = score.bleu.signature;
  nb::dict result;
  result["translations"] = score.translations;
  result["bleu"] = bleu;
  result["source_bleu"] = score.source_bleu;
  result["exact_percent"] = score.exact_percent;
  result["perplexity"] = score.perplexity;
  result["reference_tokens"] = score.reference_tokens;
  result["unknown_tokens"] = score.unknown_tokens;
  result["seconds"] = score.seconds;
  result["tokens_per_second"] = score.tokens_per_second;
  return result;
}

using TextPairs = std::vector<std::pair<std::string, std::string>>;

TextPairs as_list(const SentencePairs& pairs) {
  TextPairs list;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    list.emplace_back(pairs.source[i], pairs.target[i]);
  }
  return list;
}

}  // namespace

void bind_translator(nb::module_& module) {
  nb::class_<PyTranslator> translator(module, "Translator");
  copies_weights(translator, [](const PyTranslator& self) {
    const auto models = self.lines->translators();
    const auto copy = [](const TextTranslator& each) {
      return std::move(*copied(each, each.tokenizer));
    };
    std::vector<TextTranslator> others;
    for (const TextTranslator& each : models.subspan(1)) others.push_back(copy(each));
    return PyTranslator{std::make_shared<LineTranslator>(copy(models[0]), std::move(others))};
  });
  translator
      .def(
          "__reduce__",
          [](nb::handle self) {
            nb::list folders;
            for (std::size_t n = 0; n < nb::len(self); ++n) {
              folders.append(saved_files(self.attr("saving")(n)));
            }
            return made_by("models", folders, nb::none());
          },
          nb::sig(kReduceSignature))
      .def(
          "saving",
          [](nb::handle self, std::size_t number) {
            return nb::cpp_function([kept = nb::borrow(self), number](const std::string& folder) {
              nb::cast<const PyTranslator&>(kept).lines->translators()[number].save(folder);
            });
          },
          nb::arg("number"), nb::sig("def saving(self, number: int) -> typing.Any"),
          "What saves one of an ensemble's models into a folder.")
      .def_prop_ro("config",
                   [](const PyTranslator& self) { return format_config(self.first().config); })
      .def_prop_ro(
          "tokenizer",
          [](const PyTranslator& self) -> const Tokenizer& { return self.lines->tokenizer(); },
          nb::rv_policy::reference_internal)
      .def("__len__", [](const PyTranslator& self) { return self.lines->models().size(); })
      .def("translate", &translate_lines, nb::arg("lines").none(), nb::arg("options"),
           nb::sig("def translate(self, lines: object, options: dict[str, typing.Any]) -> "
                   "list[list[dict[str, typing.Any]]]"))
      .def(
          "logit_lens", &logit_lens_of, nb::arg("text").none(), nb::arg("target").none(),
          nb::arg("options"),
          nb::sig(
              "def logit_lens(self, text: str, target: str | None, options: dict[str, typing.Any]) "
              "-> dict[str, typing.Any]"))
      .def("attention_maps", &attention_maps_of, nb::arg("source").none(), nb::arg("target").none(),
           nb::arg("layers").none(), nb::arg("heads").none(), nb::arg("threads").none(),
           nb::sig("def attention_maps(self, source: object, target: object, layers: object, "
                   "heads: object, threads: int) -> dict[str, typing.Any]"))
      .def("hidden_pairs", &hidden_pairs_of, nb::arg("source"), nb::arg("target"),
           nb::sig("def hidden_pairs(self, source: int, target: int) -> tuple[typing.Any, "
                   "typing.Any]"))
      .def(
          "evaluate",
          [](const PyTranslator& self, const TextPairs& pairs, const nb::dict& options,
             const std::string& where) {
            SentencePairs columns;
            for (const auto& [source, target] : pairs) {
              columns.source.push_back(source);
              columns.target.push_back(target);
            }
            return evaluate_pairs(self, columns, options, where);
          },
          nb::arg("pairs"), nb::arg("options"), nb::arg("where"),
          nb::sig("def evaluate(self, pairs: list[tuple[str, str]], options: dict[str, "
                  "typing.Any], where: str) -> dict[str, typing.Any]"))
      .def(
          "weights",
          [](nb::handle self) {
            return arrays_of(nb::cast<const PyTranslator&>(self).first().parameters(), self);
          },
          nb::sig("def weights(self) -> dict[str, typing.Any]"))
      .def("save", [](const PyTranslator& self, const std::string& folder) {
        const Unlocked released;
        self.first().save(folder);
      });
  module.def(
      "parse_pairs",
      [](const nb::bytes& text, bool reverse, const std::string& where) {
        const PairColumns columns{.source = reverse, .target = !reverse};
        return as_list(parse_pairs({text.c_str(), text.size()}, columns, where));
      },
      nb::arg("text"), nb::arg("reverse"), nb::arg("where"));
  module.def("check_dates",
             [](std::uint64_t seed) { return as_list(built_in_data("dates", seed).check); });
}

}  // namespace sextant::python
