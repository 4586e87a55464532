// A cache of rotations under the name of the rule that made its frequencies.
#include <optional>
#include <string>
#include <vector>

#include "identify/numbers.h"
#include "identify/rotation/rotations.h"
#include "identify/rotation/rounded.h"
#include "identify/rotation/rules.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 8 && values.size() > 9) {
      text += ", ... " + significant(values.back(), 8);
      break;
    }
    text += (i == 0 ? "" : ", ") + significant(values[i], 8);
  }
  return text;
}

}  // namespace

Identification name_rotations(const Rotations& given, double unit_roundoff) {
  Identification result;
  const std::optional<RotationFit> fit = fit_rotations(given, unit_roundoff);
  if (!fit) return name_rounded_rotations(given, unit_roundoff, fit);
  RotationRule unknown{"rotary_unknown",
                       {},
                       "frequencies that follow no rule known here: " + list_of(fit->frequencies)};
  unknown.made = {fit->frequencies, fit->amplitude};
  bool float32 = false;
  std::string sentence;
  const auto accept = [&](const RotationRule& rule) {
    if ((fit->amplitude == 1) != (rule.made.attention_factor == 1)) return false;
    RotationFit made = *fit;
    made.frequencies = rule.made.inv_freq;
    made.amplitude = rule.made.attention_factor;
    const auto check = check_rotations(given, made, unit_roundoff);
    if (!check) return false;
    result.scheme = rule.scheme;
    result.parameters = rule.parameters;
    result.inv_freq = rule.made.inv_freq;
    result.attention_factor = rule.made.attention_factor;
    result.max_deviation = check->max_deviation;
    sentence = rule.sentence;
    float32 = check->float32;
    return true;
  };
  const bool named = search_rules(*fit, accept);
  result.first = fit->first;
  result.head_dim = 2 * given.pairs();
  if (!named) {
    Identification rounded = name_rounded_rotations(given, unit_roundoff, fit);
    if (!rounded.mistake.empty()) return rounded;
    if (!accept(unknown)) return result;
  }
  if (named && float32) result.parameters["precision"] = "framework";
  result.explanation = "Rotations of positions " + std::to_string(fit->first) + " to " +
                       std::to_string(fit->first + given.rows() - 1) + " for " +
                       std::to_string(given.pairs()) + " pairs of channels, " + sentence + ".";
  if (result.attention_factor != 1) {
    result.explanation +=
        " Cosines and sines are multiplied by " + significant(result.attention_factor, 8) + ".";
  }
  if (float32) result.explanation += kFloat32Sentence;
  result.confidence = named ? 0.99 : 0.5;
  return result;
}

}  // namespace sextant::identify
