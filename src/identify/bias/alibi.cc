// ALiBi: slopes that are powers of two, and biases that are slopes times distances.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/threads/interruption.h"
#include "identify/bias/names.h"
#include "identify/numbers.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/distance/alibi.h"

namespace sextant::identify {
namespace {

// Smaller numbers count as -infinity: the least numbers of other types.
constexpr double kFarBelow = -1e30;

// Slopes of the paper, of its formula for powers of two at any number of heads, or of exponents
// counted from 0.
std::vector<double> make_slopes(std::string_view mistake, std::int64_t heads, double max_bias) {
  if (mistake.empty()) return alibi_slopes(heads, max_bias);
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto exponent = static_cast<double>(mistake == "plain_slopes" ? h + 1 : h);
    slopes.push_back(std::exp2(-max_bias * exponent / static_cast<double>(heads)));
  }
  return slopes;
}

// Fills in the rule that made these slopes, the paper's before mistakes; false when none did.
bool name_rule(const std::vector<double>& slopes, double tolerance, double longest_distance,
               Identification& result) {
  for (const double slope : slopes) {
    if (!(slope > 0) || !std::isfinite(slope)) return false;
  }
  const auto heads = static_cast<double>(slopes.size());
  const double last = -std::log2(slopes.back());
  const struct {
    const char* mistake;
    double max_bias;
    const char* sentence;
  } candidates[] = {
      {"", -std::log2(slopes[std::bit_floor(slopes.size()) - 1]), ""},
      {"plain_slopes", last,
       " The slopes are 2^(-max_bias h / heads) for a number of heads that is not a power of two: "
       "the paper's rule takes those of the next lower power and every other one of the next "
       "higher."},
      {"slopes_from_exponent_0", last * heads / (heads - 1),
       " The exponents are counted from 0, so that the first slope is 1; the paper's are counted "
       "from 1."}};
  for (const auto& [mistake, estimate, sentence] : candidates) {
    if (!(estimate > 0.01 && estimate <= 1000)) continue;
    const double max_bias = roundest_number(estimate, 2 * tolerance).value;
    const auto made = make_slopes(mistake, std::ssize(slopes), max_bias);
    double worst = 0, deviation = 0;
    for (std::size_t h = 0; h < made.size(); ++h) {
      worst = std::max(worst, std::fabs(slopes[h] - made[h]) / made[h]);
      deviation = std::max(deviation, std::fabs(slopes[h] - made[h]));
    }
    if (worst > tolerance) continue;
    result.scheme = "alibi";
    result.heads = std::ssize(slopes);
    if (max_bias != 8) result.parameters["max_bias"] = shortest(max_bias);
    result.mistake = mistake;
    result.explanation += sentence;
    result.max_deviation = deviation * longest_distance;
    return true;
  }
  return false;
}

// One way to lay out distances: those of a row of a matrix, or the same for every query.
struct Form {
  bool is_line;   // slope * (key - origin), not -slope * |key - origin|
  bool moves;     // the origin is one key further with each query
  double origin;  // of the last query

  double origin_of(std::int64_t queries_left) const {
    return origin - (moves ? static_cast<double>(queries_left) : 0);
  }
  double distance(std::int64_t queries_left, std::int64_t key) const {
    const double d = static_cast<double>(key) - origin_of(queries_left);
    return is_line ? d : -std::fabs(d);
  }
  std::string text(bool causal) const {
    const std::string ending = causal ? ", the future hidden" : ", symmetric";
    if (is_line && moves) return "row-constant bias [heads, query, key], slope times (key - query)";
    if (moves) return "bias [heads, query, key]" + ending;
    if (!is_line) return "bias [heads, distance + " + shortest(origin) + "]" + ending;
    return "row-constant bias [heads, key], slope times " +
           (origin == 0 ? "key" : "(key - " + shortest(origin) + ")");
  }
};

// The key at distance 0 of the last query, of head 0.
std::optional<double> origin_of(View<const double> bias, bool is_line) {
  const std::int64_t q = bias.size(1) - 1;
  std::vector<std::int64_t> seen;
  for (std::int64_t k = 0; k < bias.size(2); ++k) {
    if (bias(0, q, k) > kFarBelow) seen.push_back(k);
  }
  if (seen.size() < 3) return std::nullopt;
  if (!is_line) {
    return static_cast<double>(*std::max_element(
        seen.begin(), seen.end(), [&](auto a, auto b) { return bias(0, q, a) < bias(0, q, b); }));
  }
  const double first = bias(0, q, seen.front());
  const double slope =
      (bias(0, q, seen.back()) - first) / static_cast<double>(seen.back() - seen.front());
  const double origin = std::round(static_cast<double>(seen.front()) - first / slope);
  return std::isfinite(origin) ? std::optional(origin) : std::nullopt;
}

struct Slopes {
  std::vector<double> of_heads;
  bool causal = false;  // all of the future is hidden
};
// The slope of each head, if the form makes every value that is not hidden.
std::optional<Slopes> slopes_of(View<const double> bias, const Form& form, double unit_roundoff) {
  const std::int64_t queries = bias.size(1), keys = bias.size(2);
  Slopes found;
  bool hidden = false, sees_future = false;
  for (std::int64_t h = 0; h < bias.size(0); ++h) {
    double farthest = 0, slope = 0;
    for (const std::int64_t q : {queries - 1, std::int64_t{0}}) {
      for (std::int64_t k = 0; k < keys; ++k) {
        const double d = form.distance(queries - 1 - q, k);
        if (bias(h, q, k) <= kFarBelow || std::fabs(d) <= farthest) continue;
        farthest = std::fabs(d);
        slope = bias(h, q, k) / d;
      }
    }
    if (!(slope > 0)) return std::nullopt;
    const double of_row = form.is_line ? slope * std::fabs(form.origin) : 0;
    for (std::int64_t q = 0; q < queries; ++q) {
      check_interruption();
      for (std::int64_t k = 0; k < keys; ++k) {
        const double value = bias(h, q, k);
        if (value <= kFarBelow) {
          hidden = true;
          continue;
        }
        const double d = form.distance(queries - 1 - q, k);
        sees_future = sees_future || static_cast<double>(k) > form.origin_of(queries - 1 - q);
        const double allowed = 4 * unit_roundoff * std::max(std::fabs(value), of_row);
        if (!(std::fabs(value - slope * d) <= allowed)) return std::nullopt;
      }
    }
    found.of_heads.push_back(slope);
  }
  // If every row has the same line, it has no distance 0: its hidden pairs are a mask's.
  const bool masked_line = form.is_line && !form.moves && queries > 1;
  found.causal = hidden && (masked_line || !sees_future);
  return found;
}

}  // namespace

Identification name_slopes(View<const double> slopes, double unit_roundoff) {
  std::vector<double> values;
  // Signs differ between files: the factor of the distance may be negative.
  const double sign = slopes(0) < 0 ? -1 : 1;
  for (std::int64_t h = 0; h < slopes.size(0); ++h) values.push_back(sign * slopes(h));
  Identification result;
  result.explanation = "The slopes of ALiBi for " + std::to_string(values.size()) +
                       (values.size() == 1 ? " head." : " heads.");
  if (!name_rule(values, 4 * unit_roundoff, 1, result)) return {};
  result.form = "slopes";
  // One slope is one number, 2^-8: many things are.
  result.confidence = values.size() < 2 ? 0.5 : values.size() < 4 ? 0.9 : 0.99;
  return result;
}

Identification name_alibi(View<const double> bias, double unit_roundoff) {
  const bool matrix = bias.rank() == 3;
  if (!matrix) {
    const std::int64_t strides[] = {bias.stride(0), 0, bias.stride(1)};
    bias = {bias.data(), Shape{bias.size(0), 1, bias.size(1)}, strides};
  }
  bool hides = false;  // then a row is one of distances, else it may be one of keys
  for (std::int64_t k = 0; k < bias.size(2); ++k) hides = hides || bias(0, 0, k) <= kFarBelow;
  std::vector<std::pair<bool, bool>> forms = {{!hides, false}, {hides, false}};  // is_line, moves
  if (matrix) forms = {{false, true}, {true, false}, {true, true}, {false, false}};
  for (const auto& [is_line, moves] : forms) {
    const auto origin = origin_of(bias, is_line);
    if (!origin) continue;
    const Form form{is_line, moves, *origin};
    const auto slopes = slopes_of(bias, form, unit_roundoff);
    if (!slopes) continue;
    Identification result;
    const std::int64_t heads = bias.size(0);
    result.form = form.text(slopes->causal);
    result.explanation = "ALiBi for " + std::to_string(heads) +
                         (heads == 1 ? " head: " : " heads: ") + result.form + ".";
    if (is_line) {
      result.explanation +=
          " A constant added to a whole row does not change the softmax, so under a causal mask "
          "the weights are those of -slope times the distance.";
    }
    if (!name_rule(slopes->of_heads, 16 * unit_roundoff, static_cast<double>(bias.size(2) - 1),
                   result)) {
      continue;
    }
    if (!is_line && !moves) result.length = static_cast<std::int64_t>(*origin) + 1;
    if (slopes->causal) result.parameters["direction"] = "causal";
    result.confidence = heads < 2 ? 0.6 : 0.99;
    return result;
  }
  return {};
}

}  // namespace sextant::identify
