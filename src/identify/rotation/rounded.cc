// Candidates from the rules that exist, made with each rounding, and compared with every value.
#include "identify/rotation/rounded.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "identify/numbers.h"
#include "identify/rotation/pair_fit.h"
#include "identify/rotation/rules.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

// What frameworks round together: a buffer of positions or of frequencies, both, or everything
// where the module runs in 16 bits.
struct Rounded {
  const char* name;
  bool positions, frequencies, angles;
};
constexpr Rounded kRounded[] = {{"positions", true, false, false},
                                {"frequencies", false, true, false},
                                {"positions_and_frequencies", true, true, false},
                                {"angles", true, true, true}};

std::string mistake_of(const Rounded& rounded, const ShortType& type) {
  return std::string(rounded.name) + "_rounded_to_" + type.name;
}

std::string sentence_of(const Rounded& rounded, const ShortType& type) {
  const std::string to = std::string(" rounded to ") + type.name;
  if (rounded.angles) return " Positions, frequencies and angles were" + to + ".";
  std::string text;
  if (rounded.positions) {
    text += " Positions were" + to + ", which has not every whole number beyond " +
            std::to_string(type.whole_numbers) + ", so that rows repeat.";
  }
  if (rounded.frequencies) text += " Frequencies were" + to + ".";
  return text;
}

Rotations first_rows(const Rotations& given, std::int64_t rows) {
  const auto cut = [&](View<const double> x) { return x.count() > 0 ? x.narrow(0, 0, rows) : x; };
  return {cut(given.cosines), cut(given.sines)};
}

// One kind of rounding to one type.
class Candidates {
 public:
  Candidates(const Rotations& given, double unit_roundoff, const Rounded& rounded,
             const ShortType& type)
      : given_(given), unit_roundoff_(unit_roundoff), rounded_(rounded), type_(type) {}

  // The rules that `fit`, of rows whose positions are exact, allows; without one the usual bases.
  Identification search(const std::optional<RotationFit>& fit) {
    const auto accept = [&](const RotationRule& rule) { return matches(rule); };
    if (fit && fit->first == 0) {
      RotationFit loose = *fit;
      for (std::size_t k = 0; rounded_.frequencies && k < loose.errors.size(); ++k) {
        loose.errors[k] += 2 * type_.unit_roundoff * loose.frequencies[k];
      }
      search_rules(loose, accept);
    }
    for (const double base : kWellKnownBases) {
      if (!found_.mistake.empty()) break;
      RotationRule rule{"rotary", {}, "frequencies base^(-2k/n) with base " + shortest(base)};
      if (base != 10000) rule.parameters["base"] = shortest(base);
      if (make(rule, given_.pairs())) accept(rule);
    }
    return std::move(found_);
  }

 private:
  bool matches(const RotationRule& rule) {
    RotationFit made{0, rule.made.attention_factor, rule.made.inv_freq, {}};
    const auto unit = [&](bool is_rounded) { return is_rounded ? type_.unit_roundoff : 0; };
    made.rounding = {unit(rounded_.positions), unit(rounded_.frequencies), unit(rounded_.angles)};
    const auto check = check_rotations(given_, made, unit_roundoff_);
    if (!check) return false;
    found_.scheme = rule.scheme;
    found_.parameters = rule.parameters;
    found_.inv_freq = rule.made.inv_freq;
    found_.attention_factor = rule.made.attention_factor;
    found_.max_deviation = check->max_deviation;
    found_.head_dim = 2 * given_.pairs();
    found_.confidence = 0.99;
    found_.mistake = mistake_of(rounded_, type_);
    found_.explanation = "Rotations of positions 0 to " + std::to_string(given_.rows() - 1) +
                         " for " + std::to_string(given_.pairs()) + " pairs of channels, " +
                         rule.sentence + "." + sentence_of(rounded_, type_);
    return true;
  }

  const Rotations& given_;
  double unit_roundoff_;
  const Rounded& rounded_;
  const ShortType& type_;
  Identification found_;
};

}  // namespace

Identification name_rounded_rotations(const Rotations& given, double unit_roundoff,
                                      const std::optional<RotationFit>& fit) {
  if (given.rows() < 6) return {};
  for (const ShortType& type : kShortTypes) {
    // A fit looks at kMaxRows rows; where some of their positions are not exact, at those that are.
    const std::int64_t exact = type.whole_numbers + 1;
    const bool repeats = given.rows() > exact;
    const std::optional<RotationFit> best =
        repeats && exact < kMaxRows ? fit_rotations(first_rows(given, exact), unit_roundoff) : fit;
    for (const Rounded& rounded : kRounded) {
      if (rounded.positions && !rounded.angles && !repeats) continue;
      Identification found = Candidates(given, unit_roundoff, rounded, type).search(best);
      if (!found.mistake.empty()) return found;
    }
  }
  return {};
}

Identification name_frequencies(View<const double> frequencies, double unit_roundoff) {
  const std::int64_t pairs = frequencies.size(0);
  constexpr std::int64_t kFewest = 4;  // fewer lie on too many ladders
  if (pairs < kFewest) return {};
  for (std::int64_t k = 0; k < pairs; ++k) {
    const double f = frequencies(k);
    if (!(f >= 0 && f <= 1) || (k > 0 && f > frequencies(k - 1)) || frequencies(0) == 0) return {};
  }
  const std::span values(frequencies.data(), static_cast<std::size_t>(pairs));
  const ShortType* shorter = short_type_of(values, unit_roundoff);
  const double unit = shorter != nullptr ? shorter->unit_roundoff : unit_roundoff;
  RotationFit fit;
  for (std::int64_t k = 0; k < pairs; ++k) {
    fit.frequencies.push_back(frequencies(k));
    fit.errors.push_back((2 * unit + kFrequencyNoise) * frequencies(k));
  }
  Identification found;
  const auto accept = [&](const RotationRule& rule) {
    double worst = 0;
    for (std::int64_t k = 0; k < pairs; ++k) {
      const double made = rule.made.inv_freq[static_cast<std::size_t>(k)];
      const double off = std::fabs(frequencies(k) - made);
      if (off > (2 * unit + kFrequencyNoise) * made) return false;
      worst = std::max(worst, off);
    }
    found.scheme = rule.scheme;
    found.parameters = rule.parameters;
    found.inv_freq = rule.made.inv_freq;
    found.attention_factor = rule.made.attention_factor;
    found.max_deviation = worst;
    found.head_dim = 2 * pairs;
    found.confidence = 0.9;
    found.form = "frequencies (inv_freq)";
    found.explanation = "Radians per position of " + std::to_string(pairs) +
                        " pairs of channels, " + rule.sentence + ".";
    return true;
  };
  if (!search_rules(fit, accept) || shorter == nullptr) return found;
  found.mistake = mistake_of(kRounded[1], *shorter);
  found.explanation += sentence_of(kRounded[1], *shorter);
  return found;
}

}  // namespace sextant::identify
