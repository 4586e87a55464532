// Charts of trainings: losses by step, perplexities by length.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "pictures/picture_options.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/figures/loss_chart.h"

namespace sextant::python {
namespace {

// A folder, or a tuple of a name and a dict of numbers.
figures::LossRun run_of(nb::handle given) {
  if (nb::isinstance<nb::str>(given)) {
    return figures::load_losses(Argument{given, "losses", "runs"}.text());
  }
  const Argument argument{given, "losses", "runs"};
  const auto both = argument.as<nb::tuple>("a folder, or a name and numbers");
  if (both.size() != 2) throw Error(argument.where(), "must be a folder, or a name and numbers");
  const nb::object name = both[0], numbers_by_name = both[1];
  const auto curves =
      Argument{numbers_by_name, "losses", "runs"}.as<nb::dict>("a dict of numbers by name");
  figures::LossRun run{.name = Argument{name, "losses", "runs"}.text(), .curves = {}};
  const auto take = [&](const char* key, std::vector<double>& numbers) {
    const nb::object values = curves[key];
    numbers = Argument{values, "losses", key}.numbers();
  };
  take("step", run.curves.steps);
  take("mean_loss", run.curves.mean_loss);
  take("validation_step", run.curves.validation_steps);
  take("validation_loss", run.curves.validation_loss);
  return run;
}

Picture plot_losses(const nb::list& given, nb::handle title, const nb::dict& options) {
  std::vector<figures::LossRun> runs;
  for (const nb::handle one : given) runs.push_back(run_of(one));
  if (runs.empty()) throw Error("losses.runs", "must be one or more, got none");
  const std::string heading =
      title.is_none() ? figures::loss_title(runs) : Argument{title, "losses", "title"}.text();
  const std::optional<double> width = PictureOptions("losses", options).max_width();
  return with_arguments_of("losses", [&] { return figures::loss_chart(runs, heading, width); });
}

}  // namespace

void bind_chart_pictures(nb::module_& module) {
  module.def("plot_losses", &plot_losses, nb::arg("runs"), nb::arg("title").none(),
             nb::arg("options"),
             nb::sig("def plot_losses(runs: list[object], title: str | None, options: dict[str, "
                     "typing.Any]) -> Picture"));
  module.def(
      "plot_extrapolation",
      [](const std::string& json, const std::string& where, const std::string& token,
         const nb::dict& options) {
        return figures::extrapolation_chart(parse_extrapolation(json, where), token,
                                            PictureOptions("extrapolation", options).max_width());
      },
      nb::arg("json"), nb::arg("where"), nb::arg("token"), nb::arg("options"),
      nb::sig("def plot_extrapolation(json: str, where: str, token: str, options: dict[str, "
              "typing.Any]) -> Picture"));
}

}  // namespace sextant::python
