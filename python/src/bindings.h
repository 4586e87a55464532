// Declares the functions with which each file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace sextant::python {

void bind_errors(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_biases(nanobind::module_& module);
void bind_function_terms(nanobind::module_& module);
void bind_scheme_list(nanobind::module_& module);
void bind_make_scheme(nanobind::module_& module);
void bind_scheme_weights(nanobind::module_& module);
void bind_attention(nanobind::module_& module);
void bind_backward(nanobind::module_& module);
void bind_merged(nanobind::module_& module);
void bind_inspect(nanobind::module_& module);
void bind_kv_cache(nanobind::module_& module);
void bind_polar(nanobind::module_& module);
void bind_rotate(nanobind::module_& module);
void bind_interop(nanobind::module_& module);
void bind_call_list(nanobind::module_& module);
void bind_models(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);   // part of bind_models()
void bind_load(nanobind::module_& module);        // the same
void bind_text_model(nanobind::module_& module);  // the same
void bind_translator(nanobind::module_& module);  // the same
void bind_new_models(nanobind::module_& module);  // the same
void bind_image_model(nanobind::module_& module);
void bind_losses(nanobind::module_& module);      // the same
void bind_optimisers(nanobind::module_& module);  // the same
void bind_pretrained_tokenizer(nanobind::module_& module);
void bind_tensor_file(nanobind::module_& module);
void bind_training(nanobind::module_& module);
void bind_extrapolation(nanobind::module_& module);
void bind_picture(nanobind::module_& module);
void bind_position_pictures(nanobind::module_& module);
void bind_attention_pictures(nanobind::module_& module);
void bind_chart_pictures(nanobind::module_& module);
void bind_sentences(nanobind::module_& module);
void bind_lessons(nanobind::module_& module);
void bind_positions(nanobind::module_& module);
void bind_resize_grid(nanobind::module_& module);
void bind_program(nanobind::module_& module);

}  // namespace sextant::python
