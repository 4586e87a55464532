// Command R of Cohere: blocks side by side after one layer norm without bias, logits with a factor.
// Command R7B (cohere2): three layers of four have a window, the fourth no positions.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig cohere(const ConfigObject& object, const ModelConfig& model) {
  if (object.flag("use_qk_norm").value_or(false)) {
    object.fail("use_qk_norm", "must be false: its norms have separate gains for each head");
  }
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 256000, true);
  c.ffn_width = object.integer_or("intermediate_size", 22528);
  c.activation = gate_of(object, "hidden_act", "silu");
  c.norm_epsilon = object.positive_or("layer_norm_eps", 1e-5);
  c.bias = false;
  c.qkv_bias = c.out_bias = object.flag_or("attention_bias", false);
  c.parallel_blocks = ParallelBlocks::one_norm;
  c.logits_scale = object.positive_or("logit_scale", 0.0625);
  return c;
}

}  // namespace

const Family kCohere = {"cohere", kModelRules, cohere, add_decoder_of<kLlamaNames>};
const Family kCohere2 = {"cohere2", kModelRules, cohere, add_decoder_of<kLlamaNames>};

}  // namespace sextant::hub
