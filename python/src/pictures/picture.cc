// Pictures as Python's objects, which notebooks show.
#include "sextant/pictures/canvas.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"
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
             std::string description) {
            new (self)
                Picture{std::move(svg), width, height, std::move(title), std::move(description)};
          },
          nb::arg("svg"), nb::arg("width"), nb::arg("height"), nb::arg("title"),
          nb::arg("description"))
      .def(
          "__reduce__",
          [](const Picture& self) {
            return made_by("picture", self.svg, self.width, self.height, self.title,
                           self.description);
          },
          nb::sig(kReduceSignature))
      .def_ro("svg", &Picture::svg, "One complete <svg> element.")
      .def_ro("width", &Picture::width, "In CSS pixels.")
      .def_ro("height", &Picture::height, "In CSS pixels.")
      .def_ro("title", &Picture::title)
      .def_ro("description", &Picture::description,
              "A sentence on what it shows: the text for those who do not see it.")
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
