// What charts draw as dicts of Python, and back from a pickle.
#include "pictures/chart_numbers.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>

#include "arrays.h"

namespace sextant::python {
namespace {

using Kept = std::shared_ptr<const ChartNumbers>;

nb::capsule owner_of(const Kept& chart) {
  return {new Kept(chart), [](void* kept) noexcept { delete static_cast<Kept*>(kept); }};
}

nb::str text(std::string_view of) { return nb::str(of.data(), of.size()); }

nb::dict dict_of(const Kept& chart) {
  const nb::capsule owner = owner_of(chart);
  const auto numbers = [&](const Tensor<double>& of) {
    return of.count() == 0 ? nb::none() : numbers_of(of, owner);
  };
  nb::list panels;
  for (const ChartNumbers::Panel& panel : chart->panels) {
    nb::list names, arrays;
    for (const ChartNumbers::Array& array : panel.arrays) {
      names.append(text(array.name));
      arrays.append(numbers_of(array.numbers, owner));
    }
    nb::dict made;
    made["title"] = text(panel.title);
    made["names"] = names;
    made["arrays"] = arrays;
    made["curve"] = numbers(panel.curve);
    panels.append(made);
  }
  nb::dict made;
  made["kind"] = text(name_of(chart->kind));
  made["title"] = text(chart->title);
  made["x_label"] = text(chart->x_label);
  made["y_label"] = text(chart->y_label);
  made["value_label"] = text(chart->value_label);
  made["panels"] = panels;
  made["row_labels"] = chart->row_labels;
  made["column_labels"] = chart->column_labels;
  made["first_row"] = chart->first_row;
  made["first_column"] = chart->first_column;
  made["map"] = text(name_of(chart->map));
  made["low"] = chart->low;
  made["high"] = chart->high;
  made["log_x"] = chart->log_x;
  made["log_y"] = chart->log_y;
  return made;
}

// The members of a dict, each named in what an error says.
struct Members {
  nb::dict dict;

  nb::object at(const char* name) const {
    if (!dict.contains(name)) throw Error("picture.charts", std::string("must have ") + name);
    return dict[name];
  }
  template <class F>
  auto get(const char* name, const F& f) const -> decltype(f(Argument())) {
    const nb::object value = at(name);
    return f(Argument{value, "picture.charts", name});
  }
  std::string text(const char* name) const {
    return get(name, [](const Argument& one) { return one.text(); });
  }
  double number(const char* name) const {
    return get(name, [](const Argument& one) { return one.number(); });
  }
  bool flag(const char* name) const {
    return get(name, [](const Argument& one) { return one.flag(); });
  }
  std::vector<std::string> texts(const char* name) const {
    return get(name, [](const Argument& one) { return one.texts(); });
  }
  nb::list list(const char* name) const {
    return get(name, [](const Argument& one) { return one.as<nb::list>("a list"); });
  }
  template <NamedEnum E>
  E choice(const char* name) const {
    return get(name, [](const Argument& one) { return one.choice<E>(); });
  }
};

Members members_of(nb::handle given) {
  return {Argument{given, "picture", "charts"}.as<nb::dict>("a list of dicts")};
}

Tensor<double> matrix_of(nb::handle given) {
  const InputArray array({given, "picture", "charts"});
  array.expect_rank(2, "an array [rows, columns]");
  return array.copy().to<double>();
}

ChartNumbers chart_from(const Members& given) {
  ChartNumbers chart{.kind = given.choice<ChartNumbers::Kind>("kind"),
                     .title = given.text("title"),
                     .x_label = given.text("x_label"),
                     .y_label = given.text("y_label"),
                     .value_label = given.text("value_label")};
  for (const nb::handle one : given.list("panels")) {
    const Members of = members_of(one);
    ChartNumbers::Panel& panel = chart.panels.emplace_back();
    panel.title = of.text("title");
    const std::vector<std::string> names = of.texts("names");
    const nb::list arrays = of.list("arrays");
    if (names.size() != nb::len(arrays)) {
      throw Error("picture.charts", "must have a name for each array");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      panel.arrays.push_back({names[i], matrix_of(nb::object(arrays[i]))});
    }
    const nb::object curve = of.at("curve");
    if (!curve.is_none()) panel.curve = matrix_of(curve);
  }
  chart.row_labels = given.texts("row_labels");
  chart.column_labels = given.texts("column_labels");
  chart.first_row = given.number("first_row");
  chart.first_column = given.number("first_column");
  chart.map = given.choice<ColorMap>("map");
  chart.low = given.number("low");
  chart.high = given.number("high");
  chart.log_x = given.flag("log_x");
  chart.log_y = given.flag("log_y");
  return chart;
}

}  // namespace

nb::list chart_dicts(const PictureNumbers& charts) {
  nb::list dicts;
  for (const Kept& chart : charts) dicts.append(dict_of(chart));
  return dicts;
}

PictureNumbers charts_from(nb::handle dicts) {
  PictureNumbers charts;
  for (const nb::handle one :
       Argument{dicts, "picture", "charts"}.as<nb::list>("a list of dicts")) {
    charts.push_back(std::make_shared<const ChartNumbers>(chart_from(members_of(one))));
  }
  return charts;
}

}  // namespace sextant::python
