// The attention maps of a trained model over a text, all its layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/models/text_model.h"

namespace sextant::figures {

// One kind of attention of a model, all its layers.
struct ModelAttention {
  std::string name, title;             // "cross", "Cross attention"
  std::vector<Tensor<double>> layers;  // [heads, queries, keys] each
  std::vector<std::string> queries, keys;
  std::string caption;                      // what rows and columns are
  std::vector<Tensor<double>> masked = {};  // layers, -infinity for hidden pairs; empty: none
  std::string row_name = "Queries", column_name = "Keys";  // what the tokens of an axis are

  // A translator's pointer network has one map of probabilities, [1, queries, keys], and no heads.
  bool has_heads() const { return name != "copy"; }
};

// All kinds: of a language model "self"; of a translator "encoder", "decoder", "cross" and, where
// it has a pointer, "copy". `target` is a translator's translation; not given: the model's own.
// Throws Error naming figure.text or figure.target for a text of no token, of more than 512, or of
// a token too long, and for a target that the model does not look at; and as the model does.
std::vector<ModelAttention> attend_model(const ModelFolder& folder, const std::string& text,
                                         const std::optional<std::string>& target = {},
                                         int threads = 0);
// The same of models that are loaded, such as dates_translator().
std::vector<ModelAttention> attend_model(const TextTranslator& model, const std::string& text,
                                         const std::optional<std::string>& target = {},
                                         int threads = 0);
std::vector<ModelAttention> attend_model(const TextModel& model, const std::string& text,
                                         int threads = 0);

// What a causal mask and the positions of a kind of layers hide of the attention of `length` tokens
// to themselves: -infinity, else 0; [heads, length, length].
Tensor<double> hidden_pairs(const PositionModule<float>& positions, std::int64_t heads,
                            std::int64_t length, bool causal, std::size_t kind = 0);

// The kind of that name; "": cross attention, or the only kind. Throws Error naming figure.part
// that lists the names.
const ModelAttention& find_part(std::span<const ModelAttention> parts, std::string_view name);

// One layer's maps, all heads (-1) or one. Borrows `part`. Throws Error naming figure.layer or
// figure.head for one that is not there.
HeadMaps maps_of(const ModelAttention& part, std::size_t layer, std::int64_t head = -1);
// The mean of a layer's heads, [queries, keys]; its rows sum to one as theirs do. Throws Error as
// maps_of().
Tensor<double> mean_over_heads(const ModelAttention& part, std::size_t layer);
// One layer's maps as JSON.
std::string attention_json(const ModelAttention& part, std::size_t layer, std::int64_t head = -1);

// One HTML page: all layers of all parts, and their numbers.
std::string attention_page(const TransformerConfig& config, std::span<const ModelAttention> parts,
                           std::int64_t head = -1);

}  // namespace sextant::figures
