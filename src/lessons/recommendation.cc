// Scores and weights of users x items.
#include "sextant/lessons/recommendation.h"

#include <algorithm>

#include "lessons/views.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

// The columns of a table in the order of `wanted`.
Tensor<double> in_order(const NamedTable& table, const std::vector<std::string>& wanted) {
  for (const std::string& column : table.columns) {
    if (std::ranges::find(wanted, column) == wanted.end()) {
      throw Error("recommend.items", "must have the attributes of the users, not " +
                                         printable_quote(column) + " as well");
    }
  }
  Tensor<double> ordered(Shape{table.values.size(0), static_cast<std::int64_t>(wanted.size())});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::ranges::find(table.columns, wanted[i]);
    if (found == table.columns.end()) {
      throw Error("recommend.items", "must have the attributes of the users, " +
                                         printable_quote(wanted[i]) + " is missing");
    }
    const auto column = found - table.columns.begin();
    for (std::int64_t row = 0; row < table.values.size(0); ++row) {
      ordered(row, static_cast<std::int64_t>(i)) = table.values(row, column);
    }
  }
  return ordered;
}

}  // namespace

Recommendation recommend(View<const double> users, View<const double> items) {
  if (users.rank() != 2 || users.count() == 0) {
    throw Error("recommend.users",
                "must be [users, attributes], both at least 1, got " + users.shape().to_string());
  }
  if (items.rank() != 2 || items.size(0) < 1 || items.size(1) != users.size(1)) {
    throw Error("recommend.items", "must be [items, " + std::to_string(users.size(1)) +
                                       "], one attribute for each of the users', got " +
                                       items.shape().to_string());
  }
  return {lessons::one_map(users, items, Stage::scores),
          lessons::one_map(users, items, Stage::probabilities)};
}

Recommendation recommend(const NamedTable& users, const NamedTable& items) {
  return recommend(users.values, in_order(items, users.columns));
}

}  // namespace sextant
