// Reads layer_types, or derives the kinds of layers from other keys.
#include "interop/config/layer_kinds.h"

#include <utility>

#include "sextant/core/printable.h"

namespace sextant::interop {
namespace {

class Reader {
 public:
  Reader(const ConfigObject& object, const RotaryFamily& family, const DefaultPositions& defaults,
         std::int64_t layers)
      : object_(object), family_(family), defaults_(defaults), layers_(layers) {}

  LayerKinds read() {
    read_window();
    if (family_.is("llama4_text")) {
      constexpr std::int64_t kChunkOfLlama4 = 8192;
      kinds_.chunk = object_.integer("attention_chunk_size");
      if (object_.is_absent("attention_chunk_size")) kinds_.chunk = kChunkOfLlama4;
    }
    if (object_.flag("use_bidirectional_attention").value_or(false)) {
      object_.fail("use_bidirectional_attention", "must be false, other values are not supported");
    }
    read_pattern();
    read_rotates();
    read_types();
    return std::move(kinds_);
  }

 private:
  void read_types() {
    kinds_.types = default_types();
    const auto given = object_.texts("layer_types");
    if (!given) return;
    check_count("layer_types", given->size());
    for (std::size_t i = 0; i < given->size(); ++i) {
      check_type((*given)[i]);
      // The classes of these model types make all layers equal and ignore the key.
      const bool reads_types =
          family_.is("llama4_text") ||
          (family_.window != LayerWindow::never && family_.window != LayerWindow::always &&
           family_.window != LayerWindow::when_used);
      if (reads_types || (*given)[i] == kinds_.types[i]) continue;
      object_.fail("layer_types", "must be " + kinds_.types[i] + " for layer " + std::to_string(i) +
                                      ": the layers of the model type " +
                                      std::string(family_.name) + " have one type, got " +
                                      (*given)[i]);
    }
    kinds_.types = *given;
  }
  void check_count(std::string_view key, std::size_t count) const {
    if (static_cast<std::int64_t>(count) == layers_) return;
    object_.fail(
        key, "must name all " + std::to_string(layers_) + " layers, got " + std::to_string(count));
  }
  void check_type(const std::string& type) const {
    if (type == "full_attention") return;
    if (type == "sliding_attention" && kinds_.window) return;
    if (type == "chunked_attention" && family_.is("llama4_text")) return;
    object_.fail("layer_types",
                 type == "sliding_attention"
                     ? "must not have sliding_attention where no sliding_window is in use"
                     : "must be full_attention or sliding_attention (Llama 4: or "
                       "chunked_attention), got " +
                           printable_quote(type));
  }

  void read_window() {
    if (family_.is("modernbert")) {
      kinds_.window = object_.integer_or("local_attention", defaults_.window);
      return;
    }
    if (family_.window == LayerWindow::never) {
      object_.not_used({"sliding_window", "use_sliding_window", "max_window_layers"});
      return;
    }
    const bool by_layer = family_.window == LayerWindow::from_layer ||
                          family_.window == LayerWindow::every_second_below;
    const bool asked = by_layer || family_.window == LayerWindow::when_used ||
                       family_.window == LayerWindow::without_rotation;
    if (!asked) object_.not_used({"use_sliding_window"});
    if (!by_layer) object_.not_used({"max_window_layers"});
    if (asked && !object_.flag("use_sliding_window").value_or(false)) {
      object_.integer("sliding_window", 0);  // Qwen writes 0 for none
      object_.integer("max_window_layers", 0);
      return;
    }
    kinds_.window = object_.integer("sliding_window");
    if (object_.is_absent("sliding_window") && defaults_.window > 0) {
      kinds_.window = defaults_.window;
    }
    if (by_layer) {
      window_layers_ = object_.integer_or("max_window_layers", defaults_.window_layers, 0);
    }
  }

  void read_pattern() {
    pattern_ = defaults_.pattern;
    if (pattern_ == 0) return;
    for (const char* key : {"sliding_window_pattern", "global_attn_every_n_layers"}) {
      pattern_ = object_.integer_or(key, pattern_);
    }
    // A class has made this from the first of them; files have it in addition to layer_types.
    pattern_ = object_.integer("_sliding_window_pattern").value_or(pattern_);
  }

  bool has_window(std::int64_t layer) const {
    switch (family_.window) {
      case LayerWindow::never:
        return false;
      case LayerWindow::always:
      case LayerWindow::when_used:
        return true;
      case LayerWindow::from_layer:
        return layer >= window_layers_;
      case LayerWindow::every_second_below:
        return layer % 2 == 0 && layer < window_layers_;
      case LayerWindow::without_rotation:
        return !kinds_.rotates[static_cast<std::size_t>(layer)];
      case LayerWindow::by_pattern:
        break;
    }
    // ModernBERT starts with a layer that sees everything, the others end a group with it.
    return (family_.is("modernbert") ? layer : layer + 1) % pattern_ != 0;
  }

  std::vector<std::string> default_types() const {
    std::vector<std::string> types(static_cast<std::size_t>(layers_), "full_attention");
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (kinds_.window && has_window(static_cast<std::int64_t>(i))) types[i] = "sliding_attention";
      if (family_.is("llama4_text") && kinds_.rotates[i] && kinds_.chunk) {
        types[i] = "chunked_attention";
      }
    }
    return types;
  }

  void read_rotates() {
    kinds_.rotates.assign(static_cast<std::size_t>(layers_), true);
    if (family_.no_rotation != NoRotation::by_list) return;
    const std::int64_t interval = object_.integer_or("no_rope_layer_interval", 4);
    for (std::int64_t i = 0; i < layers_; ++i) {
      kinds_.rotates[static_cast<std::size_t>(i)] = (i + 1) % interval != 0;
    }
    const Json list = object_.json().value("no_rope_layers", Json());
    object_.has("no_rope_layers");
    if (list.is_array() && list.empty()) return;  // Llama 4 writes [] for "by the interval"
    const auto given = object_.integers("no_rope_layers");
    if (!given) return;
    check_count("no_rope_layers", given->size());
    for (std::size_t i = 0; i < given->size(); ++i) {
      if ((*given)[i] > 1) object_.fail("no_rope_layers", "must be 1 (rotates) or 0 (does not)");
      kinds_.rotates[i] = (*given)[i] == 1;
    }
  }

  const ConfigObject& object_;
  const RotaryFamily& family_;
  const DefaultPositions& defaults_;
  const std::int64_t layers_;
  std::int64_t window_layers_ = 0, pattern_ = 0;
  LayerKinds kinds_;
};

}  // namespace

LayerKinds read_layer_kinds(const ConfigObject& object, const RotaryFamily& family,
                            const DefaultPositions& defaults, std::int64_t layers) {
  return Reader(object, family, defaults, layers).read();
}

}  // namespace sextant::interop
