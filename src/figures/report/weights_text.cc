// Two characters a weight: a fortieth of what JSON takes for all digits.
#include "figures/report/weights_text.h"

#include <algorithm>
#include <cmath>

namespace sextant::figures {

std::string packed_weights(View<const double> weights) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr double kSteps = 4095;
  std::string text;
  text.reserve(2 * static_cast<std::size_t>(weights.count()));
  const Tensor<double> plain = copy_of(weights);
  for (const double weight : plain.span()) {
    const auto step = static_cast<unsigned>(std::lround(std::clamp(weight, 0.0, 1.0) * kSteps));
    text += kDigits[step >> 6];
    text += kDigits[step & 63];
  }
  return text;
}

std::string colors_of(ColorMap map) {
  constexpr int kSteps = 32;
  std::string text;
  for (int i = 0; i <= kSteps; ++i) {
    text += hex(color(map, static_cast<double>(i) / kSteps)).substr(1);
  }
  return text;
}

std::string script_data(std::string_view id, const Json& data) {
  const std::string json = data.dump(-1, JsonBytes::replace);
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return "<script type=\"application/json\" id=\"" + std::string(id) + "\">" + safe + "</script>\n";
}

}  // namespace sextant::figures
