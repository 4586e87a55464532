// Computes attention as recommendation: users are queries, items keys, attributes the dimensions.
#pragma once

#include "sextant/core/tensor.h"
#include "sextant/lessons/named_table.h"

namespace sextant {

struct Recommendation {
  Tensor<double> scores;   // [users, items]: products of attributes / sqrt(attributes)
  Tensor<double> weights;  // [users, items]: softmax of each row
};
// users [users, attributes], items [items, attributes]. Throws Error for tables that do not fit.
Recommendation recommend(View<const double> users, View<const double> items);
// The columns of both must be the same attributes, in any order. Throws an Error with an attribute
// that only one table has.
Recommendation recommend(const NamedTable& users, const NamedTable& items);

}  // namespace sextant
