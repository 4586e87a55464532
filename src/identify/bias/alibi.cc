// ALiBi: slopes that are powers of two, and biases that are slopes times distances.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/interruption.h"
#include "identify/bias/names.h"
#include "identify/round_numbers.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/distance/alibi.h"

namespace sextant::identify {
namespace {

constexpr double kHidden = -1e30;  // what stands for -infinity: the least numbers of other types

// The largest relative difference of two lists.
double largest_off(const std::vector<double>& given, const std::vector<double>& made) {
  double worst = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    worst = std::max(worst, std::fabs(given[i] - made[i]) / made[i]);
  }
  return worst;
}

struct Slopes {
  double max_bias;
  std::string mistake;
};

// Which rule made these slopes; the correct one first.
std::optional<Slopes> rule_of(const std::vector<double>& slopes, double tolerance) {
  const auto heads = static_cast<std::int64_t>(slopes.size());
  for (const double slope : slopes) {
    if (!(slope > 0) || !std::isfinite(slope)) return std::nullopt;
  }
  const auto power = std::bit_floor(slopes.size());
  const double bits = -std::log2(slopes[power - 1]);
  const double max_bias = roundest_number(std::max(bits, 1e-3), tolerance).value;
  if (max_bias > 0.01 && max_bias <= 1000 &&
      largest_off(slopes, alibi_slopes(heads, max_bias)) <= tolerance) {
    return Slopes{max_bias, ""};
  }
  // The formula for powers of two at any number of heads, and exponents counted from 0.
  const auto plain = [&](double from, double most) {
    std::vector<double> made;
    for (std::int64_t h = 0; h < heads; ++h) {
      made.push_back(
          std::exp2(-most * (static_cast<double>(h) + from) / static_cast<double>(heads)));
    }
    return made;
  };
  const double last = -std::log2(slopes.back());
  const double most = roundest_number(std::max(last, 1e-3), tolerance).value;
  if (heads > 1 && last > 0.01 && largest_off(slopes, plain(1, most)) <= tolerance) {
    return Slopes{most, "plain_slopes"};
  }
  const double from_zero = last * static_cast<double>(heads) / static_cast<double>(heads - 1);
  if (heads > 1 && last > 0.01) {
    const double whole = roundest_number(from_zero, 2 * tolerance).value;
    if (largest_off(slopes, plain(0, whole)) <= tolerance) {
      return Slopes{whole, "slopes_from_exponent_0"};
    }
  }
  return std::nullopt;
}

void describe(Identification& result, const Slopes& rule, std::int64_t heads) {
  result.scheme = "alibi";
  result.heads = heads;
  if (rule.max_bias != 8) result.parameters["max_bias"] = shortest(rule.max_bias);
  result.mistake = rule.mistake;
  if (rule.mistake == "plain_slopes") {
    result.explanation +=
        " The slopes are 2^(-max_bias h / heads) for a number of heads that is not a power of two: "
        "the paper's rule takes those of the next lower power and every other one of the next "
        "higher.";
  } else if (!rule.mistake.empty()) {
    result.explanation +=
        " The exponents are counted from 0, so that the first slope is 1; the paper's are counted "
        "from 1.";
  }
}

// What one head's values say: slope * (sign * column + constant).
struct Head {
  double slope;
  bool symmetric;     // a tent around `origin`
  bool hides_future;  // nothing right of the tent's top
  double origin;      // of row 0
};

// One row of a bias: values[column], some hidden. Rising, falling, or a tent.
std::optional<Head> head_of(const std::vector<double>& row, double tolerance) {
  std::vector<std::int64_t> seen;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > kHidden) seen.push_back(static_cast<std::int64_t>(i));
  }
  if (seen.size() < 3) return std::nullopt;
  const std::int64_t a = seen.front(), b = seen.back();
  if (b - a + 1 != static_cast<std::int64_t>(seen.size())) return std::nullopt;
  const double left = row[a + 1] - row[a], right = row[b] - row[b - 1];
  const auto at = [&](double slope, double origin, std::int64_t i) {
    return -slope * std::fabs(static_cast<double>(i) - origin);
  };
  const auto largest = [&] {
    double most = 0;
    for (const std::int64_t i : seen) most = std::max(most, std::fabs(row[i]));
    return most;
  }();
  const double allowed = 2 * tolerance * largest;
  if (left > 0 && right < 0) {
    const auto top = std::max_element(row.begin() + a, row.begin() + b + 1) - row.begin();
    const double slope = (largest) / static_cast<double>(std::max(top - a, b - top));
    for (const std::int64_t i : seen) {
      if (std::fabs(row[i] - at(slope, static_cast<double>(top), i)) > allowed) return std::nullopt;
    }
    return Head{slope, true, false, static_cast<double>(top)};
  }
  const double slope = (row[b] - row[a]) / static_cast<double>(b - a);
  if (slope == 0) return std::nullopt;
  for (const std::int64_t i : seen) {
    const double made = row[a] + slope * static_cast<double>(i - a);
    if (std::fabs(row[i] - made) > allowed) return std::nullopt;
  }
  const double origin = static_cast<double>(a) - row[a] / slope;  // where the line is 0
  if (std::fabs(origin - std::round(origin)) > 0.01 + tolerance * static_cast<double>(row.size())) {
    return std::nullopt;
  }
  const bool hides = b + 1 < static_cast<std::int64_t>(row.size());
  return Head{std::fabs(slope), slope < 0, hides, std::round(origin)};
}

}  // namespace

Identification name_slopes(View<const double> slopes, double unit_roundoff) {
  Identification result;
  std::vector<double> values;
  for (std::int64_t h = 0; h < slopes.size(0); ++h) values.push_back(slopes(h));
  // Signs differ between files: what multiplies the distance may be negative.
  if (!values.empty() && values[0] < 0) {
    for (double& x : values) x = -x;
  }
  const auto rule = values.empty() ? std::nullopt : rule_of(values, 4 * unit_roundoff);
  if (!rule) return result;
  result.form = "slopes";
  result.explanation = "The slopes of ALiBi for " + std::to_string(values.size()) +
                       (values.size() == 1 ? " head." : " heads.");
  describe(result, *rule, slopes.size(0));
  const auto made = alibi_slopes(slopes.size(0), rule->max_bias);
  if (rule->mistake.empty()) {
    for (std::size_t h = 0; h < made.size(); ++h) {
      result.max_deviation = std::max(result.max_deviation, std::fabs(values[h] - made[h]));
    }
  }
  // One slope is one number, 2^-8: many things are.
  result.confidence = values.size() < 2 ? 0.5 : values.size() < 4 ? 0.9 : 0.99;
  return result;
}

Identification name_alibi(View<const double> bias, double unit_roundoff) {
  Identification result;
  const bool matrix = bias.rank() == 3;
  const std::int64_t heads = bias.size(0);
  const std::int64_t queries = matrix ? bias.size(1) : 1;
  const std::int64_t keys = bias.size(matrix ? 2 : 1);
  std::vector<double> slopes;
  std::vector<double> row(static_cast<std::size_t>(keys));
  double worst = 0;
  std::string form;
  bool causal = false, any_tent = false, moves = false, hidden = false;
  std::optional<double> first_origin;
  for (std::int64_t h = 0; h < heads; ++h) {
    double slope = 0;
    for (std::int64_t q = queries - 1; q >= 0; --q) {
      check_interruption();
      for (std::int64_t k = 0; k < keys; ++k) row[k] = matrix ? bias(h, q, k) : bias(h, k);
      hidden = hidden || *std::min_element(row.begin(), row.end()) <= kHidden;
      const auto head = head_of(row, unit_roundoff);
      if (!head) {
        // Rows with too little to see are taken on trust of the others, not as evidence.
        const auto seen =
            std::count_if(row.begin(), row.end(), [](double x) { return x > kHidden; });
        if (matrix && slope != 0 && seen < 3) continue;
        return result;
      }
      if (slope == 0) slope = head->slope;
      worst = std::max(worst, std::fabs(head->slope / slope - 1));
      any_tent = any_tent || head->symmetric;
      causal = causal || head->hides_future;
      const double origin = head->origin - (matrix ? static_cast<double>(q) : 0);
      if (!first_origin) first_origin = head->origin;
      if (matrix && q == queries - 2)
        moves = origin == *first_origin - static_cast<double>(queries - 1);
      if (matrix && moves && origin != *first_origin - static_cast<double>(queries - 1))
        return result;
      if ((!matrix || !moves) && head->origin != *first_origin) return result;
    }
    slopes.push_back(slope);
  }
  const auto rule = rule_of(slopes, 16 * unit_roundoff);
  if (!rule || worst > 16 * unit_roundoff) return result;
  const double origin = *first_origin;
  if (matrix && moves) {
    form = causal || hidden ? "bias [heads, query, key], the future hidden"
                            : "bias [heads, query, key], symmetric";
  } else if (any_tent) {
    form = "bias [heads, distance + " + shortest(origin) + "], symmetric";
  } else if (hidden) {
    form = "bias [heads, distance + " + shortest(origin) + "], the future hidden";
  } else if (origin == 0) {
    form = "row-constant bias [heads, key], slope times key";
  } else {
    form = "row-constant bias [heads, key], slope times (key - " + shortest(origin) + ")";
  }
  result.form = form;
  if (!(matrix && moves) && (any_tent || hidden)) {
    result.length = static_cast<std::int64_t>(origin) + 1;
  }
  result.explanation =
      "ALiBi for " + std::to_string(heads) + (heads == 1 ? " head: " : " heads: ") + form + ".";
  if (!any_tent && !hidden && !(matrix && moves)) {
    result.explanation +=
        " A constant added to a whole row does not change the softmax, so under a causal mask the "
        "weights are those of -slope times the distance.";
  }
  describe(result, *rule, heads);
  if (hidden) result.parameters["direction"] = "causal";
  result.confidence = heads < 2 ? 0.6 : 0.99;
  const auto made = alibi_slopes(heads, rule->max_bias);
  for (std::size_t h = 0; h < made.size() && rule->mistake.empty(); ++h) {
    result.max_deviation = std::max(result.max_deviation,
                                    std::fabs(slopes[h] - made[h]) * static_cast<double>(keys - 1));
  }
  return result;
}

}  // namespace sextant::identify
