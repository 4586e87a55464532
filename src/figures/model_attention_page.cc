// The attention maps of a trained model as numbers and as a page.
#include <utility>

#include "core/json/json_text.h"
#include "core/text/strings.h"
#include "figures/map_choice.h"
#include "sextant/core/error.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/model_attention.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/pictures/page.h"

namespace sextant::figures {
namespace {

Json json_of(const ModelAttention& part, std::size_t layer, std::int64_t head) {
  const HeadMaps maps = maps_of(part, layer, head);
  Json json;
  json["part"] = part.name;
  json["layer"] = maps.has_heads ? Json(layer) : Json();
  json["queries"] = maps.queries;
  json["keys"] = maps.keys;
  if (part.first_query > 0) json["first_query"] = part.first_query;
  json["heads"] = maps.weights.size(0);
  if (maps.head >= 0) json["head"] = maps.head;
  json["weights"] = rows_as_json(maps.weights);
  return json;
}

}  // namespace

const ModelAttention& find_part(std::span<const ModelAttention> parts, std::string_view name) {
  const std::string wanted(!name.empty() ? name : parts.size() > 1 ? "cross" : parts[0].name);
  for (const ModelAttention& part : parts) {
    if (part.name == wanted) return part;
  }
  throw Error("figure.part", "must be " + joined(parts, " | ", &ModelAttention::name) +
                                 " for this model, got '" + wanted + "'");
}

HeadMaps maps_of(const ModelAttention& part, std::size_t layer, std::int64_t head) {
  const auto first = static_cast<std::size_t>(part.first_layer);
  if (layer < first || layer - first >= part.layers.size()) {
    throw Error("figure.layer", "must be " + std::to_string(first) + " .. " +
                                    std::to_string(first + part.layers.size() - 1) + ", got " +
                                    std::to_string(layer));
  }
  HeadMaps maps;
  maps.has_heads = part.has_heads();
  maps.head = maps.has_heads ? head : -1;
  const std::int64_t index = maps.head < 0 ? -1 : maps.head - part.first_head;
  if (maps.head >= 0 && index < 0) {
    throw Error("figure.head", "must be " + std::to_string(part.first_head) + ", got " +
                                   std::to_string(maps.head));
  }
  maps.weights = chosen_heads(part.layers[layer - first].view(), index);
  if (!part.masked.empty()) maps.masked = chosen_heads(part.masked[layer - first].view(), index);
  maps.queries = part.queries;
  maps.keys = part.keys;
  maps.row_name = part.row_name;
  maps.column_name = part.column_name;
  maps.title = part.title + (maps.has_heads ? ", layer " + std::to_string(layer) : "");
  return maps;
}

Tensor<double> mean_over_heads(const ModelAttention& part, std::size_t layer) {
  const View<const double> weights = maps_of(part, layer).weights;
  const std::int64_t heads = weights.size(0), queries = weights.size(1), keys = weights.size(2);
  Tensor<double> mean({queries, keys});
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        mean(i, j) += weights(head, i, j) / static_cast<double>(heads);
      }
    }
  }
  return mean;
}

std::string attention_json(const ModelAttention& part, std::size_t layer, std::int64_t head) {
  return to_text(json_of(part, layer, head));
}

std::string attention_page(const TransformerConfig& config, std::span<const ModelAttention> parts,
                           std::int64_t head) {
  return attention_page(capital(described(config.kind).substr(2)) + ", " + title_of(config.schemes),
                        parts, head);
}

std::string attention_page(const std::string& model, std::span<const ModelAttention> parts,
                           std::int64_t head) {
  Page page("Attention of a trained model",
            model + ". Rows ask, columns answer; rows of attention sum to one.");
  Json data = Json::array();
  for (const ModelAttention& part : parts) {
    page.section(part.title);
    for (std::size_t layer = 0; layer < part.layers.size(); ++layer) {
      const HeadMaps maps = maps_of(part, static_cast<std::size_t>(part.first_layer) + layer, head);
      page.picture(draw_maps(maps), draw_maps(maps, kNarrow), layer == 0 ? part.caption : "");
      data.push_back(json_of(part, static_cast<std::size_t>(part.first_layer) + layer, head));
    }
  }
  page.data("attention.json", to_text(data));
  return page.html();
}

}  // namespace sextant::figures
