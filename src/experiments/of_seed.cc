// Everything random, moved on by the number of the seed.
#include "experiments/of_seed.h"

#include <algorithm>
#include <string>

#include "core/options/fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

constexpr const char* kName = "seed";  // the parameter

void move_on(SchemeSpec& scheme, std::int64_t i) {
  for (const Option& option : find_scheme(scheme.scheme).parameters()) {
    if (option.name != kName) continue;
    std::string& text = scheme.parameters.try_emplace(kName, option.default_text).first->second;
    text = std::to_string(parse_int64(text, scheme.scheme + "." + kName) + i);
  }
}

}  // namespace

ExtrapolationOptions of_seed(const ExtrapolationOptions& options, std::int64_t i) {
  ExtrapolationOptions one = options;
  one.seeds = 1;
  if (i == 0) return one;
  one.data.seed += static_cast<std::uint64_t>(i);
  one.model.seed += static_cast<std::uint32_t>(i);
  for (ExtrapolationScheme& scheme : one.schemes) {
    for (SchemeSpec& each : scheme.schemes) move_on(each, i);
  }
  one.folder += "/" + std::string(kSeedFolder) + std::to_string(one.data.seed);
  return one;
}

SchemeSpecs without_own_seeds(SchemeSpecs positions, const SchemeSpecs& asked) {
  for (std::size_t i = 0; i < std::min(positions.size(), asked.size()); ++i) {
    const auto seed = asked.at(i).parameters.find(kName);
    if (seed == asked[i].parameters.end()) {
      positions[i].parameters.erase(kName);
    } else {
      positions[i].parameters[kName] = seed->second;
    }
  }
  return positions;
}

void check_seeds(const ExtrapolationOptions& options) {
  const auto more = options.seeds - 1;
  for (const std::uint64_t first : {options.data.seed, std::uint64_t{options.model.seed}}) {
    if (static_cast<std::int64_t>(first) + more <= kSeeds.max) continue;
    throw Error("extrapolation.seeds", "must end at seed 2^32 - 1 at most, got " +
                                           std::to_string(options.seeds) + " from " +
                                           std::to_string(first) + " on");
  }
}

}  // namespace sextant
