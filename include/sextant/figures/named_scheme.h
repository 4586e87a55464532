// A scheme by name with some of its parameters: what most figures are asked for.
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
  std::map<std::string, std::string> parameters;  // what is absent takes its default
  const SchemeWeights* weights = nullptr;         // null: where training starts; borrowed

  const Scheme& descriptor() const { return find_scheme(scheme); }  // throws Error for no name
  std::string label() const;  // "rotary_yarn factor=4", in files and tables
  std::string name() const;   // "YaRN factor=4", in pictures
  std::string title() const;  // "YaRN positions", "no positions"
  // For these positions, which it borrows; sizes are the caller's to set.
  SchemeRequest request(std::span<const std::int64_t> positions) const;
};

// "rotary + T5 positions", "no positions"; and with the parameters, "rotary base=500000 + T5".
std::string title_of(const SchemeSpecs& schemes);
std::string picture_name(const SchemeSpecs& schemes);

// Positions first .. first + length - 1. Throws Error for more than 2^24, naming figure.length.
std::vector<std::int64_t> positions_of(const NamedScheme& scheme, std::int64_t length,
                                       std::int64_t first = 0);

}  // namespace sextant::figures
