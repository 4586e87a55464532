// The calls of `sextant encode` and `plot`.
#include <algorithm>
#include <string>

#include "calls/calls.h"
#include "core/text/strings.h"
#include "positions/scheme_list.h"
#include "sextant/core/numbers.h"

namespace sextant::app {
namespace {

using std::to_string;

// Which rows: a length, or positions one by one.
std::string python_rows(const Encode& encode) {
  if (!encode.ids_file.empty()) return "numpy.load(" + string_literal(encode.ids_file) + ")";
  if (encode.ids.is_given()) return python_ids(encode.ids);
  if (encode.length && encode.first == 0) return to_string(*encode.length);
  if (encode.length) {
    return "numpy.arange(" + to_string(encode.first) + ", " +
           to_string(encode.first + *encode.length) + ")";
  }
  return std::visit(
      [](const auto& ids) {
        return "numpy.array([" +
               joined(ids, ", ", [](auto id) { return shortest(static_cast<double>(id)); }) + "])";
      },
      *encode.positions);
}

std::string python_table(const Encode& encode) {
  const Scheme& scheme = encode.choice.descriptor();
  Arguments arguments;
  arguments.add(python_rows(encode));
  const bool is_rotation = scheme.kind == SchemeKind::rotated;
  const bool is_row = is_rotation || scheme.kind == SchemeKind::added;
  const auto width = encode.width ? encode.width : encode.head_dim;
  if (is_row) {
    arguments.add(to_string(is_rotation ? encode.head_dim.value_or(*width) : *width));
  } else {
    arguments.add(to_string(encode.heads));
  }
  add_parameters(arguments, encode.choice.positions()[0]);
  const bool has_heads = std::ranges::any_of(scheme.weights, [](const SchemeWeight& weight) {
    return weight.shape.find("heads") != weight.shape.npos;
  });
  if (is_rotation && has_heads) arguments.add("heads", to_string(encode.heads));
  if (is_row && encode.dtype != "float32") arguments.add("dtype", string_literal(encode.dtype));
  const std::string call = "sextant." + encode.choice.scheme + "(" + arguments.text() + ")";
  return call + (encode.side == figures::Side::keys ? ".keys" : "");
}

std::string cpp_ids(const Encode& encode) {
  if (encode.length) {
    return "std::vector<std::int64_t> ids(" + to_string(*encode.length) +
           ");\nstd::iota(ids.begin(), ids.end(), " + to_string(encode.first) + ");\n";
  }
  return std::visit(
      []<class Id>(const std::vector<Id>& ids) {
        return std::string("const std::vector<") +
               (std::is_same_v<Id, double> ? "double" : "std::int64_t") + "> ids = {" +
               joined(ids, ", ", [](Id id) { return shortest(static_cast<double>(id)); }) + "};\n";
      },
      *encode.positions);
}

std::string cpp_table(const Encode& encode) {
  const Scheme& scheme = encode.choice.descriptor();
  std::string text = cpp_ids(encode) + "sextant::SchemeRequest request;\n";
  const auto set = [&text](const std::string& member, const std::string& value) {
    text += "request." + member + " = " + value + ";\n";
  };
  if (scheme.kind == SchemeKind::added) set("width", to_string(*encode.width));
  if (scheme.kind == SchemeKind::rotated) {
    set("head_dim", to_string(encode.head_dim ? *encode.head_dim : *encode.width));
  }
  if (scheme.kind != SchemeKind::added) set("heads", to_string(encode.heads));
  const bool is_real =
      encode.positions && std::holds_alternative<std::vector<double>>(*encode.positions);
  set(is_real ? "times" : "positions", "ids");
  const SchemeSpec chosen = encode.choice.positions()[0];
  if (!chosen.parameters.empty()) {
    const std::string both = cpp_scheme(chosen);
    const std::size_t at = both.find(", ") + 2;
    set("parameters", both.substr(at, both.size() - at - 1));
  }
  return text + "const sextant::SchemeTable table = sextant::find_scheme(" +
         string_literal(encode.choice.scheme) + ").make(request);";
}

std::string python_named(const figures::NamedScheme& named) {
  return python_schemes({{named.scheme, named.parameters}});
}
std::string cpp_named(const figures::NamedScheme& named) {
  return cpp_scheme(SchemeSpec{named.scheme, named.parameters});
}

std::string numbers(const std::vector<std::int64_t>& list, std::string_view brackets) {
  return brackets[0] + joined(list, ", ", [](std::int64_t x) { return to_string(x); }) +
         brackets[1];
}

// The sizes that a picture of these goes by and that were given.
struct Sizes {
  bool rotations, biases;
};

void add_sizes(const PlotOptions& plot, Sizes with, auto&& add) {
  if (plot.length) add("length", to_string(*plot.length));
  if (plot.first != 0) add("first", to_string(plot.first));
  if (with.rotations && (plot.head_dim || plot.width)) {
    add("head_dim", to_string(plot.head_dim ? *plot.head_dim : *plot.width));
  }
  if (with.biases && plot.heads != PlotOptions().heads) add("heads", to_string(plot.heads));
}

}  // namespace

PrintedCall call_of(const Encode& encode) {
  if (encode.model.is_given()) return {.python = {}, .cpp = {}, .missing = "--config"};
  if (!encode.choice.weights_file.empty()) {
    return {.python = {}, .cpp = {}, .missing = "--scheme-weights"};
  }
  const std::string python = "table = " + python_table(encode);
  const bool needs_numpy = python.find("numpy.") != python.npos;
  const bool has_file = !encode.ids_file.empty() || encode.ids.is_given();
  return {.python = (needs_numpy ? "import numpy\n\n" : "") + python,
          .cpp = has_file ? "" : cpp_table(encode),
          .missing = encode.ids.is_given() ? "--ids" : "--ids-file"};
}

PrintedCall call_of(const PlotOptions& plot, std::string_view function,
                    const std::vector<std::string>& words) {
  if (!plot.choice.weights_file.empty()) {
    return {.python = {}, .cpp = {}, .missing = "--scheme-weights"};
  }
  const PlotOptions standard;
  const bool is_matrix = function == "offset_matrix", is_distance = function == "distance";
  const std::vector<figures::NamedScheme> schemes =
      plot.schemes.empty() ? std::vector{plot.choice.named(std::nullopt)}
                           : parse_schemes(plot.schemes, "plot.schemes");
  const auto has = [&](SchemeKind kind) {
    return plot.table.empty() && std::ranges::any_of(schemes, [kind](const auto& named) {
             return named.descriptor().kind == kind;
           });
  };
  const Sizes with{has(SchemeKind::rotated),
                   has(SchemeKind::distance_bias) || has(SchemeKind::indexed_bias)};
  const std::string list = joined(schemes, ", ", [](const auto& one) { return python_named(one); });
  const std::string what = !plot.table.empty()    ? "numpy.load(" + string_literal(plot.table) + ")"
                           : plot.schemes.empty() ? list
                                                  : "[" + list + "]";
  Arguments python;
  if (!is_matrix) python.add(what);
  if (is_matrix) python.add(to_string(plot.shift));
  if (is_matrix && plot.choice.is_given()) python.add("what", what);
  if (!words.empty()) python.add(word_list(words, "[]"));
  const auto add = [&python](std::string_view name, const std::string& value) {
    python.add(name, value);
  };
  if (!is_matrix) add_sizes(plot, with, add);
  if (plot.width) add("width", to_string(*plot.width));
  if (plot.head) add("head", to_string(*plot.head));
  if (plot.all_heads) add("all_heads", "True");
  if (plot.measure != standard.measure) add("measure", string_literal(plot.measure));
  if (plot.columns != standard.columns) add("columns", numbers(plot.columns, "[]"));
  if (plot.rows != standard.rows) add("rows", numbers(plot.rows, "[]"));
  const std::string max_width = plot.output.max_width ? shortest(*plot.output.max_width) : "";
  if (!max_width.empty()) add("max_width", max_width);
  std::string call = std::string(what.starts_with("numpy.") ? "import numpy\n\n" : "") +
                     "picture = sextant.plot." + std::string(function) + "(" + python.text() + ")";
  if (plot.output.to_file()) call += "\npicture.save(" + string_literal(plot.output.path) + ")";
  const bool no_python = function == "difference" || plot.position.has_value();
  const std::string missing = plot.position ? "--position" : "difference";

  Arguments sizes;
  add_sizes(plot, {true, true},
            [&sizes](std::string_view name, const std::string& value) { sizes.set(name, value); });
  const auto set_max_width = [&] {
    if (!max_width.empty()) sizes.set("max_width", max_width);
  };
  const std::string width = to_string(plot.width.value_or(figures::plot_sizes(function).width));
  const std::string first_scheme = cpp_named(schemes[0]);
  const std::string figure = "const sextant::figures::Figure figure = sextant::figures::";
  std::string cpp;
  if (!plot.table.empty()) return {.python = call, .cpp = {}, .missing = "--table"};
  if (function == "difference") {
    set_max_width();
    cpp = "const auto difference = sextant::figures::plot_difference(\n    " + first_scheme +
          ",\n    " + cpp_named(schemes[1]) + ",\n    {" + sizes.text() + "}, " + width + ");";
  } else if (is_matrix) {
    const std::string parameters = first_scheme.substr(first_scheme.find(", ") + 2);
    cpp = "sextant::Sinusoidal options = sextant::sinusoidal_from(" +
          parameters.substr(0, parameters.size() - 1) + ");\noptions.width = " + width + ";\n" +
          (plot.position ? "options.first = " + to_string(*plot.position) + ";\n" : "") + figure +
          (plot.position ? "plot_offset_at_work" : "plot_offset_matrix") + "(options, " +
          to_string(plot.shift) + (max_width.empty() ? "" : ", " + max_width) + ");";
  } else if (!has_rows(plot) && is_distance) {
    if (plot.width) sizes.set("width", width);
    if (plot.head) sizes.set("head", to_string(*plot.head));
    if (plot.all_heads) sizes.set("all_heads", "true");
    if (plot.measure == "dot") sizes.set("measure", "sextant::figures::Measure::dot");
    set_max_width();
    cpp = figure + "plot_profiles(\n    {" +
          joined(schemes, ", ", [](const auto& one) { return cpp_named(one); }) + "},\n    {" +
          sizes.text() + "});";
  } else if (!has_rows(plot)) {
    set_max_width();
    cpp = figure + "plot_scheme(" + first_scheme + ", {" + sizes.text() + "});";
  } else {
    const auto count = static_cast<std::int64_t>(words.size());
    const std::int64_t length = plot.length.value_or(
        count > 0 ? count + figures::kBeyondWords : figures::plot_sizes(function).length);
    Arguments drawn;
    drawn.add("table");
    if (function == "sinusoids") drawn.add(numbers(plot.columns, "{}"));
    const bool has_width = !max_width.empty();
    if (!words.empty() || (has_width && function == "sinusoids")) drawn.add(word_list(words, "{}"));
    if (function == "rows") drawn.add(numbers(plot.rows, "{}"));
    if (is_distance && (has_width || plot.measure == "dot")) {
      drawn.add("sextant::figures::Measure::" + plot.measure);
    }
    if (has_width) drawn.add(max_width);
    cpp = "const auto table = sextant::figures::position_table(" + first_scheme + ", " +
          to_string(length) + ", " + width + ", " + to_string(plot.first) + ");\n" + figure +
          "plot_" + std::string(function) + "(" + drawn.text() + ");";
  }
  return {.python = no_python ? "" : call, .cpp = cpp, .missing = missing};
}

}  // namespace sextant::app
