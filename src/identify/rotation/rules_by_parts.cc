// Fast pairs kept, slow ones divided by a factor, some between: by turns over the original length
// (Llama 3) or by index (YaRN).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "identify/numbers.h"
#include "identify/rotation/rules.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

constexpr double kLengths[] = {4096,   8192, 2048,   32768,   16384,  1024, 65536,
                               131072, 512,  262144, 1048576, 524288, 40960};

// A power of two when one is near, else the nearest whole number.
double roundest_length(double length) {
  const double power = std::exp2(std::round(std::log2(length)));
  return std::fabs(length / power - 1) < 0.05 ? power : std::max(1.0, std::round(length));
}

class Search {
 public:
  // `theta` are the frequencies of the base.
  Search(const RotationFit& fit, double base, double factor, const std::vector<double>& theta)
      : fit_(fit), pairs_(static_cast<std::int64_t>(theta.size())) {
    std::int64_t last_kept = -1, first_divided = pairs_;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      const double kept = (fit.frequencies[k] / theta[k] - 1 / factor) / (1 - 1 / factor);
      const double error = (fit.relative_error(k) + 1e-6) * 2;
      if (error > 0.5) {
        continue;
      } else if (kept > 1 - error) {
        last_kept = k;
      } else if (kept < error) {
        first_divided = std::min(first_divided, k);
      } else {
        between_ += 1;
        kept_by_frequency_.add(theta[k], kept, error);
      }
    }
    start_.parameters = {{"base", shortest(base)}, {"factor", shortest(factor)}};
    start_.sentence = "base " + shortest(base) + ": pairs up to " + std::to_string(last_kept) +
                      " as they are, from " + std::to_string(first_divided) + " on divided by " +
                      shortest(factor);
  }

  bool run(const AcceptRule& accept) const {
    return first_of(llama3_rules(), accept) || first_of(yarn_rules(), accept);
  }

 private:
  // low_freq_factor is taken as 1: of three numbers, a line shows two.
  std::vector<RotationRule> llama3_rules() const {
    std::vector<RotationRule> rules;
    const auto add = [&](double length, double high) {
      RotationRule rule = start_;
      rule.scheme = "rotary_llama3";
      rule.parameters["low_freq_factor"] = "1";
      rule.parameters["high_freq_factor"] = shortest(high);
      rule.parameters["original_length"] = shortest(length);
      rules.push_back(std::move(rule));
    };
    if (fit_.amplitude != 1) return rules;
    if (between_ < 2) {  // too few to see a line: the settings of released models
      for (const double length : {8192, 4096, 2048, 32768, 1024, 512, 256}) {
        for (const double high : {4.0, 1.0}) add(length, high);
      }
      return rules;
    }
    const double slope = kept_by_frequency_.slope();
    const double high = 1 - 1 / kept_by_frequency_.start();
    if (slope > 0 && high > 1 && high < 1000) {
      const double round = roundest_number(high, 0.02).value;
      add(roundest_length(slope * 2 * std::numbers::pi * (round - 1)), round);
    }
    return rules;
  }

  std::vector<RotationRule> yarn_rules() const {
    std::vector<RotationRule> rules;
    for (const bool truncate : {true, false}) {
      for (const double length : kLengths) {
        RotationRule rule = start_;
        rule.scheme = "rotary_yarn";
        rule.parameters["original_length"] = shortest(length);
        if (!truncate) rule.parameters["truncate"] = "no";
        rules.push_back(std::move(rule));
      }
    }
    return rules;
  }

  // Nearest to the fit first.
  bool first_of(std::vector<RotationRule> rules, const AcceptRule& accept) const {
    std::vector<std::pair<double, RotationRule>> near;
    for (RotationRule& rule : rules) {
      if (!make(rule, pairs_)) continue;
      const double usual = rule.made.attention_factor;
      if (rule.scheme == "rotary_yarn" && std::fabs(fit_.amplitude - usual) > 1e-3 * usual) {
        const double given = roundest_number(fit_.amplitude, 1e-6).value;
        rule.parameters["attention_factor"] = shortest(given);
        if (!make(rule, pairs_)) continue;
      }
      const double misfit = misfit_of(rule.made.inv_freq);
      if (std::isfinite(misfit)) near.emplace_back(misfit, std::move(rule));
    }
    std::ranges::stable_sort(near, {}, &std::pair<double, RotationRule>::first);
    return std::ranges::any_of(near, [&](const auto& each) { return accept(each.second); });
  }

  // The squares of what frequencies are off by, over their errors; infinite when one is far off.
  double misfit_of(const std::vector<double>& frequencies) const {
    double sum = 0;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      if (!(fit_.relative_error(k) < 0.1)) continue;
      const double off = (frequencies[k] - fit_.frequencies[k]) / fit_.errors[k];
      if (!(std::fabs(off) < 4)) return HUGE_VAL;
      sum += off * off;
    }
    return sum;
  }

  const RotationFit& fit_;
  std::int64_t pairs_;
  int between_ = 0;
  WeightedLine kept_by_frequency_;  // how much is kept of a pair's frequency, 1 of fast ones
  RotationRule start_;
};

}  // namespace

bool search_rules_by_parts(const RotationFit& fit, double base, const AcceptRule& accept) {
  const auto pairs = static_cast<std::int64_t>(fit.frequencies.size());
  RotationRule plain{"rotary", {{"base", shortest(base)}}, {}};
  if (!make(plain, pairs)) return false;
  const std::vector<double>& theta = plain.made.inv_freq;
  // The factor of the slowest pair whose frequency can be told well; when that one lies between,
  // of slower ones that can be told less well.
  double before = 0;
  for (const double enough : {1e-5, 1e-4, 1e-3, 1e-2, 0.1}) {
    std::int64_t k = pairs - 1;
    while (k > 0 && (fit.relative_error(k) > enough || theta[k] < 1.001 * fit.frequencies[k])) {
      --k;
    }
    if (k == 0) continue;
    const double ratio = theta[k] / fit.frequencies[k];
    const double factor = roundest_number(ratio, 3 * fit.relative_error(k) + 1e-6).value;
    if (factor != before && Search(fit, base, factor, theta).run(accept)) return true;
    before = factor;
  }
  return false;
}

}  // namespace sextant::identify
