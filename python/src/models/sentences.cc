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
#include "sextant/lessons/sentence_attention.h"

namespace sextant::python {
namespace {

using Words = std::vector<std::string>;

constexpr IntegerRange kSizes{1, 1 << 20};

SentenceAttentionOptions options_of(const PictureOptions& given, nb::handle positions) {
  SentenceAttentionOptions options;
  options.positions = read_positions({positions, given.call(), "positions"});
  options.width = given.integer("width", kSizes).value_or(options.width);
  options.heads = given.integer("heads", kSizes).value_or(options.heads);
  options.causal = given.flag("causal");
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
  SentenceAttention attention;
  {
    const Unlocked released;
    attention = attend_sentences(first, second, options);
  }
  return as_dict(std::move(attention), options);
}

nb::dict compare(const Words& first, const Words& second, nb::handle positions,
                 const nb::dict& given) {
  const PictureOptions more("compare", given);
  SentenceAttentionOptions options = options_of(more, positions);
  options.causal = true;
  OrderVerdict verdict;
  {
    const Unlocked released;
    verdict = compare_order(first, second, options);
  }
  nb::dict result;
  result["verdict"] = verdict.verdict(figures::title_of(options.positions));
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

std::string report(const std::string& text, const Words& words) {
  figures::ReportOptions options;
  if (!words.empty()) {
    if (words.size() != 2) {
      throw Error("report.words", "must be two words, got " + std::to_string(words.size()));
    }
    options.words = {words[0], words[1]};
  }
  options.progress = [](std::string_view) { check_signals(); };
  const Unlocked released;
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
  module.def("compare", &compare, nb::arg("first"), nb::arg("second"), nb::arg("positions"),
             nb::arg("options"),
             nb::sig("def compare(first: list[str], second: list[str], positions: object, options: "
                     "dict[str, typing.Any]) -> dict[str, typing.Any]"));
  module.def("report", &report, nb::arg("text"), nb::arg("words"));
}

}  // namespace sextant::python
