// A layer of ours with PyTorch's parameters, and what becomes of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "layers/golden_names.h"

namespace sextant {

using Naming = std::function<std::vector<std::string>(const std::string&)>;

// Of a layer, or of a model.
template <class T, class Layer>
Parameters<T> parameters_of(Layer& layer) {
  if constexpr (requires { layer.parameters(); }) {
    return layer.parameters();
  } else {
    Parameters<T> list;
    layer.append_parameters(list, "");
    return list;
  }
}

// A layer with PyTorch's parameters and one for its gradients, which starts at 0.
template <class T, class Layer>
struct Golden {
  template <class... Arguments>
  Golden(const GoldenCase& from, Naming names, const Arguments&... arguments)
      : golden(from), naming(std::move(names)), layer(arguments...), gradient(arguments...) {
    parameters = parameters_of<T>(layer);
    gradients = parameters_of<T>(gradient);
    set_to_zero(gradients);
    for (const Parameter<T>& p : parameters) {
      const Tensor<double> theirs = joined(golden, "parameter.", naming(p.name));
      if (!(theirs.shape() == p.tensor->shape())) {
        throw Error("golden." + p.name, "must be " + p.tensor->shape().to_string() + ", got " +
                                            theirs.shape().to_string());
      }
      std::transform(theirs.span().begin(), theirs.span().end(), p.tensor->data(),
                     [](double x) { return static_cast<T>(x); });
    }
  }

  void expect_gradients() const {
    for (const Parameter<T>& p : gradients) {
      EXPECT_TRUE(
          is_near<T>(*p.tensor, joined(golden, "gradient.", naming(p.name)), golden.tolerance<T>()))
          << p.name;
    }
  }

  const GoldenCase& golden;
  Naming naming;
  Layer layer, gradient;
  Parameters<T> parameters, gradients;
};

// What a layer computes of one of the file's arrays.
template <class T>
void expect_golden(const GoldenCase& golden, const std::string& name, View<const T> got) {
  EXPECT_TRUE(is_near<T>(got, golden[name], golden.tolerance<T>())) << name;
}

}  // namespace sextant
