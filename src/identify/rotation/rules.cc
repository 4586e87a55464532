// Makes candidates near a fit: frequencies of one ladder (plain ones, divided ones, those of a
// changed base, and those with unrotated slow pairs), then those that keep fast pairs and divide
// slow ones (Llama 3 and YaRN). Base, factor and length are fitted; the schemes make the
// frequencies.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "identify/numbers.h"
#include "identify/rotation/rotations.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/rotated/rotary_ntk.h"
#include "sextant/schemes/scheme.h"

namespace sextant::identify {
namespace {

constexpr double kLengths[] = {4096,   8192, 2048,   32768,   16384,  1024, 65536,
                               131072, 512,  262144, 1048576, 524288, 40960};

// A straight line by weighted least squares: y = start + slope * x.
struct Line {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;

  void add(double x, double y, double error) {
    const double weight = 1 / (error * error);
    w += weight, wx += weight * x, wy += weight * y;
    wxx += weight * x * x, wxy += weight * x * y;
  }
  double determinant() const { return w * wxx - wx * wx; }
  double slope() const { return (w * wxy - wx * wy) / determinant(); }
  double start() const { return (wxx * wy - wx * wxy) / determinant(); }
};

// frequency k = base^(-k / pairs) / divisor; errors are relative.
struct RuleLadder {
  double base, base_error, divisor, divisor_error;
};

class Search {
 public:
  Search(const RotationFit& fit, const std::function<bool(const RotationRule&)>& accept)
      : fit_(fit), accept_(accept), pairs_(std::ssize(fit.frequencies)) {}

  bool run() const {
    std::int64_t rotated = pairs_;  // pairs before those whose frequency is 0 within its error
    while (rotated > 0 && !(fit_.relative_error(rotated - 1) < 0.25)) --rotated;
    if (rotated == 0) return false;
    if (const auto whole = ladder_of(rotated)) {
      if (try_ladder(*whole, pairs_)) return true;
      if (rotated < pairs_ && try_ladder(*whole, rotated)) return true;
    }
    std::vector<double> tried;
    for (std::int64_t kept = pairs_ - 1; kept >= 2; --kept) {
      const auto fast = ladder_of(kept);
      if (!fast || std::fabs(fast->divisor - 1) > fast->divisor_error) continue;
      for (const double base : bases(*fast)) {
        if (std::find(tried.begin(), tried.end(), base) != tried.end()) continue;
        if (try_parts(base)) return true;
        tried.push_back(base);
      }
    }
    return false;
  }

 private:
  double frequency(std::int64_t k) const {
    return fit_.frequencies[static_cast<std::size_t>(k)].value;
  }

  // The first `count` logarithms on a line; nothing when they are not on one.
  std::optional<RuleLadder> ladder_of(std::int64_t count) const {
    const auto n = static_cast<double>(pairs_);
    Line line;
    for (std::int64_t k = 0; k < count; ++k) {
      const double error = fit_.relative_error(k);
      if (error < 0.1) line.add(static_cast<double>(k) / n, std::log(frequency(k)), error);
    }
    if (!(line.w > 0)) return std::nullopt;
    const double determinant = line.determinant();
    RuleLadder result{10000, HUGE_VAL, std::exp(-line.wy / line.w), std::sqrt(1 / line.w)};
    if (!(determinant > line.w * line.wxx * 1e-12)) return result;  // one pair has no base
    result = {std::exp(-line.slope()), std::sqrt(line.w / determinant), std::exp(-line.start()),
              std::sqrt(line.wxx / determinant)};
    for (std::int64_t k = 0; k < count && result.base_error < 1; ++k) {
      const double error = fit_.relative_error(k);
      const double off =
          std::log(frequency(k)) - line.start() - line.slope() * static_cast<double>(k) / n;
      if (error < 0.1 && std::fabs(off) > 2 * error + 2e-7) return std::nullopt;
    }
    return result;
  }

  // The roundest base near the estimate, the estimate, and before them one that NTK-aware scaling
  // made of a usual base.
  std::vector<double> bases(const RuleLadder& ladder) const {
    if (!(ladder.base_error < 1)) return {10000};
    const double tolerance = 3 * ladder.base_error + 1e-9;
    const Round round = roundest_base(ladder.base, tolerance);
    std::vector<double> result = {round.value, ladder.base};
    const auto changed = changed_base(ladder.base, tolerance);
    if (round.roughness > 4 && changed) result.insert(result.begin(), changed->base);
    return result;
  }

  bool try_ladder(const RuleLadder& ladder, std::int64_t rotated) const {
    const double round = roundest_number(ladder.divisor, 3 * ladder.divisor_error + 1e-9).value;
    for (const double base : bases(ladder)) {
      for (const double divisor : {1.0, round}) {
        RotationRule rule = plain_rule(base);
        if (divisor != 1) {
          rule.scheme = "rotary_linear";
          rule.parameters["factor"] = shortest(divisor);
          rule.sentence += ", all divided by " + shortest(divisor);
        } else if (const auto changed = changed_base(base, 1e-12)) {
          rule.sentence += " (" + shortest(changed->usual) + " changed for factor " +
                           shortest(changed->factor) + ", NTK-aware scaling)";
        }
        if (rotated == pairs_) {
          if (make(rule, pairs_) && accept_(rule)) return true;
          continue;
        }
        rule.scheme = "rotary_proportional";
        rule.sentence += "; the slowest " + std::to_string(pairs_ - rotated) + " of " +
                         std::to_string(pairs_) + " pairs are not rotated";
        const double share = static_cast<double>(rotated) / static_cast<double>(pairs_);
        // The scheme rounds a share of pairs down, that of a third to one less.
        for (const double proportion : {share, std::nextafter(share, 1)}) {
          rule.parameters["proportion"] = shortest(proportion);
          if (make(rule, pairs_) && accept_(rule)) return true;
        }
      }
    }
    return false;
  }

  struct ChangedBase {
    double base, usual, factor;
  };
  std::optional<ChangedBase> changed_base(double base, double tolerance) const {
    const auto n = static_cast<double>(pairs_);
    for (const double usual : {10000.0, 500000.0, 1000000.0}) {
      const double factor = std::round(4 * std::pow(base / usual, (n - 1) / n)) / 4;
      if (pairs_ < 2 || !(factor > 1 && factor <= 64)) continue;
      const double changed = ntk_base(usual, 2 * pairs_, {.factor = factor});
      if (std::fabs(std::log(base / changed)) <= tolerance) {
        return ChangedBase{changed, usual, factor};
      }
    }
    return std::nullopt;
  }

  // Tries rules by parts with this base. The factor is that of the slowest pair with an accurate
  // frequency; if that pair is on the ramp, that of slower, less accurate ones.
  bool try_parts(double base) const {
    RotationRule plain = plain_rule(base);
    if (!make(plain, pairs_)) return false;
    const std::vector<double>& theta = plain.made.inv_freq;
    double before = 0;
    for (const double enough : {1e-5, 1e-4, 1e-3, 1e-2, 0.1}) {
      std::int64_t k = pairs_ - 1;
      while (k > 0 && (!(fit_.relative_error(k) <= enough) || theta[k] < 1.001 * frequency(k))) --k;
      if (k == 0) continue;
      const double factor =
          roundest_number(theta[k] / frequency(k), 3 * fit_.relative_error(k) + 1e-6).value;
      if (factor != before && accept_nearest(parts(base, factor, theta))) return true;
      before = factor;
    }
    return false;
  }

  std::vector<RotationRule> parts(double base, double factor,
                                  const std::vector<double>& theta) const {
    std::vector<RotationRule> rules;
    const auto add = [&](const char* scheme, double length,
                         std::map<std::string, std::string> parameters) {
      parameters.insert({{"base", shortest(base)},
                         {"factor", shortest(factor)},
                         {"original_length", shortest(length)}});
      rules.push_back({scheme, std::move(parameters),
                       "base " + shortest(base) +
                           ": fast pairs as they are, slow pairs divided by " + shortest(factor)});
    };
    // low_freq_factor is taken as 1: of three numbers, a line shows two.
    const auto llama3 = [&](double length, double high) {
      add("rotary_llama3", length,
          {{"low_freq_factor", "1"}, {"high_freq_factor", shortest(high)}});
    };
    for (const double length : kLengths) {
      add("rotary_yarn", length, {});
      add("rotary_yarn", length, {{"truncate", "no"}});
      if (fit_.amplitude == 1) llama3(length, 4), llama3(length, 1);
    }
    // For pairs between, Llama 3 keeps a share that is linear in the frequency.
    Line line;
    int between = 0;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      const double kept = (frequency(k) / theta[k] - 1 / factor) / (1 - 1 / factor);
      const double error = (fit_.relative_error(k) + 1e-6) * 2;
      if (!(error <= 0.5) || kept > 1 - error || kept < error) continue;
      line.add(theta[k], kept, error);
      ++between;
    }
    const double high = roundest_number(1 - 1 / line.start(), 0.02).value;
    if (fit_.amplitude == 1 && between > 1 && line.slope() > 0 && high > 1 && high < 1000) {
      const double length = line.slope() * 2 * std::numbers::pi * (high - 1);
      const double power = std::exp2(std::round(std::log2(length)));
      llama3(std::fabs(length / power - 1) < 0.05 ? power : std::max(1.0, std::round(length)),
             high);
    }
    return rules;
  }

  // Offers the rules whose frequencies are within the errors of the fit, nearest first.
  bool accept_nearest(std::vector<RotationRule> rules) const {
    std::vector<std::pair<double, const RotationRule*>> near;
    for (RotationRule& rule : rules) {
      if (!make(rule, pairs_)) continue;
      const double usual = rule.made.attention_factor;
      if (rule.scheme == "rotary_yarn" && std::fabs(fit_.amplitude - usual) > 1e-3 * usual) {
        rule.parameters["attention_factor"] = shortest(roundest_number(fit_.amplitude, 1e-6).value);
        if (!make(rule, pairs_)) continue;
      }
      double misfit = rule.scheme == "rotary_llama3" ? -1e6 : 0;  // has no amplitude to fit
      bool fits = true;
      for (std::int64_t k = 0; k < pairs_; ++k) {
        if (!(fit_.relative_error(k) < 0.1)) continue;
        const double off = (rule.made.inv_freq[k] - frequency(k)) / fit_.frequencies[k].error;
        fits = fits && std::fabs(off) < 4;
        misfit += off * off;
      }
      if (fits) near.emplace_back(misfit, &rule);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return std::any_of(near.begin(), near.end(),
                       [&](const auto& each) { return accept_(*each.second); });
  }

  const RotationFit& fit_;
  const std::function<bool(const RotationRule&)>& accept_;
  std::int64_t pairs_;
};

}  // namespace

RotationRule plain_rule(double base) {
  RotationRule rule{"rotary", {}, "frequencies base^(-2k/n) with base " + shortest(base)};
  if (base != 10000) rule.parameters["base"] = shortest(base);
  return rule;
}

bool make(RotationRule& rule, std::int64_t pairs) {
  SchemeRequest request;
  request.head_dim = 2 * pairs;
  request.parameters = rule.parameters;
  try {
    rule.made = find_scheme(rule.scheme).frequencies(request);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool search_rules(const RotationFit& fit, const std::function<bool(const RotationRule&)>& accept) {
  return Search(fit, accept).run();
}

}  // namespace sextant::identify
