// Which rule made the frequencies of a cache of rotations: plain, linear, proportional, Llama 3,
// YaRN.
#include "interop/identify/rotation/rotations.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "interop/identify/sinusoidal/structure.h"
#include "sextant/core/numbers.h"

namespace sextant::interop {
namespace {

// One rule with its numbers, and the frequencies that they make.
struct Rule {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  std::vector<double> frequencies;
  std::string sentence;
};

// The base and the constant divisor of pairs [begin, end): frequency k = base^(-k / pairs) /
// divisor.
struct Ladder2 {
  double base, base_error;        // relative
  double divisor, divisor_error;  // relative
};

class Namer {
 public:
  Namer(const RotationFit& fit, std::int64_t pairs) : fit_(fit), pairs_(pairs) {}

  // Calls `accept` with the likeliest rules first until it returns true.
  bool search(const std::function<bool(const Rule&)>& accept) const {
    const std::int64_t turning = turning_pairs();
    if (turning == 0) return false;
    // Slow pairs may stand still or only seem to.
    const auto whole = line(0, turning);
    const auto try_whole = [&](std::int64_t count) {
      if (!whole) return false;
      for (const double base : bases(*whole)) {
        for (const double divisor : {1.0, round_divisor(*whole)}) {
          if (accept(plain(base, divisor, count))) return true;
        }
      }
      return false;
    };
    if (try_whole(pairs_)) return true;
    if (turning < pairs_ && try_whole(turning)) return true;
    // Scaled by parts: the fastest pairs are kept; the base is that of those that lie on a line.
    for (std::int64_t kept = pairs_ - 1; kept >= 2; --kept) {
      const auto fast = line(0, kept);
      if (!fast || std::fabs(fast->divisor - 1) > fast->divisor_error) continue;
      for (const double base : bases(*fast)) {
        if (by_parts(base, accept)) return true;
      }
    }
    return false;
  }

 private:
  double log_frequency(std::int64_t k) const { return std::log(fit_.frequencies[k]); }
  double error_of(std::int64_t k) const { return fit_.errors[k] / fit_.frequencies[k]; }

  // Pairs before those that stand still: whose frequencies are 0 within their error.
  std::int64_t turning_pairs() const {
    std::int64_t n = pairs_;
    while (n > 0 && !(fit_.frequencies[n - 1] > fit_.errors[n - 1] * 4)) --n;
    return n;
  }

  std::vector<double> ladder(double base, double divisor = 1) const {
    std::vector<double> result;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      result.push_back(std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs_)) /
                       divisor);
    }
    return result;
  }

  // Logarithms on a line, weighted by their errors; nothing when they are not on one.
  std::optional<Ladder2> line(std::int64_t begin, std::int64_t end) const {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const double error = error_of(k);
      if (!(error < 0.1)) continue;
      const double weight = 1 / (error * error);
      const double x = static_cast<double>(k) / static_cast<double>(pairs_);
      w += weight;
      wx += weight * x;
      wy += weight * log_frequency(k);
      wxx += weight * x * x;
      wxy += weight * x * log_frequency(k);
    }
    const double determinant = w * wxx - wx * wx;
    Ladder2 result{};
    if (w > 0 && determinant > w * wxx * 1e-12) {
      const double slope = (w * wxy - wx * wy) / determinant;
      const double start = (wxx * wy - wx * wxy) / determinant;
      result = {std::exp(-slope), std::sqrt(w / determinant), std::exp(-start),
                std::sqrt(wxx / determinant)};
    } else if (w > 0) {  // one pair: no base
      result = {10000, HUGE_VAL, std::exp(-wy / w), std::sqrt(1 / w)};
    } else {
      return std::nullopt;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const double predicted =
          -std::log(result.base) * static_cast<double>(k) / static_cast<double>(pairs_) -
          std::log(result.divisor);
      const double allowed = 2 * error_of(k) + 2e-7;
      if (error_of(k) < 0.1 && result.base_error < 1 &&
          std::fabs(log_frequency(k) - predicted) > allowed) {
        return std::nullopt;
      }
    }
    return result;
  }

  // The roundest base near the estimate (a changed one, when it is not round), and the estimate.
  std::vector<double> bases(const Ladder2& line) const {
    if (!(line.base_error < 1)) return {10000};
    const double tolerance = 3 * line.base_error + 1e-9;
    const Base round = roundest_base(line.base, tolerance);
    std::vector<double> result = {round.value, line.base};
    if (round.roughness > 4) {
      if (const auto changed = changed_base(line.base, tolerance)) {
        result.insert(result.begin(), changed->base);
      }
    }
    return result;
  }

  static double round_divisor(const Ladder2& line) {
    return roundest_number(line.divisor, 3 * line.divisor_error + 1e-9).value;
  }

  Rule plain(double base, double divisor, std::int64_t turning) const {
    Rule rule{"rotary", {}, ladder(base, divisor), {}};
    if (base != 10000) rule.parameters["base"] = shortest(base);
    rule.sentence = "frequencies base^(-2k/n) with base " + shortest(base);
    if (turning < pairs_) {
      rule.scheme = "rotary_proportional";
      rule.parameters["proportion"] =
          shortest(static_cast<double>(turning) / static_cast<double>(pairs_));
      std::fill(rule.frequencies.begin() + turning, rule.frequencies.end(), 0);
      rule.sentence += "; the slowest " + std::to_string(pairs_ - turning) + " of " +
                       std::to_string(pairs_) + " pairs are not rotated";
    }
    if (divisor != 1) {
      if (turning == pairs_) rule.scheme = "rotary_linear";
      rule.parameters["factor"] = shortest(divisor);
      rule.sentence += ", all divided by " + shortest(divisor);
    } else if (turning == pairs_) {
      rule.sentence += ntk_sentence(base);
    }
    return rule;
  }

  // base = b * s^(n / (n - 2)) for a usual b and a plain s (NTK-aware scaling).
  struct Changed {
    double base, usual, factor;
  };
  std::optional<Changed> changed_base(double base, double tolerance) const {
    if (pairs_ < 2) return std::nullopt;
    const double n = static_cast<double>(pairs_);
    for (const double usual : {10000.0, 500000.0, 1000000.0}) {
      const double factor = std::round(4 * std::pow(base / usual, (n - 1) / n)) / 4;
      if (factor <= 1 || factor > 64) continue;
      const double changed = usual * std::pow(factor, n / (n - 1));
      if (std::fabs(std::log(base / changed)) <= tolerance) return Changed{changed, usual, factor};
    }
    return std::nullopt;
  }
  std::string ntk_sentence(double base) const {
    const auto changed = changed_base(base, 1e-12);
    if (!changed) return {};
    return " (" + shortest(changed->usual) + " changed for factor " + shortest(changed->factor) +
           ", NTK-aware scaling)";
  }

  // Fast pairs as in `base`, slow ones divided by a factor, some between.
  bool by_parts(double base, const std::function<bool(const Rule&)>& accept) const {
    const std::vector<double> theta = ladder(base);
    // The factor of the slowest pair whose frequency can be told well; when that one lies between,
    // of slower ones that can be told less well.
    double before = 0;
    for (const double enough : {1e-5, 1e-4, 1e-3, 1e-2, 0.1}) {
      std::int64_t k = pairs_ - 1;
      while (k > 0 && (error_of(k) > enough || theta[k] < 1.001 * fit_.frequencies[k])) --k;
      if (k == 0) continue;
      const double factor =
          roundest_number(theta[k] / fit_.frequencies[k], 3 * error_of(k) + 1e-6).value;
      if (factor != before && by_parts(base, factor, theta, accept)) return true;
      before = factor;
    }
    return false;
  }
  bool by_parts(double base, double factor, const std::vector<double>& theta,
                const std::function<bool(const Rule&)>& accept) const {
    // How much of each pair is kept: 1 for fast ones, 0 for slow ones.
    struct Between {
      std::int64_t k;
      double kept, error;
    };
    std::vector<Between> between;
    std::int64_t last_kept = -1, first_divided = pairs_;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      const double kept = (fit_.frequencies[k] / theta[k] - 1 / factor) / (1 - 1 / factor);
      const double error = (error_of(k) + 1e-6) * 2;
      if (error > 0.5) {
        continue;
      } else if (kept > 1 - error) {
        last_kept = k;
      } else if (kept < error) {
        first_divided = std::min(first_divided, k);
      } else {
        between.push_back({k, kept, error});
      }
    }
    const auto fitted = [&](const std::function<double(std::int64_t)>& x_of) {
      double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
      for (const Between& b : between) {
        const double weight = 1 / (b.error * b.error), x = x_of(b.k);
        w += weight, wx += weight * x, wy += weight * b.kept, wxx += weight * x * x;
        wxy += weight * x * b.kept;
      }
      const double determinant = w * wxx - wx * wx;
      const double slope = (w * wxy - wx * wy) / determinant;
      return std::pair{slope, (wy - slope * wx) / w};
    };
    const auto blend = [&](const std::function<double(std::int64_t)>& kept_of) {
      std::vector<double> result;
      for (std::int64_t k = 0; k < pairs_; ++k) {
        const double kept = std::clamp(kept_of(k), 0.0, 1.0);
        result.push_back(theta[k] * (kept + (1 - kept) / factor));
      }
      return result;
    };
    const auto start = [&](std::string scheme) {
      Rule rule{std::move(scheme), {}, {}, {}};
      rule.parameters["base"] = shortest(base);
      rule.parameters["factor"] = shortest(factor);
      rule.sentence = "base " + shortest(base) + ": pairs up to " + std::to_string(last_kept) +
                      " as they are, from " + std::to_string(first_divided) + " on divided by " +
                      shortest(factor);
      return rule;
    };
    // By turns over the original length (Llama 3): kept is linear in the frequency. Three numbers,
    // two to be seen: low_freq_factor is taken as 1.
    const auto try_turns = [&](double length, double low, double high) {
      Rule rule = start("rotary_llama3");
      rule.parameters["low_freq_factor"] = shortest(low);
      rule.parameters["high_freq_factor"] = shortest(high);
      rule.parameters["original_length"] = shortest(length);
      rule.frequencies = blend([&](std::int64_t k) {
        const double turns = length * theta[k] / (2 * std::numbers::pi);
        return high == low ? (turns < low ? 0 : 1) : (turns - low) / (high - low);
      });
      return accept(rule);
    };
    // By index (YaRN): kept is linear in k between two whole pairs, or not whole ones.
    const auto try_ramp = [&](double low, double high, bool truncate) {
      for (const double length : {4096.0, 8192.0, 2048.0, 32768.0, 16384.0, 1024.0, 65536.0,
                                  131072.0, 512.0, 262144.0, 1048576.0, 524288.0, 40960.0}) {
        const auto corner = [&](double turns) {
          return static_cast<double>(pairs_) * std::log(length / (turns * 2 * std::numbers::pi)) /
                 std::log(base);
        };
        double a = corner(32), b = corner(1);
        if (truncate) a = std::floor(a), b = std::ceil(b);
        a = std::max(a, 0.0), b = std::min(b, static_cast<double>(2 * pairs_ - 1));
        if (a == b) b += 0.001;
        const double slack = truncate ? 0.02 : 0.05;
        if (between.size() > 1 && (std::fabs(a - low) > slack || std::fabs(b - high) > slack)) {
          continue;
        }
        Rule rule = start("rotary_yarn");
        rule.parameters["original_length"] = shortest(length);
        if (!truncate) rule.parameters["truncate"] = "no";
        const double usual = factor > 1 ? 0.1 * std::log(factor) + 1 : 1;
        if (std::fabs(fit_.amplitude - usual) > 1e-3 * usual) {
          rule.parameters["attention_factor"] =
              shortest(roundest_number(fit_.amplitude, 1e-6).value);
        }
        rule.frequencies =
            blend([&](std::int64_t k) { return 1 - (static_cast<double>(k) - a) / (b - a); });
        if (accept(rule)) return true;
      }
      return false;
    };
    if (between.size() >= 2) {
      const auto [slope, start_at] = fitted([&](std::int64_t k) { return theta[k]; });
      const double low = 1, high = 1 - 1 / start_at;
      if (slope > 0 && high > low && high < 1000 && fit_.amplitude == 1) {
        const double round_high = roundest_number(high, 0.02).value;
        const double length = slope * 2 * std::numbers::pi * (round_high - low);
        if (try_turns(roundest_length(length), low, round_high)) return true;
      }
      const auto [fall, from] = fitted([](std::int64_t k) { return static_cast<double>(k); });
      if (fall < 0) {
        const double low_index = (1 - from) / fall, high_index = -from / fall;
        const bool whole = std::fabs(low_index - std::round(low_index)) < 0.02 &&
                           std::fabs(high_index - std::round(high_index)) < 0.02;
        if (whole && try_ramp(std::round(low_index), std::round(high_index), true)) return true;
        if (try_ramp(low_index, high_index, false)) return true;
      }
    } else {
      // Too few between to see a line: the settings of released models.
      const double lengths[] = {8192, 4096, 2048, 32768, 1024, 512, 256};
      for (const double length : lengths) {
        for (const double high : {4.0, 1.0}) {
          if (fit_.amplitude == 1 && try_turns(length, 1, high)) return true;
        }
      }
      if (try_ramp(0, 0, true) || try_ramp(0, 0, false)) return true;
    }
    return false;
  }

  // A power of two when one is near, else the nearest whole number.
  static double roundest_length(double length) {
    const double power = std::exp2(std::round(std::log2(length)));
    return std::fabs(length / power - 1) < 0.05 ? power : std::max(1.0, std::round(length));
  }

  const RotationFit& fit_;
  std::int64_t pairs_;
};

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
  const std::optional<RotationFit> found = fit_rotations(given, unit_roundoff);
  if (!found) return result;
  RotationFit fit = *found;
  result.first = fit.first;
  result.head_dim = 2 * given.pairs();
  std::string sentence;
  bool float32 = false;
  const auto accept = [&](const Rule& rule) {
    RotationFit made = fit;
    made.frequencies = rule.frequencies;
    if (made.amplitude != 1 && rule.scheme == "rotary_yarn" &&
        !rule.parameters.contains("attention_factor")) {
      made.amplitude = 0.1 * std::log(parse_double(rule.parameters.at("factor"), "factor")) + 1;
    } else if (made.amplitude != 1 && rule.parameters.contains("attention_factor")) {
      made.amplitude = parse_double(rule.parameters.at("attention_factor"), "factor");
    } else if (made.amplitude != 1 && rule.scheme != "rotary_yarn") {
      return false;
    }
    const RotationCheck check = check_rotations(given, made, unit_roundoff);
    if (!check.fits) return false;
    result.scheme = rule.scheme;
    result.parameters = rule.parameters;
    if (check.float32) result.parameters["precision"] = "framework";
    result.inv_freq = rule.frequencies;
    result.attention_factor = made.amplitude;
    result.max_deviation = check.max_deviation;
    sentence = rule.sentence;
    float32 = check.float32;
    return true;
  };
  if (!Namer(fit, given.pairs()).search(accept)) {
    const RotationCheck check = check_rotations(given, fit, unit_roundoff);
    if (!check.fits) return result;
    result.scheme = "rotary_unknown";
    result.inv_freq = fit.frequencies;
    result.attention_factor = fit.amplitude;
    result.max_deviation = check.max_deviation;
    sentence = "frequencies that follow no rule known here: " + list_of(fit.frequencies);
    float32 = check.float32;
  }
  result.explanation = "Rotations of positions " + std::to_string(fit.first) + " to " +
                       std::to_string(fit.first + given.rows() - 1) + " for " +
                       std::to_string(given.pairs()) + " pairs of channels, " + sentence + ".";
  if (result.attention_factor != 1) {
    result.explanation +=
        " Cosines and sines are multiplied by " + significant(result.attention_factor, 8) + ".";
  }
  if (float32) {
    result.explanation +=
        " The angles were computed in float32, as frameworks do: values drift from the true ones "
        "as "
        "positions grow.";
  }
  result.confidence = result.scheme == "rotary_unknown" ? 0.5 : 0.99;
  return result;
}

}  // namespace sextant::interop
