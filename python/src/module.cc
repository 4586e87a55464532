// Defines the extension module of `import sextant`. Python's files next to it have the signatures,
// the defaults and the help texts.
#include <nanobind/nanobind.h>

#include "bindings.h"

NB_MODULE(_core, module) {
  namespace py = sextant::python;
  module.doc() = "Sextant's compiled part. Use the package sextant, which explains itself.";
  nanobind::set_leak_warnings(false);  // tables that live until the interpreter ends are no leaks
  module.attr("version") = SEXTANT_VERSION;
  py::bind_errors(module);
  py::bind_tables(module);
  py::bind_biases(module);
  py::bind_function_terms(module);
  py::bind_scheme_list(module);
  py::bind_make_scheme(module);
  py::bind_scheme_weights(module);
  py::bind_attention(module);
  py::bind_backward(module);
  py::bind_merged(module);
  py::bind_inspect(module);
  py::bind_kv_cache(module);
  py::bind_polar(module);
  py::bind_rotate(module);
  py::bind_interop(module);
  py::bind_call_list(module);
  py::bind_models(module);
  py::bind_image_model(module);
  py::bind_pretrained_tokenizer(module);
  py::bind_tensor_file(module);
  py::bind_training(module);
  py::bind_extrapolation(module);
  py::bind_picture(module);
  py::bind_position_pictures(module);
  py::bind_attention_pictures(module);
  py::bind_chart_pictures(module);
  py::bind_sentences(module);
  py::bind_lessons(module);
  py::bind_positions(module);
  py::bind_resize_grid(module);
  py::bind_program(module);
}
