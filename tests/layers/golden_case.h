// What PyTorch computes, forward and backward: golden/*.safetensors. golden/make_golden.py says how
// the arrays are named and where the numbers come from.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"
#include "sextant/core/tensor.h"
#include "support/folders.h"

namespace sextant {

class GoldenCase {
 public:
  explicit GoldenCase(const std::string& name) {
    const SafetensorsFile file =
        load_safetensors(sextant::tests::data_folder() + "/layers/golden/" + name + ".safetensors");
    for (const auto& [key, array] : file.tensors) tensors_.emplace(key, array.to<double>());
    config_ = Json::parse(file.metadata.at("config"));
    const auto error = file.metadata.find("float32_error");
    if (error != file.metadata.end()) float32_error_ = std::stod(error->second);
  }

  const Tensor<double>& operator[](const std::string& name) const {
    const auto at = tensors_.find(name);
    if (at == tensors_.end()) throw Error("golden." + name, "must be in the file");
    return at->second;
  }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  const std::map<std::string, Tensor<double>>& tensors() const noexcept { return tensors_; }
  const Json& config() const noexcept { return config_; }

  // Rounded to T: exact for parameters, inputs and dout.
  template <class T>
  Tensor<T> as(const std::string& name) const {
    const Tensor<double>& from = (*this)[name];
    auto to = Tensor<T>::uninitialized(from.shape());
    std::transform(from.span().begin(), from.span().end(), to.data(),
                   [](double x) { return static_cast<T>(x); });
    return to;
  }
  // "x_segments" and the like.
  std::vector<std::int64_t> integers(const std::string& name) const {
    const auto values = (*this)[name].span();
    std::vector<std::int64_t> result;
    for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
    return result;
  }

  // How far a layer in T may be from the truth, in units of the array's largest number. PyTorch's
  // float32 is off by float32_error somewhere: what the case's roundings come to. Ours are as many
  // in another order, so that the largest of some hundred sums differs by a small factor, for which
  // 8 is taken. Errors are in proportion to the unit: 2^-29 of that in float64.
  template <class T>
  double tolerance() const {
    return 8 * float32_error_ * (std::is_same_v<T, double> ? 0x1p-29 : 1);
  }

 private:
  std::map<std::string, Tensor<double>> tensors_;
  Json config_;
  double float32_error_ = 0;
};

// Every element within tolerance * the largest number that is wanted.
template <class T>
::testing::AssertionResult is_near(View<const T> got, const Tensor<double>& wanted,
                                   double tolerance) {
  if (!(got.shape() == wanted.shape())) {
    return ::testing::AssertionFailure()
           << "got " << got.shape().to_string() << ", wanted " << wanted.shape().to_string();
  }
  double largest = 0;
  for (const double value : wanted.span()) largest = std::max(largest, std::abs(value));
  const auto dense = copy_of(got);
  for (std::int64_t n = 0; n < wanted.count(); ++n) {
    const auto have = static_cast<double>(dense.data()[n]);
    if (std::abs(have - wanted.data()[n]) <= tolerance * largest) continue;  // false for NaN
    return ::testing::AssertionFailure()
           << "element " << n << " of " << wanted.shape().to_string() << ": got " << have
           << ", wanted " << wanted.data()[n] << " +- " << tolerance * largest;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace sextant
