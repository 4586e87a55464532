// Image models: hidden states, vectors, logits, attention maps.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/core/error.h"
#include "sextant/core/missing_file.h"
#include "sextant/hub/image_models.h"

namespace sextant::python {
namespace {

using Images = Tensor<float>;

Images read_images(nb::handle given, const char* call, const char* name) {
  const Argument argument{given, call, name};
  const InputArray array(argument);
  if (!is_float(array.dtype())) {
    throw Error(argument.where(), "must be floats, got " + std::string(dtype_name(array.dtype())));
  }
  return array.copy().to<float>();
}

// Calls compute(images, pass) without the interpreter's lock.
template <class Compute>
auto with_images(nb::handle given, const char* call, nb::handle threads, const Compute& compute) {
  const Images images = read_images(given, call, "images");
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, call, "threads"}.threads()};
  return unlocked([&] { return compute(images.view(), pass); });
}

std::shared_ptr<ImageModel> loaded_image_model(const std::string& folder, nb::handle dtype) {
  if (folder.empty()) throw Error("load.folder", "must be a model's folder, got ''");
  std::error_code problem;
  if (!std::filesystem::exists(folder, problem)) {
    throw MissingFile(folder, "must be a Hugging Face model's folder, with config.json");
  }
  const auto type = Argument{dtype, "load", "dtype"}.choice<WeightType>();
  return unlocked([&] { return std::make_shared<ImageModel>(load_image_model(folder, type)); });
}

nb::object image_hidden_states(const ImageModel& self, nb::handle images, nb::handle threads) {
  const auto states = with_images(images, "hidden_states", threads, [&](auto view, Pass& pass) {
    return self.hidden_states(view, pass);
  });
  const Shape& one = states.at(0).shape();
  auto all = Tensor<float>::uninitialized({std::ssize(states), one[0], one[1], one[2]});
  float* to = all.data();
  for (const Tensor<float>& each : states) to = std::ranges::copy(each.span(), to).out;
  return to_python(std::move(all));
}

// A method of Python that computes one array.
auto with_each(Tensor<float> (ImageModel::*compute)(View<const float>, Pass&) const,
               const char* call) {
  return [=](const ImageModel& self, nb::handle images, nb::handle threads) {
    return to_python(with_images(
        images, call, threads, [&](auto view, Pass& pass) { return (self.*compute)(view, pass); }));
  };
}

nb::object image_attention_maps(const ImageModel& self, nb::handle given, nb::handle layers,
                                nb::handle heads, nb::handle rows, nb::handle threads) {
  const char* const call = "attention_maps";
  const Images image = read_images(given, call, "image");
  const auto of_layers = Argument{layers, call, "layers"}.integers();
  const auto of_heads = Argument{heads, call, "heads"}.integers();
  const auto of_rows = Argument{rows, call, "rows"}.integers();
  const MapSelection chosen{.layers = of_layers, .heads = of_heads, .rows = of_rows};
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, call, "threads"}.threads()};
  return stacked(unlocked([&] { return self.attention_maps(image.view(), pass, chosen); }));
}

}  // namespace

void bind_image_model(nb::module_& module) {
  nb::class_<ImageModel> image_model(module, "ImageModel");
  copies_weights(image_model, [](const ImageModel& self) { return copied(self); });
  image_model
      .def(
          "__reduce__",
          [](nb::handle self) {
            return made_by("image_model", saved_files(self.attr("save_pretrained"), "new"));
          },
          nb::sig(kReduceSignature))
      .def_prop_ro("config",
                   [](const ImageModel& self) { return format_image_config(self.config); })
      .def("hidden_states", &image_hidden_states, nb::arg("images").none(),
           nb::arg("threads").none(),
           nb::sig("def hidden_states(self, images: object, threads: int) -> typing.Any"))
      .def("last_hidden_states", with_each(&ImageModel::last_hidden_states, "last_hidden_states"),
           nb::arg("images").none(), nb::arg("threads").none(),
           nb::sig("def last_hidden_states(self, images: object, threads: int) -> typing.Any"))
      .def("vectors", with_each(&ImageModel::vectors, "vectors"), nb::arg("images").none(),
           nb::arg("threads").none(),
           nb::sig("def vectors(self, images: object, threads: int) -> typing.Any"))
      .def("logits", with_each(&ImageModel::logits, "logits"), nb::arg("images").none(),
           nb::arg("threads").none(),
           nb::sig("def logits(self, images: object, threads: int) -> typing.Any"))
      .def("attention_maps", &image_attention_maps, nb::arg("image").none(),
           nb::arg("layers").none(), nb::arg("heads").none(), nb::arg("rows").none(),
           nb::arg("threads").none(),
           nb::sig("def attention_maps(self, image: object, layers: object, heads: object, rows: "
                   "object, threads: int) -> typing.Any"))
      .def(
          "token_names",
          [](const ImageModel& self, std::int64_t height, std::int64_t width) {
            return self.token_names(self.config.grid_of(height, width, "attention_maps.image"));
          },
          nb::arg("height"), nb::arg("width"),
          nb::sig("def token_names(self, height: int, width: int) -> list[str]"))
      .def(
          "save_pretrained",
          [](const ImageModel& self, const std::string& folder, nb::handle dtype) {
            const auto type = Argument{dtype, "save_pretrained", "dtype"}.choice<WeightType>();
            const Unlocked released;
            save_image_model(self, folder,
                             type == WeightType::float32    ? DType::float32
                             : type == WeightType::bfloat16 ? DType::bfloat16
                                                            : DType::float16);
          },
          nb::arg("folder"), nb::arg("dtype").none() = "float32",
          nb::sig("def save_pretrained(self, folder: str, dtype: str = 'float32') -> None"));
  module.def("load_image_model", &loaded_image_model, nb::arg("folder"), nb::arg("dtype").none(),
             nb::sig("def load_image_model(folder: str, dtype: str) -> ImageModel"));
}

}  // namespace sextant::python
