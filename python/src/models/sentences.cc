// Sentences that attend to themselves or each other with seeded random weights, whether their
// order shows, and the report.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/watch.h"
#include "pictures/picture_options.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/figures/report.h"
#include "sextant/lessons/attention_steps.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant::python {
namespace {

using Words = std::vector<std::string>;

constexpr IntegerRange kSizes{1, 1 << 20};

// Pairs (query, key), None for all.
std::vector<HiddenPair> pairs_hidden_by_hand(const Argument& argument) {
  const auto is_list = [](nb::handle value) {
    return nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  };
  if (!is_list(argument.value)) throw_type_error(argument, "a list of pairs (query, key)");
  std::vector<HiddenPair> pairs;
  const nb::tuple given_pairs(nb::borrow(argument.value));
  for (const nb::handle one : given_pairs) {
    if (!is_list(one)) throw_type_error(argument, "a list of pairs (query, key)");
    const nb::tuple pair(nb::borrow(one));
    if (pair.size() != 2) throw Error(argument.where(), "must be pairs (query, key)");
    const auto place = [&](std::size_t side) {
      const nb::object value = pair[side];
      const Argument given{value, argument.scope, argument.name};
      return value.is_none() ? -1 : given.integer_in({0, std::int64_t{1} << 40});
    };
    pairs.push_back({place(0), place(1)});
  }
  return pairs;
}

SentenceAttentionOptions options_of(const PictureOptions& given, nb::handle positions) {
  SentenceAttentionOptions options;
  options.schemes = read_positions({positions, given.call(), "scheme"});
  options.width = given.integer("width", kSizes).value_or(options.width);
  options.heads = given.integer("heads", kSizes).value_or(options.heads);
  options.causal = given.flag("causal");
  if (given.has("window")) {
    const std::vector<std::int64_t> sides = given.integers("window");
    if (sides.size() != 2) throw Error(given.call() + ".window", "must be (left, right)");
    options.window = {sides[0], sides[1]};
  }
  const auto number = [&](const char* name, double otherwise) {
    if (!given.has(name)) return otherwise;
    return given.get(name, [](const Argument& one) { return one.number(); });
  };
  options.temperature = number("temperature", options.temperature);
  options.softcap = number("softcap", options.softcap);
  if (given.has("sinks")) {
    options.sinks = given.get("sinks", [](const Argument& one) { return one.numbers(); });
  }
  if (given.has("hidden")) options.hidden = given.get("hidden", &pairs_hidden_by_hand);
  options.first_position =
      given.integer("first_position", {-(std::int64_t{1} << 53), std::int64_t{1} << 53})
          .value_or(0);
  options.seed =
      static_cast<std::uint32_t>(given.integer("seed", {0, 0xffffffff}).value_or(options.seed));
  return options;
}

nb::dict as_dict(SentenceAttention attention, const SentenceAttentionOptions& options) {
  nb::dict result;
  result["queries"] = attention.queries;
  result["keys"] = attention.keys;
  result["title"] = figures::maps_of(attention, options).title;
  result["weights"] = to_python(std::move(attention.weights));
  result["masked"] = to_python(std::move(attention.masked_weights));
  result["output"] = to_python(std::move(attention.output));
  return result;
}

nb::dict attend_words(const Words& first, const Words& second, nb::handle positions,
                      const nb::dict& given) {
  const PictureOptions more("attend", given);
  const SentenceAttentionOptions options = options_of(more, positions);
  auto attention = unlocked([&] { return attend_sentences(first, second, options); });
  return as_dict(std::move(attention), options);
}

// Returns every step by name, with its meaning.
nb::dict step_tables(const Words& first, const Words& second, nb::handle positions,
                     const nb::dict& given) {
  const PictureOptions more("steps", given);
  const SentenceAttentionOptions options = options_of(more, positions);
  auto steps = unlocked([&] { return attention_steps(first, second, options); });
  nb::dict tables, meanings, result;
  for (std::size_t n = 0; n < kAttentionSteps; ++n) {
    const auto step = static_cast<AttentionStep>(n);
    const nb::str name(name_of(step).data(), name_of(step).size());
    tables[name] = to_python(std::move(steps.tables[n]));
    meanings[name] = nb::str(meaning_of(step).data(), meaning_of(step).size());
  }
  result["queries"] = steps.queries;
  result["keys"] = steps.keys;
  result["tables"] = tables;
  result["meanings"] = meanings;
  return result;
}

nb::dict compare(const Words& first, const Words& second, nb::handle positions,
                 const nb::dict& given) {
  const PictureOptions more("compare", given);
  SentenceAttentionOptions options = options_of(more, positions);
  options.causal = true;
  auto verdict = unlocked([&] { return compare_order(first, second, options); });
  nb::dict result;
  result["verdict"] = verdict.verdict(figures::title_of(options.schemes));
  result["headline"] = verdict.headline();
  result["first"] = as_dict(std::move(verdict.first), options);
  result["second"] = as_dict(std::move(verdict.second), options);
  result["same"] = verdict.same;
  result["last_differs"] = verdict.last_differs;
  result["largest_difference"] = verdict.largest_difference;
  result["distance"] = verdict.distance;
  result["why"] = verdict.why;
  return result;
}

std::string report(const std::string& text, const Words& words, const std::string& pictures) {
  figures::ReportOptions options;
  if (!words.empty()) {
    if (words.size() != 2) {
      throw Error("report.words", "must be two words, got " + std::to_string(words.size()));
    }
    options.words = {words[0], words[1]};
  }
  options.progress = [](std::string_view) { check_signals(); };
  const Unlocked released;
  std::optional<figures::ReportFolder> folder;
  if (!pictures.empty()) {
    folder.emplace(pictures);
    options.picture = [&folder](const auto& made) { folder->save(made); };
  }
  return figures::report_page(text, options);
}

}  // namespace

void bind_sentences(nb::module_& module) {
  module.def(
      "split_text",
      [](nb::handle text, nb::handle split, nb::handle lower_case, const std::string& call,
         const std::string& name) {
        constexpr std::string_view kHow[] = {"words", "spaces"};
        const figures::TextSplit how{
            .at_spaces = Argument{split, call, "split"}.index_in(kHow) == 1,
            .lower_case = Argument{lower_case, call, "lower_case"}.flag()};
        return figures::tokens_to_draw(Argument{text, call, name}.text(), how, call + "." + name);
      },
      nb::arg("text").none(), nb::arg("split").none(), nb::arg("lower_case").none(),
      nb::arg("call"), nb::arg("name"),
      nb::sig("def split_text(text: object, split: str, lower_case: bool, call: str, name: str) -> "
              "list[str]"));
  module.def("attend", &attend_words, nb::arg("first"), nb::arg("second"), nb::arg("positions"),
             nb::arg("options"),
             nb::sig("def attend(first: list[str], second: list[str], positions: object, options: "
                     "dict[str, typing.Any]) -> dict[str, typing.Any]"));
  module.def("attention_steps", &step_tables, nb::arg("first"), nb::arg("second"),
             nb::arg("positions"), nb::arg("options"),
             nb::sig("def attention_steps(first: list[str], second: list[str], positions: object, "
                     "options: dict[str, typing.Any]) -> dict[str, typing.Any]"));
  module.def("compare", &compare, nb::arg("first"), nb::arg("second"), nb::arg("positions"),
             nb::arg("options"),
             nb::sig("def compare(first: list[str], second: list[str], positions: object, options: "
                     "dict[str, typing.Any]) -> dict[str, typing.Any]"));
  module.def("report", &report, nb::arg("text"), nb::arg("words"), nb::arg("pictures"));
}

}  // namespace sextant::python
