// A cache of rotations made again by the candidate rules, with roundings to 16 bits on the way, and
// compared with every value.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/threads/interruption.h"
#include "identify/numbers.h"
#include "identify/rotation/rotations.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

// The parts that frameworks round together: nothing, a buffer of positions or of frequencies, both,
// or everything if the module runs in 16 bits.
struct Rounded {
  const char* name;
  bool positions, frequencies, angles;
  const ShortType* type;

  std::string mistake() const {
    return type == nullptr ? "" : std::string(name) + "_rounded_to_" + type->name;
  }
  std::string sentence() const {
    if (type == nullptr) return {};
    const std::string to = std::string(" rounded to ") + type->name;
    if (angles) return " Positions, frequencies and angles were" + to + ".";
    std::string text;
    if (positions) {
      text += " Positions were" + to + ", which has not every whole number beyond " +
              std::to_string(type->whole_numbers) + ", so that rows repeat.";
    }
    if (frequencies) text += " Frequencies were" + to + ".";
    return text;
  }
};
constexpr Rounded kExact{"", false, false, false, nullptr};
constexpr Rounded kRounded[] = {{"positions", true, false, false, nullptr},
                                {"frequencies", false, true, false, nullptr},
                                {"positions_and_frequencies", true, true, false, nullptr},
                                {"angles", true, true, true, nullptr}};

struct Check {
  bool float32 = false;      // the angles were computed in float32
  double max_deviation = 0;  // |given - remade|
};

// Makes the cache with exact angles, with angles in float32 and with those of frequencies that a
// float32 power made; nothing when each is further off than the roundings allow.
std::optional<Check> check(const Rotations& given, std::int64_t first,
                           const RotationFrequencies& made, const Rounded& rounded, double unit) {
  const auto round_if = [&](bool is_rounded, double x) {
    return is_rounded ? rounded_to(rounded.type->unit_roundoff, x) : x;
  };
  const double amplitude = made.attention_factor;
  for (int arithmetic = 0; arithmetic < 3; ++arithmetic) {
    Check result{arithmetic > 0, 0};
    bool fits = true;
    for (std::size_t k = 0; k < given.steps.size() && fits; ++k) {
      const double f = round_if(rounded.frequencies, made.inv_freq[k]);
      for (std::int64_t n = 0; n < given.table.size(0) && fits; ++n) {
        if (n % 4096 == 0) check_interruption();
        const double p = round_if(rounded.positions, static_cast<double>(first + n));
        const double product =
            arithmetic == 1 ? static_cast<double>(static_cast<float>(p) * static_cast<float>(f))
                            : p * f;
        const double angle = round_if(rounded.angles, product);
        const auto compare = [&](std::int64_t column, double value) {
          if (column < 0) return;
          const double off = std::fabs(given.table(n, column) - rounded_to(unit, value));
          double allowed = 2 * unit * std::fabs(value) + 0x1p-48 * std::fabs(p) + 1e-300;
          if (unit > 0x1p-20 && unit <= 0x1p-11) allowed += 0x1p-24;
          if (arithmetic > 0) allowed += 0x1p-23 * amplitude;
          if (arithmetic == 2) allowed += std::fabs(angle) * kFrequencyNoise * amplitude;
          fits = fits && off <= allowed;
          result.max_deviation = std::max(result.max_deviation, off);
        };
        compare(given.steps[k].cosine, amplitude * std::cos(angle));
        compare(given.steps[k].sine, amplitude * std::sin(angle));
      }
    }
    if (fits) return result;
  }
  return std::nullopt;
}

Identification of_rule(const RotationRule& rule, const Rounded& rounded, double max_deviation) {
  Identification found;
  found.scheme = rule.scheme;
  found.parameters = rule.parameters;
  found.mistake = rounded.mistake();
  found.inv_freq = rule.made.inv_freq;
  found.attention_factor = rule.made.attention_factor;
  found.max_deviation = max_deviation;
  found.head_dim = 2 * std::ssize(rule.made.inv_freq);
  return found;
}

Identification explained(const Rotations& given, std::int64_t first, const RotationRule& rule,
                         const Rounded& rounded, const Check& compared) {
  Identification found = of_rule(rule, rounded, compared.max_deviation);
  found.first = first;
  found.confidence = rule.scheme == "rotary_unknown" ? 0.5 : 0.99;
  found.explanation = "Rotations of positions " + std::to_string(first) + " to " +
                      std::to_string(first + given.table.size(0) - 1) + " for " +
                      std::to_string(given.pairs()) + " pairs of channels, " + rule.sentence + ".";
  if (found.attention_factor != 1) {
    found.explanation +=
        " Cosines and sines are multiplied by " + significant(found.attention_factor, 8) + ".";
  }
  if (compared.float32 && rounded.type == nullptr) {
    if (found.confidence > 0.5) found.parameters["precision"] = "framework";
    found.explanation += kFloat32Sentence;
  }
  found.explanation += rounded.sentence();
  return found;
}

// Searches candidates of one rounding: the rules near `fit`, for rows whose positions are exact,
// then the usual bases for rounded tables.
Identification search(const Rotations& given, double unit, const Rounded& rounded,
                      const std::optional<RotationFit>& fit) {
  Identification found;
  const std::int64_t first = fit && rounded.type == nullptr ? fit->first : 0;
  const auto accept = [&](const RotationRule& rule) {
    if (rounded.type == nullptr && (fit->amplitude == 1) != (rule.made.attention_factor == 1)) {
      return false;
    }
    const auto compared = check(given, first, rule.made, rounded, unit);
    if (compared) found = explained(given, first, rule, rounded, *compared);
    return compared.has_value();
  };
  if (fit && fit->first == first) {
    RotationFit loose = *fit;
    for (Frequency& f : loose.frequencies) {
      if (rounded.frequencies) f.error += 2 * rounded.type->unit_roundoff * f.value;
    }
    if (search_rules(loose, accept)) return found;
  }
  for (const double base : kWellKnownBases) {
    RotationRule rule = plain_rule(base);
    if (rounded.type != nullptr && make(rule, given.pairs()) && accept(rule)) break;
  }
  return found;
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 8 && values.size() > 9) return text + ", ... " + significant(values.back(), 8);
    text += (i == 0 ? "" : ", ") + significant(values[i], 8);
  }
  return text;
}

}  // namespace

Identification name_rotations(const Rotations& given, double unit_roundoff) {
  const std::int64_t rows = given.table.size(0);
  if (rows < 6) return {};
  const auto fit = fit_rotations(given, unit_roundoff);
  if (fit) {
    Identification found = search(given, unit_roundoff, kExact, fit);
    if (found.scheme != "unknown") return found;
  }
  for (const ShortType& type : kShortTypes) {
    // A fit looks at kMaxFitRows rows; where some of their positions are not exact, at those that
    // are.
    const std::int64_t exact = type.whole_numbers + 1;
    std::optional<RotationFit> best = fit;
    if (rows > exact && exact < kMaxFitRows) {
      best = fit_rotations({given.table.narrow(0, 0, exact), given.steps}, unit_roundoff);
    }
    for (Rounded rounded : kRounded) {
      if (rounded.positions && !rounded.angles && rows <= exact) continue;
      rounded.type = &type;
      Identification found = search(given, unit_roundoff, rounded, best);
      if (found.scheme != "unknown") return found;
    }
  }
  if (!fit) return {};
  RotationRule rule{"rotary_unknown", {}, "frequencies that follow no rule known here: "};
  for (const Frequency& f : fit->frequencies) rule.made.inv_freq.push_back(f.value);
  rule.made.attention_factor = fit->amplitude;
  rule.sentence += list_of(rule.made.inv_freq);
  const auto compared = check(given, fit->first, rule.made, kExact, unit_roundoff);
  return compared ? explained(given, fit->first, rule, kExact, *compared) : Identification{};
}

Identification name_frequencies(View<const double> frequencies, double unit_roundoff) {
  const std::int64_t pairs = frequencies.size(0);
  if (pairs < 4) return {};  // fewer fit too many ladders
  const std::span values(frequencies.data(), static_cast<std::size_t>(pairs));
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] >= 0 && values[k] <= (k > 0 ? values[k - 1] : 1)) || values[0] == 0) return {};
  }
  Rounded rounded = kRounded[1];
  rounded.type = short_type_of(values, unit_roundoff);
  const double allowed =
      kFrequencyNoise + 2 * (rounded.type ? rounded.type->unit_roundoff : unit_roundoff);
  RotationFit fit;
  for (const double f : values) fit.frequencies.push_back({f, allowed * f});
  Identification found;
  const auto accept = [&](const RotationRule& rule) {
    double worst = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double off = std::fabs(values[k] - rule.made.inv_freq[k]);
      if (!(off <= allowed * rule.made.inv_freq[k])) return false;
      worst = std::max(worst, off);
    }
    found = of_rule(rule, rounded, worst);
    found.confidence = 0.9;
    found.form = "frequencies (inv_freq)";
    found.explanation = "Radians per position of " + std::to_string(pairs) +
                        " pairs of channels, " + rule.sentence + "." + rounded.sentence();
    return true;
  };
  search_rules(fit, accept);
  return found;
}

}  // namespace sextant::identify
