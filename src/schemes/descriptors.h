// What a scheme's file needs to describe itself: its descriptor's declaration and a reader of its
// parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

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
  // "sinusoidal.base": what an Error about the parameter names.
  std::string where(std::string_view name) const;

 private:
  std::string_view scheme_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace sextant::descriptors
