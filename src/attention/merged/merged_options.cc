// Options of calls that are merged from parts.
#include "attention/merged/merged_options.h"

#include <string>
#include <variant>

#include "attention/call/refuse.h"
#include "core/numbers/max_position.h"
#include "sextant/core/options.h"

namespace sextant::attention_detail {
namespace {

// Calls absent(is given, name) for the options that depend on distances or divide a text.
template <class Absent>
void for_each_distance_option(const AttentionOptions<float>& options, const Absent& absent) {
  absent(options.window.left != -1 || options.window.right != -1, "window");
  absent(!options.segments.empty(), "segments");
  absent(!options.key_segments.empty(), "key_segments");
  absent(options.query_positions.count() > 0, "query_positions");
  absent(options.key_positions.count() > 0, "key_positions");
  absent(options.bias != nullptr, "bias");
  absent(!options.terms.empty(), "terms");
}

}  // namespace

void check_merged_options(std::string_view function, const AttentionOptions<float>& options) {
  const auto absent = [&](bool given, std::string_view name) {
    if (given)
      refuse(function, name, "must be absent: the parts of the call have distances of their own");
  };
  if (options.rotation == nullptr) {
    refuse(function, "rotation", "must be given: the call rotates to other distances");
  }
  for_each_distance_option(options, absent);
}

void check_causal_text(std::string_view function, View<const float> q, View<const float> k,
                       const AttentionOptions<float>& options, const std::string& form) {
  check_array(function, "q", q, "[batch, heads, length, head_dim]");
  check_array(function, "k", k, "[batch, kv_heads, length, head_dim]");
  if (q.size(2) != k.size(2)) {
    refuse(function, "k",
           "must have the length of q, " + std::to_string(q.size(2)) + ", got " +
               std::to_string(k.size(2)) + ": tokens attend among themselves");
  }
  const Causal causal = options.causal.value_or(Causal::none);
  if (causal != Causal::top_left && causal != Causal::bottom_right) {
    refuse(function, "causal",
           "must be top_left or bottom_right: in " + form + " earlier tokens act on later ones");
  }
  const auto absent = [&](bool given, std::string_view name) {
    if (given) refuse(function, name, "must be absent: " + form + " has no such form");
  };
  absent(!options.query_offsets.empty(), "query_offsets");
  absent(!std::holds_alternative<std::monostate>(options.mask), "mask");
  absent(!options.key_lengths.empty(), "key_lengths");
  for_each_distance_option(options, absent);
  absent(options.dropout != 0, "dropout");
}

void check_only_rows(std::string_view function, const AttentionGradients<float>& gradients,
                     bool has_sinks) {
  if (gradients.bias.values.count() > 0 || gradients.bias.slopes.count() > 0 ||
      gradients.mask.count() > 0 || !gradients.terms.empty() ||
      (!has_sinks && gradients.sinks.count() > 0)) {
    refuse(
        function, "gradients",
        has_sinks ? "must be those of q, k, v and sinks alone" : "must be those of q, k, v alone");
  }
}

std::vector<std::int64_t> merged_offsets(std::string_view function, View<const float> q,
                                         View<const float> k,
                                         const AttentionOptions<float>& options) {
  const Causal causal = options.causal.value_or(Causal::none);
  const auto batch = static_cast<std::size_t>(q.size(0));
  const auto one_each = [&](std::span<const std::int64_t> list, std::string_view name) {
    if (list.size() == batch) return;
    refuse(function, name,
           "must have " + std::to_string(batch) + " entries, one for each batch row, got " +
               std::to_string(list.size()));
  };
  if (causal != Causal::at_offsets && !options.query_offsets.empty()) {
    refuse(function, "query_offsets", "must be absent unless causal is at_offsets");
  }
  std::vector<std::int64_t> offsets(batch, 0);
  switch (causal) {
    case Causal::none:
      refuse(function, "causal", "must be given: distances are from later queries to earlier keys");
    case Causal::top_left:
      break;
    case Causal::bottom_right:
      std::fill(offsets.begin(), offsets.end(), k.size(2) - q.size(2));
      break;
    case Causal::at_offsets:
      one_each(options.query_offsets, "query_offsets");
      std::copy(options.query_offsets.begin(), options.query_offsets.end(), offsets.begin());
      break;
    case Causal::at_lengths:
      one_each(options.key_lengths, "key_lengths");
      for (std::size_t b = 0; b < batch; ++b) offsets[b] = options.key_lengths[b] - q.size(2);
      break;
  }
  for (const std::int64_t offset : offsets) {
    check_range(IntegerRange{-kMaxPosition, kMaxPosition}, name_in(function, "query_offsets"),
                offset);
  }
  return offsets;
}

}  // namespace sextant::attention_detail
