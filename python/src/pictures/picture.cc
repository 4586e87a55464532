// Pictures as Python's objects, which notebooks show.
#include "sextant/pictures/canvas.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "pictures/chart_numbers.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/pictures/page.h"

namespace sextant::python {
namespace {

constexpr const char* kDoc =
    "A finished picture. A notebook shows it; save() writes a file.\n\n"
    "It is one SVG text without references to anything outside, light or dark as the reader's "
    "browser is, with its description for screen readers inside.";

constexpr const char* kSaveDoc =
    "Writes a file, by the ending of its name; under a temporary name first, so that nothing "
    "half-written remains.\n\n"
    "Args:\n"
    "    path: ends in .svg, .html (one page that needs no network), .png or .pdf (where the build "
    "has librsvg: can_save_png())\n"
    "    scale: of .png, pixels per CSS pixel, above 0\n\n"
    "Raises:\n"
    "    ValueError: another ending, a file that cannot be written, and .png or .pdf in a build "
    "without "
    "librsvg";

constexpr const char* kValuesDoc =
    "The numbers drawn: read-only float64 arrays by name, or None of a picture without any.\n\n"
    "A map is one array [rows, columns] per panel, \"Head 0\", with -inf where a pair is hidden. A "
    "line is an array [points, 2] of x and y, or [points, 4] with the ends of its band. Of several "
    "charts a name begins with the chart's title. labels has what rows and columns are called.";

constexpr const char* kLabelsDoc =
    "What the rows and columns of each array of values are called: (rows, columns) by its name, or "
    "None of a picture without numbers.\n\n"
    "Tokens or positions of a map, each a str; the points of a line, with its two axes as columns.";

constexpr const char* kMatplotlibDoc =
    "Draws the numbers with matplotlib, which must be installed, for what this picture cannot be "
    "part of: a figure of other panels, a paper's style.\n\n"
    "Lines of attention between words become maps.\n\n"
    "Args:\n"
    "    ax: matplotlib's Axes to draw in, or as many of them as there are panels; None: those of "
    "a "
    "new figure\n\n"
    "Returns:\n"
    "    The Axes, or a list of them where there are several panels\n\n"
    "Raises:\n"
    "    ValueError: a picture without numbers, or another number of axes\n"
    "    TypeError: an `ax` that is none\n"
    "    ImportError: matplotlib is not installed";

nb::module_ numbers_module() { return nb::module_::import_("sextant._picture_numbers"); }

// With the interpreter's lock.
void warn_of(const std::string& path, const Picture& picture) {
  const std::string warning = picture_warning(path, picture);
  if (!warning.empty() && PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1) != 0) {
    throw nb::python_error();
  }
}

// Wider than a cell of a notebook, it scrolls.
std::string in_notebook(const Picture& picture) {
  return "<div style=\"overflow-x:auto\">" + picture.svg + "</div>";
}

double scale_of(nb::handle scale) { return Argument{scale, "picture", "scale"}.number(); }

}  // namespace

void bind_picture(nb::module_& module) {
  nb::class_<Picture> picture(module, "Picture", kDoc);
  never_changes(picture);
  picture
      .def(
          "__init__",
          [](Picture* self, std::string svg, double width, double height, std::string title,
             std::string description, nb::handle charts) {
            new (self)
                Picture{std::move(svg),     width, height, std::move(title), std::move(description),
                        charts_from(charts)};
          },
          nb::arg("svg"), nb::arg("width"), nb::arg("height"), nb::arg("title"),
          nb::arg("description"), nb::arg("charts") = nb::list(),
          nb::sig("def __init__(self, svg: str, width: float, height: float, title: str, "
                  "description: str, charts: list[dict[str, typing.Any]] = []) -> None"))
      .def(
          "__reduce__",
          [](const Picture& self) {
            return made_by("picture", self.svg, self.width, self.height, self.title,
                           self.description, chart_dicts(self.numbers));
          },
          nb::sig(kReduceSignature))
      .def_ro("svg", &Picture::svg, "One complete <svg> element.")
      .def_ro("width", &Picture::width, "In CSS pixels.")
      .def_ro("height", &Picture::height, "In CSS pixels.")
      .def_ro("title", &Picture::title)
      .def_ro("description", &Picture::description,
              "A sentence on what it shows: the text for those who do not see it.")
      .def_prop_ro(
          "_charts", [](const Picture& self) { return chart_dicts(self.numbers); },
          nb::sig("def _charts(self) -> list[dict[str, typing.Any]]"), "What each chart draws.")
      .def_prop_ro(
          "values", [](nb::handle self) { return numbers_module().attr("values_of")(self); },
          nb::sig("def values(self) -> dict[str, numpy.typing.NDArray[numpy.float64]] | None"),
          kValuesDoc)
      .def_prop_ro(
          "labels", [](nb::handle self) { return numbers_module().attr("labels_of")(self); },
          nb::sig("def labels(self) -> dict[str, tuple[list[str], list[str]]] | None"), kLabelsDoc)
      .def(
          "to_matplotlib",
          [](nb::handle self, nb::handle ax) { return numbers_module().attr("draw")(self, ax); },
          nb::arg("ax").none() = nb::none(),
          nb::sig("def to_matplotlib(self, ax: typing.Any = None) -> typing.Any"), kMatplotlibDoc)
      .def(
          "save",
          [](const Picture& self, nb::handle path, nb::handle scale) {
            const std::string file = Argument{path, "picture", "path"}.path();
            const double pixels = scale_of(scale);
            {
              const Unlocked released;
              save_picture(file, self, pixels);
            }
            warn_of(file, self);
          },
          nb::arg("path").none(), nb::arg("scale").none() = 2.0,
          nb::sig("def save(self, path: str | os.PathLike[str], scale: float = 2.0) -> None"),
          kSaveDoc)
      .def(
          "png",
          [](const Picture& self, nb::handle scale) {
            const double pixels = scale_of(scale);
            const auto bytes = unlocked([&] { return render_png(self, pixels); });
            warn_of(".png", self);
            return nb::bytes(bytes.data(), bytes.size());
          },
          nb::arg("scale").none() = 2.0, nb::sig("def png(self, scale: float = 2.0) -> bytes"),
          "The bytes of a PNG file; ValueError in a build without librsvg.")
      .def("_repr_svg_", [](const Picture& self) { return self.svg; })
      .def("_repr_html_", &in_notebook)
      .def("__repr__", [](const Picture& self) {
        return "Picture(" + std::string(nb::repr(nb::str(self.title.c_str())).c_str()) + ", " +
               std::to_string(static_cast<int>(self.width)) + " x " +
               std::to_string(static_cast<int>(self.height)) + ")";
      });
  module.def(
      "stack_pictures",
      [](const std::string& title, const std::vector<Picture>& pictures) {
        return stack(title, pictures);
      },
      nb::arg("title"), nb::arg("pictures"), "Pictures under each other.");
  module.def(
      "save_page",
      [](const std::string& path, const std::string& html) {
        if (!path.ends_with(".html")) {
          throw Error("page.path", "must end in .html, got '" + path + "'");
        }
        write_file(path, html);
      },
      nb::arg("path"), nb::arg("html"));
  module.def("can_save_png", &can_render_png,
             "Whether this build has librsvg, which makes PNG and PDF files.");
}

}  // namespace sextant::python
