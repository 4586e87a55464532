// Computes and draws the attention maps of a trained model over a text, for all its layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/models/image_model.h"
#include "sextant/models/text_model.h"

namespace sextant::figures {

// One kind of attention of a model, in all its layers.
struct ModelAttention {
  std::string name, title;             // "cross", "Cross attention"
  std::vector<Tensor<double>> layers;  // [heads, queries, keys] each, of MapChoice
  std::vector<std::string> queries, keys;
  std::string caption;                      // describes rows and columns
  std::vector<Tensor<double>> masked = {};  // layers, -infinity for hidden pairs; empty: none
  std::string row_name = "Queries", column_name = "Keys";  // the kind of tokens of an axis
  // The numbers of the first layer, head and query that it has.
  std::int64_t first_layer = 0, first_head = 0, first_query = 0;

  // False for a translator's pointer network, which has one map of probabilities, [1, queries,
  // keys], and no heads.
  bool has_heads() const { return name != "copy"; }
};

// Which maps of a language model to compute; the others take no memory. Unset: all.
struct MapChoice {
  std::optional<std::int64_t> layer, head;  // from 0
  std::int64_t first_row = 0;               // queries [first_row, end_row), from 0
  std::optional<std::int64_t> end_row;      // first_row < end_row <= tokens
};
// The largest number of weights of all chosen maps together; they take up to 32 bytes each.
inline constexpr std::int64_t kMaxMapWeights = std::int64_t{1} << 25;

// Returns all kinds: for a language model "self"; for a translator "encoder", "decoder", "cross"
// and, if it has a pointer, "copy". `target` is a translator's translation, by default the model's
// own, or the second text of a pair for a masked model. Throws an Error with figure.text or
// figure.target for a text of no token, of more than kMaxMapWeights weights, or with a token that
// is too long, and for a target of a model that does not use one; with figure.layer, figure.head or
// figure.rows for choices that do not exist or that a translator does not have; and as the model
// does.
std::vector<ModelAttention> attend_model(const ModelFolder& folder, const std::string& text,
                                         const std::optional<std::string>& target = {},
                                         int threads = 0, const MapChoice& chosen = {});
// Returns the same for loaded models, such as dates_translator().
std::vector<ModelAttention> attend_model(const TextTranslator& model, const std::string& text,
                                         const std::optional<std::string>& target = {},
                                         int threads = 0);
std::vector<ModelAttention> attend_model(const TextModel& model, const std::string& text,
                                         int threads = 0, const MapChoice& chosen = {},
                                         const std::optional<std::string>& second = {});
// Returns "self" of an image [channels, height, width], whose tokens are those of token_names().
// Throws an Error with figure.image for one of another shape or of more than kMaxMapWeights
// weights.
std::vector<ModelAttention> attend_model(const ImageModel& model, View<const float> image,
                                         int threads = 0, const MapChoice& chosen = {});

// Returns the pairs that a causal mask and the positions of a kind of layers hide in the attention
// of `length` tokens to themselves: -infinity, else 0; [heads, rows, length], all or the
// chosen ones.
Tensor<double> hidden_pairs(const PositionModule<float>& positions, std::int64_t heads,
                            std::int64_t length, bool causal, std::size_t kind = 0,
                            const WeightsOptions& chosen = {});

// Returns the kind with this name; "": cross attention, or the only kind. Throws an Error with
// figure.part that lists the names.
const ModelAttention& find_part(std::span<const ModelAttention> parts, std::string_view name);

// Returns one layer's maps, all heads (-1) or one. Borrows `part`. Throws an Error with
// figure.layer or figure.head for one that it does not have.
HeadMaps maps_of(const ModelAttention& part, std::size_t layer, std::int64_t head = -1);
// Returns the mean of a layer's heads, [queries, keys]; its rows sum to one as theirs do. Throws
// Error as maps_of().
Tensor<double> mean_over_heads(const ModelAttention& part, std::size_t layer);
// Returns one layer's maps as JSON.
std::string attention_json(const ModelAttention& part, std::size_t layer, std::int64_t head = -1);

// Returns one HTML page with all layers of all parts and their numbers.
std::string attention_page(const TransformerConfig& config, std::span<const ModelAttention> parts,
                           std::int64_t head = -1);
// The same of a model that these words describe.
std::string attention_page(const std::string& model, std::span<const ModelAttention> parts,
                           std::int64_t head = -1);

}  // namespace sextant::figures
