// YaRN: the ramp from kept to interpolated pairs, and the amplitude.
#include "sextant/schemes/rotated/rotary_yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/options/enum_names.h"
#include "schemes/rotated/frequencies.h"
#include "schemes/rotated/rotary_scheme.h"

namespace sextant {
namespace {

WideFloat clipped(const WideFloat& x) {
  const WideFloat one(1.0);
  if (x.is_negative()) return {};
  return (one - x).is_negative() ? one : x;
}

// Where the ramp of the released form begins and ends. `Real` is WideFloat or double.
template <class Real>
struct RampLimits {
  Real low, high;
};

RampLimits<WideFloat> exact_limits(const YarnScaling& scaling, const Rotation& rotation) {
  const WideFloat twice_log_base = log(WideFloat(rotation.base)).times_power_of_two(1);
  const WideFloat per_log =
      WideFloat(static_cast<double>(rotation.dim)) * reciprocal(twice_log_base);
  const WideFloat length(static_cast<double>(scaling.original_length));
  const auto index_of = [&](double turns) {
    const WideFloat radians = wide_pi().times_power_of_two(1) * WideFloat(turns);
    return per_log * (log(length) - log(radians));
  };
  RampLimits<WideFloat> limits = {index_of(scaling.beta_fast), index_of(scaling.beta_slow)};
  if (scaling.truncate) {
    limits = {WideFloat(std::floor(limits.low.to_double())),
              WideFloat(std::ceil(limits.high.to_double()))};
  }
  const WideFloat last(static_cast<double>(rotation.dim - 1));
  if (limits.low.is_negative()) limits.low = {};
  if ((last - limits.high).is_negative()) limits.high = last;
  if ((limits.high - limits.low).is_zero()) limits.high = limits.high + WideFloat(1.0) / 1000;
  return limits;
}

RampLimits<double> framework_limits(const YarnScaling& scaling, const Rotation& rotation) {
  const auto index_of = [&](double turns) {
    return static_cast<double>(rotation.dim) *
           std::log(static_cast<double>(scaling.original_length) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rotation.base));
  };
  RampLimits<double> limits = {index_of(scaling.beta_fast), index_of(scaling.beta_slow)};
  if (scaling.truncate) limits = {std::floor(limits.low), std::ceil(limits.high)};
  limits = {std::max(limits.low, 0.0),
            std::min(limits.high, static_cast<double>(rotation.dim - 1))};
  if (limits.low == limits.high) limits.high += 0.001;
  return limits;
}

// How far each pair is interpolated, 0 .. 1, exactly.
std::vector<WideFloat> exact_ramp(const YarnScaling& scaling, const Rotation& rotation) {
  std::vector<WideFloat> ramp;
  if (scaling.form == YarnForm::paper) {
    const WideFloat turns_per_radian = WideFloat(static_cast<double>(scaling.original_length)) *
                                       reciprocal(wide_pi().times_power_of_two(1));
    const WideFloat slow(scaling.beta_slow);
    const WideFloat range = WideFloat(scaling.beta_fast) - slow;
    for (const WideFloat& theta : rotation.frequencies) {
      const WideFloat above = theta * turns_per_radian - slow;
      const WideFloat kept = range.is_zero() ? WideFloat(above.is_negative() ? 0.0 : 1.0)
                                             : clipped(above * reciprocal(range));
      ramp.push_back(WideFloat(1.0) - kept);
    }
    return ramp;
  }
  const RampLimits<WideFloat> limits = exact_limits(scaling, rotation);
  const WideFloat slope = reciprocal(limits.high - limits.low);
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    ramp.push_back(clipped((WideFloat(static_cast<double>(k)) - limits.low) * slope));
  }
  return ramp;
}

// The same in float32, as Hugging Face orders it.
std::vector<float> framework_ramp(const YarnScaling& scaling, const Rotation& rotation) {
  std::vector<float> ramp;
  if (scaling.form == YarnForm::paper) {  // no framework has this form: the exact ramp, rounded
    for (const WideFloat& x : exact_ramp(scaling, rotation)) {
      ramp.push_back(static_cast<float>(x.to_double()));
    }
    return ramp;
  }
  const RampLimits<double> limits = framework_limits(scaling, rotation);
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    const float along = (static_cast<float>(k) - static_cast<float>(limits.low)) /
                        static_cast<float>(limits.high - limits.low);
    ramp.push_back(std::clamp(along, 0.0F, 1.0F));
  }
  return ramp;
}

}  // namespace

template <>
inline constexpr auto kMeanings<YarnForm> =
    meanings("index of the pair, as in the code of every released model",
             "turns over original_length, as in the paper");

template <>
inline constexpr auto kFields<YarnScaling> = std::tuple{
    field(&YarnScaling::factor, "factor", kAboveZero, "new length / original_length"),
    field(&YarnScaling::original_length, "original_length", kLengths, "trained length"),
    field(&YarnScaling::beta_fast, "beta_fast", kAboveZero,
          "pairs with more than beta_fast turns over original_length are unchanged")
        .with_condition("at least beta_slow"),
    field(&YarnScaling::beta_slow, "beta_slow", kAboveZero,
          "pairs with fewer than beta_slow turns over original_length are divided by factor"),
    field(&YarnScaling::truncate, "truncate", "round the ends of the ramp to whole pairs"),
    field(&YarnScaling::attention_factor, "attention_factor", kAboveZero,
          "factor of the tables; auto: from mscale and mscale_all_dim, or 0.1 ln(factor) + 1"),
    field(&YarnScaling::mscale, "mscale", kNotNegative,
          "with mscale_all_dim: attention_factor is the ratio of their factors"),
    field(&YarnScaling::mscale_all_dim, "mscale_all_dim", kNotNegative,
          "see mscale; DeepSeek sets both to 1 and scales its scores"),
    field(&YarnScaling::form, "form", "variable in which the ramp is linear")};

void scale(Rotation& rotation, const YarnScaling& scaling, std::int64_t) {
  check_fields(rotation.scheme, scaling);
  if (rotation.base <= 1) {
    throw Error(rotation.where("base"), "must be above 1, got " + shortest(rotation.base));
  }
  if (scaling.beta_fast < scaling.beta_slow) {
    throw Error(rotation.where("beta_fast"), "must be at least beta_slow, " +
                                                 shortest(scaling.beta_slow) + ", got " +
                                                 shortest(scaling.beta_fast));
  }
  const std::vector<WideFloat> ramp = exact_ramp(scaling, rotation);
  const WideFloat inverse = reciprocal(WideFloat(scaling.factor));
  const std::vector<float> float_ramp = framework_ramp(scaling, rotation);
  const std::vector<float> powers = framework_powers(rotation.base, rotation.dim, rotation.pairs());
  for (std::size_t k = 0; k < ramp.size(); ++k) {
    WideFloat& theta = rotation.frequencies[k];
    theta = theta * inverse * ramp[k] + theta * (WideFloat(1.0) - ramp[k]);
    const float kept = 1 - float_ramp[k];
    rotation.framework[k] =
        1 / (static_cast<float>(scaling.factor) * powers[k]) * (1 - kept) + 1 / powers[k] * kept;
  }
  rotation.amplitude = yarn_attention_factor(scaling);
}

double yarn_mscale(double factor, double mscale) noexcept {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

double yarn_attention_factor(const YarnScaling& scaling) noexcept {
  if (scaling.attention_factor) return *scaling.attention_factor;
  if (scaling.mscale == 0 || scaling.mscale_all_dim == 0) return yarn_mscale(scaling.factor);
  return yarn_mscale(scaling.factor, scaling.mscale) /
         yarn_mscale(scaling.factor, scaling.mscale_all_dim);
}

double yarn_softmax_scale(std::int64_t head_dim, double factor, double mscale) {
  check_range(at_least(1), "yarn_softmax_scale.head_dim", head_dim);
  check_range(kAboveZero, "yarn_softmax_scale.factor", factor);
  check_range(kNotNegative, "yarn_softmax_scale.mscale", mscale);
  const double g = yarn_mscale(factor, mscale);
  return g * g / std::sqrt(static_cast<double>(head_dim));
}

std::string_view name_of(YarnForm form) noexcept { return enum_name(form, {"released", "paper"}); }

constinit const Scheme descriptors::kRotaryYarn = rotary_scheme<kRotaryYarn, YarnScaling>(
    YarnScaling::name, "YaRN",
    "Rotary with fast pairs kept, slow ones interpolated, and scores sharpened to match.",
    "Peng et al. 2023, 2309.00071");

}  // namespace sextant
