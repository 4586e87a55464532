// `sextant convert-rotary`: a checkpoint's projections of q and k from one rotary layout to the
// other.
#include <memory>
#include <set>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/model_config_option.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "sextant/interop/convert_checkpoint.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Convert {
  std::string input, output, config, read_as, to, names;
};

RotaryLayout layout_of(const std::string& name) {
  return name == "half_split" ? RotaryLayout::half_split : RotaryLayout::interleaved;
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
  const ModelConfig config = load_model_config(convert.config, convert.read_as);
  SafetensorsFile file = load_safetensors(convert.input);
  const RotaryLayout to = layout_of(convert.to);
  const ConvertedCheckpoint done =
      convert_checkpoint(file, config,
                         {.to = to,
                          .names = parse_module_names(convert.names, "convert-rotary.names"),
                          .checkpoint = convert.input,
                          .config = convert.config});
  save_safetensors(convert.output, file.tensors, file.metadata);

  std::string text;
  for (const std::string& name : done.tensors) {
    text += name + " " + file.tensors.at(name).shape.to_string() + "\n";
  }
  text += "to " + convert.to + ": " + plural(done.tensors.size(), "tensor") + " of the layers " +
          ranges(done.layers) + "; " + plural(file.tensors.size() - done.tensors.size(), "tensor") +
          " copied\n";
  if (!done.missing.empty()) text += "not in this file: layers " + ranges(done.missing) + "\n";
  if (!done.has_layout_tag) {
    text += "the file does not say its layout and was assumed to be " +
            std::string(to == RotaryLayout::half_split ? "interleaved" : "half_split") + "\n";
    if (done.default_layout == to) {
      note("models of the type " + config.model_type + " are usually " + convert.to +
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
  input_file(command.add_option("INPUT", convert->input, "a .safetensors file"))->required();
  output_file(command.add_option("-o,--output", convert->output, "the result, .safetensors"))
      ->required();
  input_file(command.add_option("--config", convert->config,
                                "the model's config.json: heads, channels, rotated layers"))
      ->required();
  add_read_as(command, convert->read_as);
  command.add_option("--to", convert->to, meaning_of("rotary", "layout"))
      ->type_name("LAYOUT")
      ->check(one_of("convert-rotary.to", {"interleaved", "half_split"}))
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
