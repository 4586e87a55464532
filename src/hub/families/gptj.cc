// GPT-J (Wang and Komatsuzaki 2021): blocks side by side after one norm, a head with bias. CodeGen
// (Nijkamp et al. 2022, 2203.13474) is the same with one map for q, v and k.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50400, false);
  c.ffn_width = object.integer("n_inner").value_or(4 * c.width);
  c.activation = activation_of(object, "activation_function", "gelu_new");
  c.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  c.bias = false;
  c.ffn_bias = true;
  c.parallel_blocks = ParallelBlocks::one_norm;
  c.logits_bias = c.logits && !is_bare(object);
  return c;
}

TransformerConfig codegen(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model);
  if (c.heads % 4 != 0) object.fail("n_head", "must be a multiple of 4, as the maps are stored");
  return c;
}

constexpr DecoderNames kNames = {.embedding = "wte",
                                 .layers = "h.",
                                 .final_norm = "ln_f",
                                 .q = "attn.q_proj",
                                 .k = "attn.k_proj",
                                 .v = "attn.v_proj",
                                 .out = "attn.out_proj",
                                 .up = "mlp.fc_in",
                                 .down = "mlp.fc_out",
                                 .self_norm = "ln_1",
                                 .norms = NormParts::gain_and_bias};

void add_codegen(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  DecoderNames names = kNames;
  names.qkv = "attn.qkv_proj";
  names.fused = Fused::codegen;
  add_decoder(c, names, table);
}

}  // namespace

const Family kGptj = {"gptj", {"transformer.", kMasks}, read_config, add_decoder_of<kNames>};
const Family kCodegen = {"codegen", {"transformer.", kMasks}, codegen, add_codegen};

}  // namespace sextant::hub
