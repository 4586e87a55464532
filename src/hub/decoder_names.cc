// From the names of a family to a table of weights.
#include "hub/decoder_names.h"

#include <string>
#include <utility>
#include <vector>

namespace sextant::hub {
namespace {

// Where the rows of q, then of k, then of v are.
std::vector<StoredRows> fused_rows(const TransformerConfig& c, Fused fused) {
  const std::int64_t size = c.head_dim, q = c.heads * size, kv = c.kv_heads * size;
  std::vector<StoredRows> rows;
  if (fused == Fused::groups) {
    const std::int64_t of_q = q / c.kv_heads, group = of_q + 2 * size;
    for (const auto& [first, count] :
         {StoredRows{0, of_q}, StoredRows{of_q, size}, StoredRows{of_q + size, size}}) {
      for (std::int64_t i = 0; i < c.kv_heads; ++i) rows.push_back({i * group + first, count});
    }
  } else if (fused == Fused::codegen) {
    const std::int64_t part = q / 4;
    for (const std::int64_t first : {std::int64_t{0}, 2 * part, part}) {
      for (std::int64_t i = 0; i < 4; ++i) rows.push_back({i * 3 * part + first, part});
    }
  } else {
    rows.push_back({0, q + 2 * kv});
  }
  return rows;
}

// The prefix of a stack's parameters here, and the parameters that it has.
struct Place {
  std::string stack, positions;
  std::int64_t layers;
  bool cross = false;
};

void add_attention(const TransformerConfig& c, const DecoderNames& names, WeightTable& table) {
  const std::int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  const bool of_qkv = c.bias || c.qkv_bias;
  if (names.qkv.empty()) {
    table.linear("self.in", {{names.q, q}, {names.k, kv}, {names.v, kv}}, c.width, of_qkv,
                 names.stored);
  } else if (names.fused == Fused::parts) {
    table.linear("self.in", {{names.qkv, q + 2 * kv}}, c.width, of_qkv, names.stored);
  } else {
    const std::string name(names.qkv);
    const std::int64_t all = q + 2 * kv;
    table.take_rows("self.in.weight", name + ".weight", {all, c.width}, fused_rows(c, names.fused));
    if (of_qkv) {
      table.take_rows("self.in.bias", name + ".bias", {all}, fused_rows(c, names.fused));
    }
  }
  table.linear("self.out", {{names.out, c.width}}, q, c.bias || c.out_bias, names.stored);
  if (c.qk_norm == QkNorm::none) return;
  const bool all = c.qk_norm == QkNorm::all;
  table.norm("self.q_norm", names.q_norm, all ? q : c.head_dim, c.norm, names.norms);
  table.norm("self.k_norm", names.k_norm, all ? kv : c.head_dim, c.norm, names.norms);
}

void add_feed_forward(const TransformerConfig& c, const DecoderNames& names, WeightTable& table) {
  const bool bias = c.bias || c.ffn_bias;
  if (!is_gated(c.activation)) {
    table.linear("feed_forward.in", {{names.up, c.ffn_width}}, c.width, bias, names.stored);
  } else if (names.gate_up.empty()) {
    table.linear("feed_forward.in", {{names.gate, c.ffn_width}, {names.up, c.ffn_width}}, c.width,
                 bias, names.stored);
  } else {
    table.linear("feed_forward.in", {{names.gate_up, 2 * c.ffn_width}}, c.width, bias,
                 names.stored);
  }
  table.linear("feed_forward.out", {{names.down, c.width}}, c.ffn_width, bias, names.stored);
}

void add_cross(const TransformerConfig& c, const DecoderNames& names, WeightTable& table) {
  const std::int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  table.linear("cross.in", {{names.cross_q, q}, {names.cross_k, kv}, {names.cross_v, kv}}, c.width,
               c.bias || c.qkv_bias, names.stored);
  table.linear("cross.out", {{names.cross_out, c.width}}, q, c.bias || c.out_bias, names.stored);
  table.norm("cross_norm", names.cross_norm, c.width, c.norm, names.norms);
}

void add_layers(const TransformerConfig& c, const DecoderNames& names, const Place& place,
                WeightTable& table) {
  const bool both = c.pre_norm && c.output_norm;
  for (std::int64_t i = 0; i < place.layers; ++i) {
    table.enter(place.stack + std::to_string(i) + ".",
                std::string(names.layers) + std::to_string(i) + ".");
    const auto norm = [&](std::string_view ours, std::string_view theirs) {
      table.norm(ours, theirs, c.width, c.norm, names.norms);
    };
    add_attention(c, names, table);
    if (c.first_norm || i > 0) norm("self_norm", names.self_norm);
    if (both) norm("self_output_norm", names.self_output_norm);
    if (place.cross) add_cross(c, names, table);
    add_feed_forward(c, names, table);
    if (c.parallel_blocks != ParallelBlocks::one_norm) {
      norm("feed_forward_norm", names.feed_forward_norm);
    }
    if (both) norm("feed_forward_output_norm", names.feed_forward_output_norm);
    if (names.residual == 1) continue;
    table.scale_linear("self.out", names.residual);
    table.scale_linear("feed_forward.out", names.residual);
  }
  table.enter("", "");
}

// All of a stack: a learned table, layers, the norms around them.
void add_stack(const TransformerConfig& c, const DecoderNames& names, const Place& place,
               WeightTable& table) {
  if (!names.positions.empty()) {
    table.take_rows(place.positions + "table", std::string(names.positions) + ".weight",
                    {names.first_position + c.length, c.width}, {{names.first_position, c.length}});
  }
  if (c.embedding_norm) {
    table.norm(place.stack + "embedding_norm", names.embedding_norm, c.width, c.norm, names.norms);
  }
  add_layers(c, names, place, table);
  if (c.final_norm) {
    table.norm(place.stack + "final_norm", names.final_norm, c.width, c.norm, names.norms);
  }
}

Place only_stack(const TransformerConfig& c) { return {"stack.", "positions.", c.layers}; }

}  // namespace

void add_layers(const TransformerConfig& c, const DecoderNames& names, WeightTable& table) {
  add_layers(c, names, only_stack(c), table);
}

void add_decoder(const TransformerConfig& c, const DecoderNames& names, WeightTable& table) {
  const std::string embedding = std::string(names.embedding) + ".weight",
                    head = std::string(names.head);
  table.matrix("embedding.weight", embedding, c.vocabulary, c.width);
  add_stack(c, names, only_stack(c), table);
  table.head(head + ".weight", embedding, c, head + ".bias");
}

void add_translator(const TransformerConfig& c, const DecoderNames& encoder,
                    const DecoderNames& decoder, std::string_view embedding, WeightTable& table) {
  table.matrix("embedding.weight", embedding, c.vocabulary, c.width);
  for (const DecoderNames* names : {&encoder, &decoder}) {
    table.copy(std::string(names->embedding) + ".weight", embedding, {c.vocabulary, c.width});
  }
  add_stack(c, encoder, {"encoder.", "encoder_positions.", c.encoder_layers}, table);
  add_stack(c, decoder, {"decoder.", "decoder_positions.", c.layers, true}, table);
  if (c.logits_bias && table.has("final_logits_bias")) {
    table.take_rows("output.bias", "final_logits_bias", {1, c.vocabulary}, {{0, 1}});
  } else if (c.logits_bias) {
    table.constant("output.bias", c.vocabulary, 0);
  }
  const std::string head = std::string(decoder.head) + ".weight";
  if (c.tied) return table.copy(head, embedding, {c.vocabulary, c.width});
  table.matrix("output.weight", head, c.vocabulary, c.width);
}

}  // namespace sextant::hub
