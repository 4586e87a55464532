// Scales rotary frequencies by YaRN and NTK-by-parts (Peng et al. 2023, 2309.00071): fast pairs are
// kept, slow ones interpolated, and both tables have an amplitude.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant {

enum class YarnForm {
  released,  // the ramp is linear in the pair's index: the code of every released model
  paper,     // the ramp is linear in the turns over the original length
};

// With theta = base^(-2k / rotary_dim): frequency theta / factor * ramp + theta (1 - ramp).
// Released: corr(r) = rotary_dim ln(original_length / (2 pi r)) / (2 ln base), low =
// floor(corr(beta_fast)) but at least 0, high = ceil(corr(beta_slow)) but at most rotary_dim - 1,
// both unrounded without truncate, high = low + 0.001 if they are equal, and ramp = clip((k - low)
// / (high - low), 0, 1). Paper: ramp = 1 - clip((t - beta_slow) / (beta_fast - beta_slow), 0, 1)
// with t = original_length theta / (2 pi). Cosines and sines are multiplied by the attention
// factor, so scores grow by its square. The base must be above 1.
struct YarnScaling {
  static constexpr std::string_view name = "rotary_yarn";  // name of the scheme
  double factor = 4;                         // > 0, finite: new length over original length
  std::int64_t original_length = 4096;       // 1 .. 2^53
  double beta_fast = 32;                     // >= beta_slow; pairs with more turns are kept
  double beta_slow = 1;                      // > 0; pairs with fewer turns are divided
  bool truncate = true;                      // ramp limits are integers (gpt-oss: false)
  std::optional<double> attention_factor{};  // > 0; unset: by mscale, see yarn_attention_factor()
  double mscale = 0;                         // >= 0
  double mscale_all_dim = 0;                 // >= 0
  YarnForm form = YarnForm::released;
};

// Returns 0.1 mscale ln(factor) + 1, and 1 for factors up to 1 (YaRN's g).
double yarn_mscale(double factor, double mscale = 1) noexcept;
// Returns the factor of the tables: attention_factor if given; else g(mscale) / g(mscale_all_dim)
// if both are not 0; else g(1).
double yarn_attention_factor(const YarnScaling& scaling) noexcept;
// Returns DeepSeek's form of the same: head_dim^(-1/2) (0.1 mscale ln(factor) + 1)^2, the scale of
// scores of models whose tables have the factor 1 (mscale = mscale_all_dim). head_dim is that of
// queries, rotated and unrotated channels together: 192 for DeepSeek-V3. Throws Error unless
// head_dim >= 1, factor > 0 and mscale >= 0.
double yarn_softmax_scale(std::int64_t head_dim, double factor, double mscale = 1);

std::string_view name_of(YarnForm) noexcept;

}  // namespace sextant
