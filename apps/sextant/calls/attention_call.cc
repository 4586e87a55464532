// The call of `sextant attention`.
#include <string>

#include "calls/calls.h"
#include "core/text/strings.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"

namespace sextant::app {
namespace {

std::string loaded(const std::string& path) { return "numpy.load(" + string_literal(path) + ")"; }

std::string pair_of(const Window& window) {
  return std::to_string(window.left) + ", " + std::to_string(window.right);
}

// A scheme's table for all positions of q and k, as the argument that takes it.
void add_scheme(const SchemeSpec& scheme, std::vector<std::string>& biases, Arguments& arguments) {
  const SchemeKind kind = find_scheme(scheme.scheme).kind;
  if (kind == SchemeKind::none) return;
  Arguments of_table;
  of_table.add("max(q.shape[2], k.shape[2])");
  if (kind != SchemeKind::rotated) of_table.add("q.shape[1]");
  if (kind == SchemeKind::rotated || kind == SchemeKind::content) of_table.add("q.shape[3]");
  add_parameters(of_table, scheme);
  const std::string table = "sextant." + scheme.scheme + "(" + of_table.text() + ")";
  if (kind == SchemeKind::rotated) {
    arguments.add("rotation", table);
  } else {
    biases.push_back(table);
  }
}

std::string python_options(const AttentionCommand& command) {
  Arguments options;
  std::vector<std::string> biases;
  const auto& files = command.inputs;
  const auto add_file = [&](const char* file, const char* name) {
    const auto found = files.find(file);
    if (found != files.end()) options.add(name, loaded(found->second));
  };
  if (command.causal) options.add("causal", string_literal(name_of(*command.causal)));
  if (command.window.left >= 0 || command.window.right >= 0) {
    options.add("window", "(" + pair_of(command.window) + ")");
  }
  add_file("mask", "mask");
  if (files.contains("bias")) biases.push_back(loaded(files.at("bias")));
  if (command.scale) options.add("scale", shortest(*command.scale));
  if (command.softcap > 0) options.add("softcap", shortest(command.softcap));
  if (command.dropout > 0) {
    options.add("dropout", shortest(command.dropout));
    options.add("dropout_seed", std::to_string(command.dropout_seed));
  }
  if (command.matmul_precision != MatmulPrecision::float32) {
    options.add("matmul_precision", string_literal(name_of(command.matmul_precision)));
  }
  add_file("segments", "segments");
  add_file("key-segments", "key_segments");
  add_file("key-lengths", "key_lengths");
  add_file("query-offsets", "query_offsets");
  if (files.contains("query-positions")) {
    options.add("positions", "(" + loaded(files.at("query-positions")) + ", " +
                                 loaded(files.at("key-positions")) + ")");
  }
  add_file("sinks", "sinks");
  if (command.rotates()) {
    SchemeSpec rotary("rotary");
    if (command.rotary_base) rotary.parameters["base"] = shortest(*command.rotary_base);
    if (command.rotary_layout) rotary.parameters["layout"] = name_of(*command.rotary_layout);
    add_scheme(rotary, biases, options);
  }
  if (command.alibi) add_scheme("alibi", biases, options);
  for (const SchemeSpec& scheme : command.choice.positions()) {
    add_scheme(scheme, biases, options);
  }
  if (biases.size() == 1) options.add("bias", biases[0]);
  if (biases.size() > 1) options.add("bias", "[" + joined(biases, ", ") + "]");
  if (command.threads != 0) options.add("threads", std::to_string(command.threads));
  return options.text();
}

std::string python_call(const AttentionCommand& command) {
  std::string text = "import numpy\n\n";
  for (const char* name : {"q", "k", "v"}) {
    text += std::string(name) + " = " + loaded(command.inputs.at(name)) + "\n";
  }
  const bool has_output = command.wants("output") || command.wants("log-sum-exp");
  const bool has_gradients = command.inputs.contains("dout");
  std::string options = python_options(command);
  if (has_output + has_gradients + command.wants("weights") + command.explain > 1) {
    text += "options = dict(" + options + ")\n";
    options = "**options";
  }
  const auto save = [&](const std::string& output, const std::string& value) {
    if (!command.wants(output)) return;
    const std::string& path = command.outputs.at(output);
    text += path == "-" ? "" : "numpy.save(" + string_literal(path) + ", " + value + ")\n";
  };
  const auto call = [&](const std::string& function, std::string arguments) {
    if (!options.empty()) arguments += ", " + options;
    return "sextant." + function + "(" + arguments + ")\n";
  };
  if (command.explain) text += "print(" + call("plan", "q, k, v");
  if (command.explain) text.insert(text.size() - 1, ".explain())");
  if (has_output) {
    const bool sums = command.wants("log-sum-exp");
    if (sums) text += "log_sum_exp = numpy.empty(q.shape[:3], numpy.float32)\n";
    text += "out = " + call("attention", sums ? "q, k, v, log_sum_exp=log_sum_exp" : "q, k, v");
    save("log-sum-exp", "log_sum_exp");
    save("output", "out");
  }
  if (command.wants("weights")) {
    const std::string stage = command.stage == Stage::probabilities
                                  ? ""
                                  : ", stage=" + string_literal(name_of(command.stage));
    text += "weights = " + call("attention_weights", "q, k" + stage);
    save("weights", "weights");
  }
  if (has_gradients) {
    text += "gradients = " +
            call("attention_backward", loaded(command.inputs.at("dout")) + ", q, k, v");
    for (const char* name : {"dq", "dk", "dv", "dbias", "dmask", "dslopes", "dsinks"}) {
      save(name, std::string("gradients.") + name);
    }
  }
  text.pop_back();
  return text;
}

// Returns the options that Python's call does not support, or that depend on the arrays.
std::string missing_in_python(const AttentionCommand& command) {
  if (command.ranks.is_given()) return "--ranks";
  if (command.dtype == "bfloat16") return "--dtype bfloat16";
  if (!command.choice.weights_file.empty()) return "--scheme-weights";
  if (command.wants("dscheme")) return "--dscheme";
  if (command.alibi && command.inputs.contains("bias")) return "--alibi";
  const bool has_tables = command.rotates() || command.choice.is_given();
  for (const char* ids : {"query-offsets", "query-positions"}) {
    if (has_tables && command.inputs.contains(ids)) return std::string("--") + ids;
  }
  for (const auto& [name, path] : command.inputs) {
    if (path == "-") return "-";
  }
  return "";
}

std::string missing_in_cpp(const AttentionCommand& command) {
  if (command.ranks.is_given()) return "--ranks";
  if (command.choice.is_given()) return "--scheme";
  if (command.wants("weights")) return "--weights";
  for (const char* name : {"mask", "bias", "dout", "query-positions"}) {
    if (command.inputs.contains(name)) return std::string("--") + name;
  }
  for (const auto& [name, path] : command.inputs) {
    if (path == "-") return "-";
  }
  return "";
}

std::string cpp_call(const AttentionCommand& command) {
  const std::string type = command.dtype.empty() || command.dtype == "float32" ? "float"
                           : command.dtype == "float64"                        ? "double"
                                                        : "sextant::" + command.dtype;
  std::string text;
  const auto load = [&](const std::string& variable, const std::string& file,
                        const std::string& element) {
    text += "const auto " + variable + " = sextant::load_npy(" +
            string_literal(command.inputs.at(file)) + ").to<" + element + ">();\n";
  };
  for (const char* name : {"q", "k", "v"}) load(name, name, type);
  text += "sextant::AttentionOptions<" + type + "> options;\n";
  const auto set = [&text](const std::string& member, const std::string& value) {
    text += "options." + member + " = " + value + ";\n";
  };
  if (command.causal) set("causal", "sextant::Causal::" + std::string(name_of(*command.causal)));
  if (command.window.left >= 0 || command.window.right >= 0) {
    set("window", "{" + pair_of(command.window) + "}");
  }
  if (command.scale) set("scale", shortest(*command.scale));
  if (command.softcap > 0) set("softcap", shortest(command.softcap));
  if (command.dropout > 0) {
    set("dropout", shortest(command.dropout));
    set("dropout_seed", std::to_string(command.dropout_seed));
  }
  if (command.matmul_precision != MatmulPrecision::float32) {
    set("matmul_precision",
        "sextant::MatmulPrecision::" + std::string(name_of(command.matmul_precision)));
  }
  const std::pair<const char*, const char*> lists[] = {{"segments", "segments"},
                                                       {"key-segments", "key_segments"},
                                                       {"key-lengths", "key_lengths"},
                                                       {"query-offsets", "query_offsets"},
                                                       {"sinks", "sinks"}};
  for (const auto& [file, member] : lists) {
    if (!command.inputs.contains(file)) continue;
    load(member, file, std::string_view(file) == "sinks" ? "double" : "std::int64_t");
    set(member, std::string(member) + ".span()");
  }
  if (command.alibi) {
    text += "sextant::DistanceBias bias;\nbias.slopes = sextant::alibi_slopes(q.size(1));\n";
    set("bias", "&bias");
  }
  if (command.rotates()) {
    text += "sextant::Rotary rotary{.head_dim = q.size(3)};\n";
    if (command.rotary_base) text += "rotary.base = " + shortest(*command.rotary_base) + ";\n";
    if (command.rotary_layout) {
      text +=
          "rotary.layout = sextant::RotaryLayout::" + std::string(name_of(*command.rotary_layout)) +
          ";\n";
    }
    text += "const auto rotation = sextant::rotary(rotary, std::max(q.size(2), k.size(2)));\n";
    set("rotation", "&rotation");
  }
  if (command.threads != 0) set("threads", std::to_string(command.threads));
  text += "sextant::Tensor<" + type + "> out({q.size(0), q.size(1), q.size(2), v.size(3)});\n";
  const bool sums = command.wants("log-sum-exp");
  if (sums) text += "sextant::Tensor<float> log_sum_exp({q.size(0), q.size(1), q.size(2)});\n";
  text += "sextant::attention<" + type + ">(q, k, v, out, options" +
          (sums ? ", log_sum_exp.view()" : "") + ");";
  const auto save = [&](const char* output, const char* variable) {
    const auto file = command.outputs.find(output);
    if (file == command.outputs.end() || file->second == "-") return;
    text += "\nsextant::save_npy(" + string_literal(file->second) + ", " + variable + ");";
  };
  save("log-sum-exp", "log_sum_exp");
  save("output", "out");
  return text;
}

}  // namespace

PrintedCall call_of(const AttentionCommand& command) {
  PrintedCall call{.python = {},
                   .cpp = {},
                   .missing = missing_in_python(command),
                   .missing_cpp = missing_in_cpp(command)};
  if (call.missing.empty()) call.python = python_call(command);
  if (call.missing_cpp.empty()) call.cpp = cpp_call(command);
  return call;
}

}  // namespace sextant::app
