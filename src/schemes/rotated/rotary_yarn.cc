// YaRN: the ramp from kept to interpolated pairs, and the amplitude.
#include "sextant/schemes/rotated/rotary_yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/option_checks.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

WideFloat clipped(const WideFloat& x) {
  const WideFloat one(1.0);
  if (x.is_negative()) return {};
  return (one - x).is_negative() ? one : x;
}

// Where the ramp of the released form begins and ends. `Real` is WideFloat or double.
template <class Real>
struct Ends {
  Real low, high;
};

Ends<WideFloat> exact_ends(const RotaryYarn& options, const Rotation& rotation) {
  const WideFloat twice_log_base = log(WideFloat(options.base)).times_power_of_two(1);
  const WideFloat per_log =
      WideFloat(static_cast<double>(rotation.dim)) * reciprocal(twice_log_base);
  const WideFloat length(static_cast<double>(options.original_length));
  const auto index_of = [&](double turns) {
    const WideFloat radians = wide_pi().times_power_of_two(1) * WideFloat(turns);
    return per_log * (log(length) - log(radians));
  };
  Ends<WideFloat> ends = {index_of(options.beta_fast), index_of(options.beta_slow)};
  if (options.truncate) {
    ends = {WideFloat(std::floor(ends.low.to_double())),
            WideFloat(std::ceil(ends.high.to_double()))};
  }
  const WideFloat last(static_cast<double>(rotation.dim - 1));
  if (ends.low.is_negative()) ends.low = {};
  if ((last - ends.high).is_negative()) ends.high = last;
  if ((ends.high - ends.low).is_zero()) ends.high = ends.high + WideFloat(1.0) / 1000;
  return ends;
}

Ends<double> framework_ends(const RotaryYarn& options, const Rotation& rotation) {
  const auto index_of = [&](double turns) {
    return static_cast<double>(rotation.dim) *
           std::log(static_cast<double>(options.original_length) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(options.base));
  };
  Ends<double> ends = {index_of(options.beta_fast), index_of(options.beta_slow)};
  if (options.truncate) ends = {std::floor(ends.low), std::ceil(ends.high)};
  ends = {std::max(ends.low, 0.0), std::min(ends.high, static_cast<double>(rotation.dim - 1))};
  if (ends.low == ends.high) ends.high += 0.001;
  return ends;
}

// How far each pair is interpolated, 0 .. 1, exactly.
std::vector<WideFloat> exact_ramp(const RotaryYarn& options, const Rotation& rotation) {
  std::vector<WideFloat> ramp;
  if (options.form == YarnForm::paper) {
    const WideFloat turns_per_radian = WideFloat(static_cast<double>(options.original_length)) *
                                       reciprocal(wide_pi().times_power_of_two(1));
    const WideFloat slow(options.beta_slow);
    const WideFloat range = WideFloat(options.beta_fast) - slow;
    for (const WideFloat& theta : rotation.frequencies) {
      const WideFloat above = theta * turns_per_radian - slow;
      const WideFloat kept = range.is_zero() ? WideFloat(above.is_negative() ? 0.0 : 1.0)
                                             : clipped(above * reciprocal(range));
      ramp.push_back(WideFloat(1.0) - kept);
    }
    return ramp;
  }
  const Ends<WideFloat> ends = exact_ends(options, rotation);
  const WideFloat slope = reciprocal(ends.high - ends.low);
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    ramp.push_back(clipped((WideFloat(static_cast<double>(k)) - ends.low) * slope));
  }
  return ramp;
}

// The same in float32, as Hugging Face orders it.
std::vector<float> framework_ramp(const RotaryYarn& options, const Rotation& rotation) {
  std::vector<float> ramp;
  if (options.form == YarnForm::paper) {  // no framework has this form: the exact ramp, rounded
    for (const WideFloat& x : exact_ramp(options, rotation)) {
      ramp.push_back(static_cast<float>(x.to_double()));
    }
    return ramp;
  }
  const Ends<double> ends = framework_ends(options, rotation);
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    const float along = (static_cast<float>(k) - static_cast<float>(ends.low)) /
                        static_cast<float>(ends.high - ends.low);
    ramp.push_back(std::clamp(along, 0.0F, 1.0F));
  }
  return ramp;
}

void check(const Rotation& rotation, const RotaryYarn& options) {
  check_named(rotation.where("form"), options.form);
  if (options.base <= 1) {
    throw Error(rotation.where("base"), "must be above 1, got " + shortest(options.base));
  }
  check_positive(rotation, "factor", options.factor);
  check_at_least(rotation, "original_length", options.original_length, 1);
  check_positive(rotation, "beta_fast", options.beta_fast);
  check_positive(rotation, "beta_slow", options.beta_slow);
  if (options.beta_fast < options.beta_slow) {
    throw Error(rotation.where("beta_fast"), "must be at least beta_slow, " +
                                                 shortest(options.beta_slow) + ", got " +
                                                 shortest(options.beta_fast));
  }
  if (options.attention_factor) {
    check_positive(rotation, "attention_factor", *options.attention_factor);
  }
  for (const auto& [name, value] :
       {std::pair{"mscale", options.mscale}, std::pair{"mscale_all_dim", options.mscale_all_dim}}) {
    if (value >= 0 && std::isfinite(value)) continue;
    throw Error(rotation.where(name), "must be 0 or more, got " + shortest(value));
  }
}

Rotation rotation_of(const RotaryYarn& options) {
  Rotation rotation = checked_rotation("rotary_yarn", options);
  check(rotation, options);
  set_ladder(rotation, options.base, rotation.dim);
  const std::vector<WideFloat> ramp = exact_ramp(options, rotation);
  const WideFloat inverse = reciprocal(WideFloat(options.factor));
  const std::vector<float> float_ramp = framework_ramp(options, rotation);
  const std::vector<float> powers = framework_powers(options.base, rotation.dim, rotation.pairs());
  for (std::size_t k = 0; k < ramp.size(); ++k) {
    WideFloat& theta = rotation.frequencies[k];
    theta = theta * inverse * ramp[k] + theta * (WideFloat(1.0) - ramp[k]);
    const float kept = 1 - float_ramp[k];
    rotation.framework[k] =
        1 / (static_cast<float>(options.factor) * powers[k]) * (1 - kept) + 1 / powers[k] * kept;
  }
  rotation.amplitude = yarn_attention_factor(options);
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary_yarn, RotaryYarn, rotation_of)

RotationFrequencies rotation_frequencies(const RotaryYarn& options) {
  return frequencies_of(rotation_of(options));
}

double yarn_mscale(double factor, double mscale) noexcept {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

double yarn_attention_factor(const RotaryYarn& options) noexcept {
  if (options.attention_factor) return *options.attention_factor;
  if (options.mscale == 0 || options.mscale_all_dim == 0) return yarn_mscale(options.factor);
  return yarn_mscale(options.factor, options.mscale) /
         yarn_mscale(options.factor, options.mscale_all_dim);
}

double yarn_softmax_scale(std::int64_t head_dim, double factor, double mscale) {
  if (head_dim < 1) {
    throw Error("yarn_softmax_scale.head_dim",
                "must be 1 or more, got " + std::to_string(head_dim));
  }
  if (!(factor > 0) || !std::isfinite(factor)) {
    throw Error("yarn_softmax_scale.factor",
                "must be a finite number above 0, got " + shortest(factor));
  }
  if (!(mscale >= 0) || !std::isfinite(mscale)) {
    throw Error("yarn_softmax_scale.mscale", "must be 0 or more, got " + shortest(mscale));
  }
  const double g = yarn_mscale(factor, mscale);
  return g * g / std::sqrt(static_cast<double>(head_dim));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"factor", "4", "> 0", "new length over original length"},
    {"original_length", "4096", "1 .. 2^53", "the length of training"},
    {"beta_fast", "32", ">= beta_slow",
     "pairs that turn more often than this over original_length are kept"},
    {"beta_slow", "1", "> 0", "pairs that turn fewer times are divided by factor"},
    {"truncate", "yes", "yes | no", "whether the ramp's ends are rounded to whole pairs"},
    {"attention_factor", "auto", "auto, > 0",
     "multiplies the tables; auto: by mscale and mscale_all_dim, else 0.1 ln(factor) + 1"},
    {"mscale", "0", ">= 0", "with mscale_all_dim: the ratio of their factors instead"},
    {"mscale_all_dim", "0", ">= 0", "see mscale; DeepSeek has both 1 and scales its scores"},
    {"form", "released", "released | paper", "a ramp over indices, or over turns"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryYarn options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryYarn>(given, request);
  options.factor = given.number("factor");
  options.original_length = given.integer("original_length");
  options.beta_fast = given.number("beta_fast");
  options.beta_slow = given.number("beta_slow");
  options.truncate = given.flag("truncate");
  options.attention_factor = number_or_auto(given, "attention_factor");
  options.mscale = given.number("mscale");
  options.mscale_all_dim = given.number("mscale_all_dim");
  options.form = parse_name<YarnForm>(given.text("form"), given.where("form"));
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryYarn, request);
  return rotary_yarn<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryYarn, request), request));
}

}  // namespace

constinit const Scheme kRotaryYarn = {
    .name = "rotary_yarn",
    .kind = SchemeKind::rotated,
    .idea = "Rotary with fast pairs kept, slow ones interpolated, and scores sharpened to match.",
    .paper = "Peng et al. 2023, 2309.00071",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant
