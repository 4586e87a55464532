// `sextant convert-rotary`: a checkpoint's projections of q and k from one rotary layout to the
// other.
#include <memory>
#include <set>

#include "commands.h"
#include "models/rotary_tensors.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

constexpr const char* kMark = "rotary_layout";

struct Convert {
  std::string input, output, config, to, names;
};

RotaryLayout layout_of(const std::string& name) {
  return name == "half_split" ? RotaryLayout::half_split : RotaryLayout::interleaved;
}

void check_mark(const Convert& convert, const SafetensorsFile& file) {
  const auto mark = file.metadata.find(kMark);
  if (mark == file.metadata.end()) return;
  if (mark->second == convert.to) {
    throw Error(convert.input, "is " + convert.to +
                                   " already, as its metadata says (rotary_layout): converting it "
                                   "again would make it wrong");
  }
  if (mark->second != "half_split" && mark->second != "interleaved") {
    throw Error(convert.input,
                "must have half_split or interleaved as rotary_layout in its "
                "metadata, got " +
                    quoted_name(mark->second));
  }
}

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// "0-2, 4, 6-7"
std::string ranges(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
  }
  return text;
}

void run(const Convert& convert) {
  const ModelConfig config = load_model_config(convert.config);
  const auto names = parse_module_names(convert.names, "convert-rotary.names");
  std::set<std::int64_t> rotating;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (rotates(config.layers[i])) rotating.insert(static_cast<std::int64_t>(i));
  }
  if (rotating.empty()) {
    throw Error(convert.config, "must be of a model that rotates, got the model type " +
                                    quoted_name(config.model_type) + ", in which no layer does");
  }
  SafetensorsFile file = load_safetensors(convert.input);
  check_mark(convert, file);
  const bool marked = file.metadata.contains(kMark);

  std::string text;
  std::set<std::int64_t> done;
  std::size_t changed = 0;
  for (auto& [name, array] : file.tensors) {
    const auto tensor = rotary_tensor(name, config, names, convert.input);
    if (!tensor) continue;
    convert_tensor(*tensor, name, array, layer_positions(config, tensor->layer),
                   layout_of(convert.to), convert.input);
    text += name + " " + array.shape.to_string() + "\n";
    done.insert(tensor->layer);
    ++changed;
  }
  if (changed == 0) {
    throw Error(convert.input,
                "must have projections of q or k of a layer that rotates, got none with a known "
                "name (give theirs with --names)");
  }
  file.metadata[kMark] = convert.to;
  save_safetensors(convert.output, file.tensors, file.metadata);

  text += "to " + convert.to + ": " + plural(changed, "tensor") + " of the layers " + ranges(done) +
          "; " + plural(file.tensors.size() - changed, "tensor") + " copied\n";
  std::set<std::int64_t> missing;
  for (const std::int64_t layer : rotating) {
    if (!done.contains(layer)) missing.insert(layer);
  }
  if (!missing.empty()) text += "not in this file: layers " + ranges(missing) + "\n";
  if (!marked) {
    const bool to_half = convert.to == "half_split";
    text += "the file does not say its layout and was assumed to be " +
            std::string(to_half ? "interleaved" : "half_split") + "\n";
    const std::string& usual = layer_positions(config, *rotating.begin()).parameters.at("layout");
    if (usual == convert.to) {
      note("models of the type " + config.model_type + " are usually " + usual +
           ": make sure that this file was not");
    }
  }
  print(text);
}

}  // namespace

void add_convert_rotary(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "convert-rotary",
      "convert a checkpoint between the rotary layouts\n"
      "Permutes the rows of the projections of q and k, their biases and their norms' weights, per "
      "head, so that a program that uses the other layout computes the same scores. All other "
      "tensors are copied byte for byte. The layout is written into the metadata, so that a file "
      "is not converted twice.");
  auto convert = std::make_shared<Convert>();
  command.add_option("INPUT", convert->input, "a .safetensors file")->required();
  command.add_option("-o,--output", convert->output, "the result, .safetensors")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--config", convert->config,
                  "the model's config.json: heads, channels, which layers rotate")
      ->type_name("FILE")
      ->required();
  command.add_option("--to", convert->to, "interleaved | half_split")
      ->type_name("LAYOUT")
      ->check(CLI::IsMember({"interleaved", "half_split"}))
      ->required();
  command
      .add_option(
          "--names", convert->names,
          "more module names, given by their last part, such as q=attention.query,k=attention.key; "
          "kinds: q, k, qkv, qkv_by_group, q_norm, k_norm")
      ->type_name("LIST");
  command.footer(
      "Examples:\n"
      "  sextant convert-rotary model.safetensors -o meta.safetensors --config config.json --to "
      "interleaved\n"
      "  sextant convert-rotary meta.safetensors -o model.safetensors --config config.json --to "
      "half_split");
  command.callback([convert, &job] {
    parse_module_names(convert->names, "convert-rotary.names");
    job = [convert] { run(*convert); };
  });
}

}  // namespace sextant::app
