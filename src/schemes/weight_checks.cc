// Checks of the learned weights of schemes.
#include "schemes/weight_checks.h"

#include <cmath>
#include <string>

#include "sextant/core/error.h"

namespace sextant::schemes_detail {

void check_finite(std::string_view scheme, std::string_view name, View<const double> values) {
  const auto check = [&](double value) {
    if (std::isfinite(value)) return;
    throw Error(std::string(scheme) + "." + std::string(name), "must be finite");
  };
  if (values.rank() == 0) return check(values());
  for (std::int64_t n = 0; n < values.size(0); ++n) {
    if (values.rank() == 1) {
      check(values(n));
    } else {
      check_finite(scheme, name, values.select(0, n));
    }
  }
}

void check_weight(std::string_view scheme, std::string_view name, const Tensor<double>& weight,
                  std::initializer_list<WeightAxis> axes, std::string_view reason) {
  const Shape& shape = weight.shape();
  std::string wanted;
  bool fits = shape.rank() == static_cast<int>(axes.size());
  int n = 0;
  for (const WeightAxis& axis : axes) {
    wanted += (n == 0 ? "[" : ", ") +
              (axis.name.empty() ? std::to_string(axis.size) : std::string(axis.name));
    fits = fits && (!axis.name.empty() || shape[n] == axis.size);
    ++n;
  }
  if (!fits) {
    throw Error(std::string(scheme) + "." + std::string(name),
                "must be " + wanted + "]" + std::string(reason) + ", got " + shape.to_string());
  }
  check_finite(scheme, name, weight);
}

}  // namespace sextant::schemes_detail
