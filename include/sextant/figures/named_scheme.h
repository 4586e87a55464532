// Names a scheme and some of its parameters, the argument of most figures.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sextant/layers/scheme_spec.h"
#include "sextant/schemes/scheme.h"

namespace sextant::figures {

struct NamedScheme {
  std::string scheme;                             // any name that schemes() lists
  std::map<std::string, std::string> parameters;  // absent parameters have their defaults
  const SchemeWeights* weights = nullptr;         // null: the initial weights of training; borrowed

  const Scheme& descriptor() const { return find_scheme(scheme); }  // throws Error for no name
  std::string label() const;  // "rotary_yarn factor=4", in files and tables
  std::string name() const;   // "YaRN factor=4", in pictures
  std::string title() const;  // "YaRN positions", "no positions"
  // Returns the request for these positions, which it borrows; the caller sets the sizes.
  SchemeRequest request(std::span<const std::int64_t> positions) const;
};

// Returns "rotary + T5 positions", "no positions", or with the parameters "rotary base=500000 +
// T5".
std::string title_of(const SchemeSpecs& schemes);
std::string picture_name(const SchemeSpecs& schemes);

// Returns positions first .. first + length - 1. Throws an Error with figure.length for more than
// 2^24.
std::vector<std::int64_t> positions_of(const NamedScheme& scheme, std::int64_t length,
                                       std::int64_t first = 0);

}  // namespace sextant::figures
