// Our parameters by PyTorch's names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layers/golden_case.h"
#include "sextant/layers/parameters.h"

namespace sextant {

// PyTorch's arrays, joined along their first axis, that are one of ours. A rule is for names that
// begin with `ours`, or with "N." and then `ours`, and puts each of `theirs` in its place:
// "0.self."
// -> "layers.0.self_attn.".
struct GoldenName {
  std::string ours;
  std::vector<std::string> theirs;
};
using GoldenNames = std::vector<GoldenName>;

// nn.TransformerEncoder and nn.TransformerDecoder.
inline GoldenNames transformer_names(bool decoder) {
  GoldenNames names{{"self.in.weight", {"self_attn.in_proj_weight"}},
                    {"self.in.bias", {"self_attn.in_proj_bias"}},
                    {"self.out.", {"self_attn.out_proj."}},
                    {"self_norm.gain", {"norm1.weight"}},
                    {"self_norm.", {"norm1."}},
                    {"feed_forward.in.", {"linear1."}},
                    {"feed_forward.out.", {"linear2."}},
                    {"final_norm.gain", {"norm.weight"}},
                    {"final_norm.", {"norm."}}};
  const std::string last = decoder ? "norm3." : "norm2.";
  names.push_back({"feed_forward_norm.gain", {last + "weight"}});
  names.push_back({"feed_forward_norm.", {last}});
  if (!decoder) return names;
  names.push_back({"cross.in.weight", {"multihead_attn.in_proj_weight"}});
  names.push_back({"cross.in.bias", {"multihead_attn.in_proj_bias"}});
  names.push_back({"cross.out.", {"multihead_attn.out_proj."}});
  names.push_back({"cross_norm.gain", {"norm2.weight"}});
  names.push_back({"cross_norm.", {"norm2."}});
  return names;
}

inline GoldenNames llama_names() {
  return {{"self.in.", {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj."}},
          {"self.out.", {"self_attn.o_proj."}},
          {"self_norm.gain", {"input_layernorm.weight"}},
          {"feed_forward.in.", {"mlp.gate_proj.", "mlp.up_proj."}},
          {"feed_forward.out.", {"mlp.down_proj."}},
          {"feed_forward_norm.gain", {"post_attention_layernorm.weight"}},
          {"final_norm.gain", {"norm.weight"}}};
}

// Theirs for one of ours. `layers`: what stands before the number of a layer ("layers."; for a
// single layer its number is left out too).
inline std::vector<std::string> golden_names(const GoldenNames& rules, std::string_view ours,
                                             const std::string& before, bool single = false) {
  std::string number;
  const std::size_t dot = ours.find('.');
  if (ours.find_first_not_of("0123456789") == dot) {
    if (!single) number = "layers." + std::string(ours.substr(0, dot + 1));
    ours.remove_prefix(dot + 1);
  }
  for (const GoldenName& rule : rules) {
    if (!ours.starts_with(rule.ours)) continue;
    std::vector<std::string> names;
    for (const std::string& theirs : rule.theirs) {
      names.push_back(before + number + theirs + std::string(ours.substr(rule.ours.size())));
    }
    return names;
  }
  throw Error("golden_names", "must have a rule for " + std::string(ours));
}

// Arrays one behind the other along the first axis.
inline Tensor<double> joined(const GoldenCase& golden, const std::string& what,
                             const std::vector<std::string>& names) {
  std::int64_t rows = 0;
  for (const std::string& name : names) rows += golden[what + name].size(0);
  const Tensor<double>& first = golden[what + names.front()];
  Tensor<double> all(first.rank() == 1 ? Shape{rows} : Shape{rows, first.size(1)});
  double* to = all.data();
  for (const std::string& name : names) {
    const auto part = golden[what + name].span();
    to = std::copy(part.begin(), part.end(), to);
  }
  return all;
}

}  // namespace sextant
