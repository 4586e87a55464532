// `sextant attend --model`: where a trained model looks, in a text or an image.
#include <tuple>

#include "attention/attend_command.h"
#include "models/image_option.h"
#include "sextant/core/error.h"
#include "sextant/figures/head_roles.h"
#include "sextant/figures/model_attention.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

// --layer, --head and --rows of a language model; a page and the overview have all layers.
figures::MapChoice choice_of(const Attend& attend, const TransformerConfig& config) {
  figures::MapChoice chosen;
  if (attend.rows) {
    if (attend.overview || config.kind == ModelKind::translator) {
      throw Error("attend.rows",
                  attend.overview
                      ? "must not be given with --overview, which needs all rows"
                      : "must be given with a language model, got " + described(config.kind));
    }
    std::tie(chosen.first_row, chosen.end_row) = *attend.rows;
  }
  if (config.kind == ModelKind::translator || attend.overview) return chosen;
  const bool is_page =
      attend.output.format(kAttendFormats, "attend").value_or(Format::text) == Format::html;
  if (!is_page) chosen.layer = attend.layer.value_or(config.layers - 1);
  if (attend.head >= 0) chosen.head = attend.head;
  return chosen;
}

std::size_t chosen_layer(const Attend& attend, const figures::ModelAttention& part) {
  const std::int64_t layers = part.first_layer + std::ssize(part.layers);
  if (!part.has_heads() && (attend.layer || attend.head >= 0)) {
    throw Error(attend.layer ? "attend.layer" : "attend.head",
                "must not be given with --part copy: the pointer has one map");
  }
  return static_cast<std::size_t>(attend.layer.value_or(layers - 1));
}

// All heads: a sheet, or a line each.
void show_overview(const Attend& attend, const figures::ModelAttention& part) {
  for (const auto& [given, name] : {std::pair{attend.layer.has_value(), "layer"},
                                    {attend.head >= 0, "head"},
                                    {attend.lines, "lines"}}) {
    if (given) throw Error(std::string("attend.") + name, "must not be given with --overview");
  }
  const auto heads = figures::head_roles(part);
  const Format format = attend.output.format(kAttendFormats, "attend").value_or(Format::text);
  switch (format) {
    case Format::text:
      return write_result(attend.output, format, aligned(figures::head_role_rows(heads)));
    case Format::json:
      return write_result(attend.output, format, figures::head_roles_json(heads) + "\n");
    case Format::svg:
    case Format::png:
    case Format::pdf:
    case Format::html:
      return write_picture(figures::draw_head_roles(part, heads, attend.output.max_width),
                           part.title, attend.output, format);
    default:
      throw Error("attend.overview",
                  "must be text, json or a picture, got " + std::string(name_of(format)));
  }
}

void show_parts(const Attend& attend, std::span<const figures::ModelAttention> parts,
                const std::function<std::string()>& page) {
  const figures::ModelAttention& part = figures::find_part(parts, attend.part);
  if (attend.overview) return show_overview(attend, part);
  const std::size_t layer = chosen_layer(attend, part);
  const HeadMaps maps = maps_of(part, layer, attend.head);
  double weights = 0;  // of a page, which has all layers of all parts
  for (const auto& each : parts) {
    for (const Tensor<double>& map : each.layers) weights += static_cast<double>(map.count());
  }
  const bool is_page =
      attend.output.format(kAttendFormats, "attend").value_or(Format::text) == Format::html;
  check_written(attend, is_page ? weights : static_cast<double>(maps.weights.count()));
  write_maps(
      attend, maps, [&] { return attention_json(part, layer, attend.head); }, page);
}

}  // namespace

void attend_trained(const Attend& attend) {
  ModelFolder folder =
      attend.model.open({ModelKind::causal, ModelKind::masked, ModelKind::translator});
  const std::string text = attend.text.read("attend.text", kLongestShownText);
  std::optional<std::string> target;
  if (attend.has_second()) target = read_text(attend.second, "attend.target", kLongestShownText);
  const auto parts = figures::attend_model(folder, text, target, attend.model.threads,
                                           choice_of(attend, folder.config));
  if (const auto& other = folder.other_schemes; !other.empty()) {
    folder.config = with_schemes(folder.config, other, folder.replaced_layers);
  }
  show_parts(attend, parts, [&] { return attention_page(folder.config, parts, attend.head); });
}

void attend_image(const Attend& attend) {
  const ImageModel model = open_image_model(attend.model, "attend.model");
  const Tensor<float> image = read_images(attend.image, "attend.image");
  if (image.size(0) != 1) {
    throw Error("attend.image", "must be one image, got " + std::to_string(image.size(0)));
  }
  const auto parts =
      figures::attend_model(model, std::as_const(image).view().select(0, 0), attend.model.threads,
                            choice_of(attend, model.config.transformer()));
  show_parts(attend, parts, [&] {
    return attention_page("Image model, learned positions of patches", parts, attend.head);
  });
}

}  // namespace sextant::app
