// Draws positions: of an array, of a scheme's result, or of schemes by name.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/arrays/converted.h"
#include "interpreter_lock.h"
#include "models/watch.h"
#include "pictures/picture_options.h"
#include "schemes/function_term.h"
#include "schemes/tables.h"
#include "sextant/figures/position_figures.h"
#include "sextant/figures/scheme_array.h"
#include "sextant/figures/scheme_profiles.h"

namespace sextant::python {
namespace {

using figures::NamedScheme;
using figures::PositionTable;

constexpr IntegerRange kLengths{1, std::int64_t{1} << 30};
constexpr IntegerRange kHeads{1, 1 << 20};
constexpr IntegerRange kPositions{-(std::int64_t{1} << 53), std::int64_t{1} << 53};

bool is_named(nb::handle what) { return nb::isinstance<nb::list>(what); }

// Reads the schemes of a list of lists of names and parameters, one scheme each.
std::vector<NamedScheme> schemes_of(nb::handle what, const std::string& call) {
  std::vector<NamedScheme> schemes;
  const Argument argument{what, call, "what"};
  for (const nb::handle one : argument.as<nb::list>("a scheme by name")) {
    const SchemeSpecs together = read_positions({one, call, "what"});
    if (together.size() != 1) {
      throw Error(call + ".what", "must be single schemes, got " + names_of(together));
    }
    schemes.push_back({together[0].scheme, together[0].parameters});
  }
  return schemes;
}

// One of the kinds of pictures, with the sizes that it has where nothing says them.
struct Asked {
  const PictureOptions& options;
  figures::PlotSizes sizes;

  std::int64_t first() const { return options.integer("first", kPositions).value_or(0); }
  std::int64_t length() const { return options.integer("length", kLengths).value_or(sizes.length); }
  std::int64_t width() const { return options.integer("width", kLengths).value_or(sizes.width); }
  std::int64_t heads() const { return options.integer("heads", kHeads).value_or(8); }
  std::int64_t head_dim() const { return options.integer("head_dim", kLengths).value_or(64); }
  figures::Measure measure() const {
    const std::string name = options.text("measure", "cosine");
    constexpr std::string_view kNames[] = {"cosine", "dot"};
    return static_cast<figures::Measure>(find_name(kNames, name, options.call() + ".measure"));
  }
  std::vector<std::string> words() const {
    if (!options.has("words")) return {};
    return options.get("words", [](const Argument& one) { return one.texts(); });
  }

  // Rows that are added to embeddings.
  PositionTable table(nb::handle what) const {
    if (is_named(what)) {
      const auto schemes = schemes_of(what, options.call());
      const auto count = static_cast<std::int64_t>(words().size());
      const std::int64_t length =
          count > 0 && !options.has("length") ? count + figures::kBeyondWords : this->length();
      return position_table(schemes.at(0), length, width(), first());
    }
    options.refuse({"length", "width", "head_dim", "heads"}, "an array, which has its own sizes");
    const InputArray array({what, options.call(), "what"}, Gradients::meaningless);
    array.expect_rank(2, "an array [length, width], or a scheme by name");
    return {.values = array.copy().to<double>(),
            .options = {},
            .name = options.text("name", "the table"),
            .first = first()};
  }

  figures::ProfileOptions profile() const {
    return {.length = length(),
            .first = first(),
            .width = width(),
            .head_dim = head_dim(),
            .heads = heads(),
            .head = options.integer("head", {0, kHeads.max - 1}),
            .all_heads = options.flag("all_heads"),
            .measure = measure(),
            .max_width = options.max_width()};
  }
};

RotationTable<double> widened(const PyRotation& rotation) {
  return std::visit(
      [](const auto& table) {
        return RotationTable<double>{converted<double>(table->cos),
                                     converted<double>(table->sin),
                                     table->layout,
                                     table->first_channel,
                                     {}};
      },
      rotation.table);
}

// The distances on either side of 0 that a table has.
std::int64_t length_of(const DistanceBias& bias, const Asked& asked) {
  if (!bias.has_table() || asked.options.has("length")) return asked.length();
  return std::min(bias.origin, bias.values.size(1) - 1 - bias.origin) + 1;
}

// Reads a scheme's result as an array; false: it is something else.
bool take_array(nb::handle what, const Asked& asked, figures::SchemeArray& array,
                std::string& name) {
  if (const auto* rotation = held<PyRotation>(what)) {
    array = figures::array_of(widened(*rotation));
    name = "rotation";
  } else if (const auto* distance = held<PyDistanceBias>(what)) {
    const DistanceBias& bias = distance->bias;
    const std::int64_t heads = bias.has_table() ? bias.values.size(0) : std::ssize(bias.slopes);
    array =
        figures::array_of(bias, std::max(heads, std::ssize(bias.slopes)), length_of(bias, asked));
    name = "biases by distance";
  } else if (const auto* held_term = held<PyScoreTerm>(what);
             held_term != nullptr && !held_term->term->needs().reads_rows()) {
    {
      const Unlocked released;  // a function of Python's takes the lock, on any thread
      array = figures::array_of(*held_term->term, held_term->heads, held_term->length);
    }
    if (const auto* function = dynamic_cast<const FunctionTerm*>(held_term->term.get())) {
      function->raise();
    }
    name = "biases by query and key";
  } else {
    return false;
  }
  return true;
}

Picture heatmap(nb::handle what, const Asked& asked) {
  if (is_named(what)) {
    const auto schemes = schemes_of(what, asked.options.call());
    if (schemes.at(0).descriptor().kind != SchemeKind::added) {
      return plot_scheme(schemes[0], {.length = asked.length(),
                                      .first = asked.first(),
                                      .heads = asked.heads(),
                                      .head_dim = asked.head_dim(),
                                      .max_width = asked.options.max_width()})
          .picture;
    }
    return plot_heatmap(asked.table(what), asked.options.max_width()).picture;
  }
  figures::SchemeArray array;
  std::string name;
  if (!take_array(what, asked, array, name)) {
    return plot_heatmap(asked.table(what), asked.options.max_width()).picture;
  }
  array.labels.title = figures::capital(asked.options.text("name", name));
  return picture_of(array, asked.options.max_width());
}

Picture distance(nb::handle what, const Asked& asked) {
  const bool several = asked.options.flag("several");
  if (!is_named(what))
    return plot_distance(asked.table(what), asked.measure(), asked.options.max_width()).picture;
  const auto schemes = schemes_of(what, asked.options.call());
  if (!several && schemes.at(0).descriptor().kind == SchemeKind::added) {
    return plot_distance(asked.table(what), asked.measure(), asked.options.max_width()).picture;
  }
  return plot_profiles(schemes, asked.profile()).picture;
}

Picture offset_matrix(nb::handle what, const Asked& asked) {
  const auto schemes = schemes_of(what, asked.options.call());
  if (schemes.at(0).scheme != "sinusoidal") {
    throw Error("offset_matrix.scheme", "must be sinusoidal, got " + schemes[0].scheme);
  }
  Sinusoidal table = sinusoidal_from(schemes[0].parameters);
  table.width = asked.width();
  return figures::plot_offset_matrix(table, asked.options.integer("shift", kPositions).value_or(1),
                                     asked.options.max_width())
      .picture;
}

Picture plot_positions(const std::string& kind, nb::handle what, const nb::dict& given) {
  const PictureOptions options(kind, given);
  const Asked asked{options, figures::plot_sizes(kind)};
  const Interruption interruption(&check_signals);
  const auto drawn = [&] {
    if (kind == "heatmap") return heatmap(what, asked);
    if (kind == "distance") return distance(what, asked);
    if (kind == "offset_matrix") return offset_matrix(what, asked);
    const PositionTable table = asked.table(what);
    const std::optional<double> width = options.max_width();
    if (kind == "sinusoids") {
      return plot_sinusoids(table, options.integers("columns"), asked.words(), width).picture;
    }
    if (kind == "rows") return plot_rows(table, options.integers("rows"), width).picture;
    return plot_similarity(table, width).picture;
  };
  return with_arguments_of(kind, [&] {
    Picture picture = drawn();
    options.refuse_unused();
    return picture;
  });
}

}  // namespace

void bind_position_pictures(nb::module_& module) {
  module.def("plot_positions", &plot_positions, nb::arg("kind"), nb::arg("what").none(),
             nb::arg("options"),
             nb::sig("def plot_positions(kind: str, what: object, options: dict[str, typing.Any]) "
                     "-> Picture"));
}

}  // namespace sextant::python
