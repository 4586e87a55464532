// Models from folders: of this library, of Hugging Face, and the one that the library contains.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "bindings.h"
#include "core/options/fields.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/core/missing_file.h"
#include "sextant/hub/image_models.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/training/tasks/dates_translator.h"

namespace sextant::python {
namespace {

nb::object opened(std::vector<ModelFolder> folders, const std::string& where) {
  const bool translates = folders.front().config.kind == ModelKind::translator;
  if (!translates && folders.size() > 1) {
    throw Error(where, "must be translators if there are several, got " +
                           described(folders.front().config.kind) + " in " + folders.front().path);
  }
  if (!translates) {
    auto model =
        unlocked([&] { return std::make_shared<TextModel>(TextModel::load(folders.front())); });
    return nb::cast(PyTextModel(std::move(model), find_sentence_options(folders.front())));
  }
  auto lines = unlocked([&] { return std::make_shared<LineTranslator>(std::move(folders)); });
  return nb::cast(PyTranslator{std::move(lines)});
}

// Returns the positions that replace a model's: a list as for read_positions(), or None.
SchemeSpecs other_schemes(nb::handle given, const char* call) {
  if (given.is_none()) return {};
  SchemeSpecs schemes = read_positions({given, call, "replace_scheme"});
  check_replacement(schemes, std::string(call) + ".replace_scheme");
  return schemes;
}

nb::object load_model(const std::vector<std::string>& paths, nb::handle positions,
                      nb::handle replace_in, const std::string& read_as, nb::handle dtype) {
  const SchemeSpecs others = other_schemes(positions, "load");
  std::vector<std::int64_t> layers;
  if (!replace_in.is_none()) {
    layers = Argument{replace_in, "load", "replace_in"}.integers();
    if (layers.empty() || others.empty()) {
      throw Error("load.replace_in",
                  "must be one layer or more, given together with replace_scheme");
    }
  }
  const auto type = Argument{dtype, "load", "dtype"}.choice<WeightType>();
  if (paths.size() == 1 && !paths.front().empty() && is_image_model(paths.front())) {
    for (const auto& [name, given] :
         {std::pair{"replace_scheme", !others.empty()}, {"read_as", !read_as.empty()}}) {
      if (given) throw Error(std::string("load.") + name, "must not be given for an image model");
    }
    return nb::cast(unlocked([&] { return load_image_model(paths.front(), type); }));
  }
  std::vector<ModelFolder> folders;
  for (const std::string& path : paths) {
    if (path.empty()) throw Error("load.path", "must be a model's folder, got ''");
    folders.push_back(open_model(path, read_as));
    folders.back().other_schemes = others;
    folders.back().replaced_layers = layers;
    folders.back().dtype = type;
  }
  return opened(std::move(folders), "load.path");
}

nb::object pretrained_model(const std::string& folder, const std::string& read_as,
                            nb::handle dtype) {
  if (folder.empty()) throw Error("load_pretrained.folder", "must be a model's folder, got ''");
  std::error_code problem;
  if (!std::filesystem::exists(folder, problem)) {
    throw MissingFile(folder, "must be a Hugging Face model's folder, with config.json");
  }
  const auto type = Argument{dtype, "load_pretrained", "dtype"}.choice<WeightType>();
  auto model = unlocked([&] {
    return std::make_shared<LanguageModel<float>>(load_pretrained(folder, read_as, type));
  });
  return nb::cast(PyTextModel(std::move(model)));
}

nb::object shipped_model(nb::handle positions) {
  std::vector<ModelFolder> folders;
  folders.push_back(dates_model());
  folders.back().other_schemes = other_schemes(positions, "shipped");
  return opened(std::move(folders), "shipped");
}

}  // namespace

void bind_load(nb::module_& module) {
  module.def("load_model", &load_model, nb::arg("paths"), nb::arg("positions").none(),
             nb::arg("replace_in").none(), nb::arg("read_as"), nb::arg("dtype").none(),
             nb::sig("def load_model(paths: list[str], positions: object, replace_in: object, "
                     "read_as: str, dtype: object) -> TextModel | "
                     "Translator"));
  module.def(
      "pretrained_model", &pretrained_model, nb::arg("folder"), nb::arg("read_as"),
      nb::arg("dtype").none(),
      nb::sig("def pretrained_model(folder: str, read_as: str, dtype: object) -> TextModel"));
  module.def("shipped_model", &shipped_model, nb::arg("positions").none(),
             nb::sig("def shipped_model(positions: object) -> Translator"));
}

}  // namespace sextant::python
