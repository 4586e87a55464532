// The one verdict on order that all experiments share.
#include "sextant/lessons/order_difference.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "layers/rounding.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

std::string times(std::int64_t count) {
  return count == 0 ? "not at all" : count == 1 ? "once" : std::to_string(count) + " times";
}

double relative_distance(View<const double> a, View<const double> b) {
  double difference = 0, first = 0, second = 0;
  for (std::int64_t i = 0; i < a.size(0); ++i) {
    difference = std::hypot(difference, a(i) - b(i));
    first = std::hypot(first, a(i));
    second = std::hypot(second, b(i));
  }
  return difference == 0 ? 0 : difference / std::max(first, second);
}

}  // namespace

std::string OrderDifference::headline() const {
  if (last_differs) return "cannot tell: " + why;
  return same ? "same: order is invisible" : "different: order shows";
}

std::string OrderDifference::verdict(const std::string& positions) const {
  return headline() + " (" + positions + ", largest difference of the last token's output " +
         shortest(largest_difference) + ")" + (why.empty() || last_differs ? "" : "; " + why);
}

void check_same_words(const std::vector<std::string>& first, const std::vector<std::string>& second,
                      const std::string& where) {
  struct Counts {
    std::int64_t first = 0, second = 0;
  };
  std::map<std::string, Counts> counts;
  for (const std::string& word : first) ++counts[word].first;
  for (const std::string& word : second) ++counts[word].second;
  for (const auto& [word, count] : counts) {
    if (count.first == count.second) continue;
    throw Error(where, "must be the words of the first sentence in another order, got " +
                           printable_quote(word) + " " + times(count.second) + ", there it is " +
                           times(count.first));
  }
}

OrderDifference order_difference(const AttendedSentence& first, const AttendedSentence& second) {
  OrderDifference found;
  found.largest_difference = last_row_difference(first.output, second.output);
  found.distance = relative_distance(first.output.select(0, first.output.size(0) - 1),
                                     second.output.select(0, second.output.size(0) - 1));
  found.same = found.largest_difference <= first.rounding + second.rounding;
  found.last_differs = first.tokens.back() != second.tokens.back();
  if (found.last_differs) {
    found.why = "the last word itself differs; end both with a full stop";
  } else if (found.same) {
    found.why = why_same(first.positions, first.weights);
  }
  return found;
}

}  // namespace sextant
