// Rules whose frequencies are one ladder: plain ones, divided ones (linear), those of a changed
// base (NTK-aware), and those whose slow pairs stand still (proportional).
#include "identify/rotation/rules.h"
#include "identify/numbers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/rotated/rotary_ntk.h"
#include "sextant/schemes/scheme.h"

namespace sextant::identify {
namespace {

// frequency k = base^(-k / pairs) / divisor; errors are relative.
struct LadderFit {
  double base, base_error;
  double divisor, divisor_error;
};

// base = rotary_ntk_base() of a usual base and a plain factor.
struct ChangedBase {
  double base, usual, factor;
};

class Search {
 public:
  Search(const RotationFit& fit, const AcceptRule& accept)
      : fit_(fit), accept_(accept), pairs_(static_cast<std::int64_t>(fit.frequencies.size())) {}

  bool run() const {
    const std::int64_t rotated = rotated_pairs();
    if (rotated == 0) return false;
    // Slow pairs may stand still or only seem to.
    if (const auto whole = ladder_of(rotated)) {
      if (try_ladder(*whole, pairs_)) return true;
      if (rotated < pairs_ && try_ladder(*whole, rotated)) return true;
    }
    // Scaled by parts: the fastest pairs are kept; the base is that of those that lie on a line.
    std::vector<double> tried;
    for (std::int64_t kept = pairs_ - 1; kept >= 2; --kept) {
      const auto fast = ladder_of(kept);
      if (!fast || std::fabs(fast->divisor - 1) > fast->divisor_error) continue;
      for (const double base : bases(*fast)) {
        if (std::ranges::find(tried, base) != tried.end()) continue;
        if (search_rules_by_parts(fit_, base, accept_)) return true;
        tried.push_back(base);
      }
    }
    return false;
  }

 private:
  // Pairs before those that stand still: whose frequencies are 0 within their error.
  std::int64_t rotated_pairs() const {
    std::int64_t n = pairs_;
    while (n > 0 && !(fit_.frequencies[n - 1] > fit_.errors[n - 1] * 4)) --n;
    return n;
  }

  // The first `count` logarithms on a line; nothing when they are not on one.
  std::optional<LadderFit> ladder_of(std::int64_t count) const {
    const auto exponent = [&](std::int64_t k) {
      return static_cast<double>(k) / static_cast<double>(pairs_);
    };
    WeightedLine line;
    for (std::int64_t k = 0; k < count; ++k) {
      const double error = fit_.relative_error(k);
      if (error < 0.1) line.add(exponent(k), std::log(fit_.frequencies[k]), error);
    }
    if (!(line.w > 0)) return std::nullopt;
    const double determinant = line.determinant();
    LadderFit result{10000, HUGE_VAL, std::exp(-line.wy / line.w), std::sqrt(1 / line.w)};
    if (determinant > line.w * line.wxx * 1e-12) {  // not one pair, which has no base
      result = {std::exp(-line.slope()), std::sqrt(line.w / determinant), std::exp(-line.start()),
                std::sqrt(line.wxx / determinant)};
    }
    for (std::int64_t k = 0; k < count && result.base_error < 1; ++k) {
      const double error = fit_.relative_error(k);
      const double predicted = -std::log(result.base) * exponent(k) - std::log(result.divisor);
      if (error < 0.1 && std::fabs(std::log(fit_.frequencies[k]) - predicted) > 2 * error + 2e-7) {
        return std::nullopt;
      }
    }
    return result;
  }

  bool try_ladder(const LadderFit& ladder, std::int64_t rotated) const {
    const double round = roundest_number(ladder.divisor, 3 * ladder.divisor_error + 1e-9).value;
    for (const double base : bases(ladder)) {
      for (const double divisor : {1.0, round}) {
        for (RotationRule& rule : ladder_rules(base, divisor, rotated)) {
          if (make(rule, pairs_) && accept_(rule)) return true;
        }
      }
    }
    return false;
  }

  // The roundest base near the estimate (a changed one, when it is not round), and the estimate.
  std::vector<double> bases(const LadderFit& ladder) const {
    if (!(ladder.base_error < 1)) return {10000};
    const double tolerance = 3 * ladder.base_error + 1e-9;
    const Round round = roundest_base(ladder.base, tolerance);
    std::vector<double> result = {round.value, ladder.base};
    if (round.roughness > 4) {
      if (const auto changed = changed_base(ladder.base, tolerance)) {
        result.insert(result.begin(), changed->base);
      }
    }
    return result;
  }

  // Two where the scheme may round the share of pairs down to one less.
  std::vector<RotationRule> ladder_rules(double base, double divisor, std::int64_t rotated) const {
    RotationRule rule{"rotary", {}, "frequencies base^(-2k/n) with base " + shortest(base)};
    if (base != 10000) rule.parameters["base"] = shortest(base);
    if (divisor != 1) rule.parameters["factor"] = shortest(divisor);
    const std::string divided = divisor != 1 ? ", all divided by " + shortest(divisor) : "";
    if (rotated == pairs_) {
      if (divisor != 1) rule.scheme = "rotary_linear";
      rule.sentence += divisor != 1 ? divided : ntk_sentence(base);
      return {rule};
    }
    rule.scheme = "rotary_proportional";
    rule.sentence += "; the slowest " + std::to_string(pairs_ - rotated) + " of " +
                     std::to_string(pairs_) + " pairs are not rotated" + divided;
    const double share = static_cast<double>(rotated) / static_cast<double>(pairs_);
    std::vector<RotationRule> rules(2, rule);
    rules[0].parameters["proportion"] = shortest(share);
    rules[1].parameters["proportion"] = shortest(std::nextafter(share, 1));
    return rules;
  }

  std::optional<ChangedBase> changed_base(double base, double tolerance) const {
    if (pairs_ < 2) return std::nullopt;
    const double n = static_cast<double>(pairs_);
    for (const double usual : {10000.0, 500000.0, 1000000.0}) {
      const double factor = std::round(4 * std::pow(base / usual, (n - 1) / n)) / 4;
      if (!(factor > 1 && factor <= 64)) continue;
      const double changed = ntk_base(usual, 2 * pairs_, {.factor = factor});
      if (std::fabs(std::log(base / changed)) <= tolerance) {
        return ChangedBase{changed, usual, factor};
      }
    }
    return std::nullopt;
  }
  std::string ntk_sentence(double base) const {
    const auto changed = changed_base(base, 1e-12);
    if (!changed) return {};
    return " (" + shortest(changed->usual) + " changed for factor " + shortest(changed->factor) +
           ", NTK-aware scaling)";
  }

  const RotationFit& fit_;
  const AcceptRule& accept_;
  std::int64_t pairs_;
};

}  // namespace

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

bool search_rules(const RotationFit& fit, const AcceptRule& accept) {
  return Search(fit, accept).run();
}

}  // namespace sextant::identify
