// Writes the summary of `sextant attention --json`: inputs and results.
#include <vector>

#include "attention/attention_command.h"
#include "options/scheme_choice.h"
#include "sextant/core/parallel.h"

namespace sextant::app {
namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json rotary_of(const AttentionCommand& command) {
  if (!command.rotates()) return {};
  const Rotary standard;
  return {{"base", command.rotary_base.value_or(standard.base)},
          {"layout", name_of(command.rotary_layout.value_or(standard.layout))}};
}

}  // namespace

Json summary_of(const AttentionCommand& command, const AttentionArrays& arrays,
                const Json& results) {
  Json json;
  json["dtype"] = dtype_name(arrays.at("q").dtype);
  json["threads"] = command.threads > 0 ? command.threads : default_threads();
  for (const auto& [name, path] : command.inputs) {
    const Array& array = arrays.at(name);
    json["inputs"][name] = {
        {"file", path},
        {"dtype", dtype_name(array.dtype)},
        {"shape", std::vector<std::int64_t>(array.shape.begin(), array.shape.end())}};
  }
  Json& options = json["options"];
  options["causal"] = command.causal ? Json(name_of(*command.causal)) : Json();
  options["window"] = {command.window.left, command.window.right};
  options["scale"] = or_null(command.scale);
  options["softcap"] = command.softcap;
  options["dropout"] = command.dropout;
  if (command.dropout > 0) options["dropout_seed"] = command.dropout_seed;
  options["matmul_precision"] = name_of(command.matmul_precision);
  options["alibi"] = command.alibi;
  options["rotary"] = rotary_of(command);
  options["scheme"] = Json();
  if (command.choice.is_given()) {
    options["scheme"] = command.choice.scheme;
    options["parameters"] = command.choice.resolved_parameters();
  }
  if (command.wants("weights")) options["stage"] = name_of(command.stage);
  json["outputs"] = results;
  return json;
}

}  // namespace sextant::app
