// What a scheme's file needs to describe itself: its descriptor's declaration and a reader of its
// parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/schemes/scheme.h"

namespace sextant::descriptors {

#define SEXTANT_SCHEME(name) extern const Scheme name;
#include "schemes/schemes.def"
#undef SEXTANT_SCHEME

// The parameters of one request: what was given, else the default of the descriptor. Throws Error
// for a name that the scheme does not have, listing those it has, and for a parameter that must be
// given and is not.
class Parameters {
 public:
  Parameters(const Scheme& scheme, const SchemeRequest& request);

  const std::string& text(std::string_view name) const;
  double number(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;  // "1,1.5,2"
  bool flag(std::string_view name) const;                    // "yes" or "no"
  // The request's weights, or the initial ones; throws Error unless they are those of the
  // descriptor. One of them, finite and of this shape.
  const SchemeWeights& weights() const;
  const Tensor<double>& weight(std::string_view name, const Shape& shape) const;
  // "sinusoidal.base": what an Error about the parameter names.
  std::string where(std::string_view name) const;

 private:
  const Scheme& scheme_;
  const SchemeRequest& request_;  // outlives this
  mutable SchemeWeights initial_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace sextant::descriptors
