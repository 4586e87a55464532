// What schemes make of a distance: one curve per scheme, whatever its kind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "positions/plots.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app {

// A scheme with some of its parameters.
struct NamedScheme {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  const SchemeWeights* weights = nullptr;

  std::string label() const;  // "rotary_yarn factor=4"
};

// "rotary,rotary_yarn:factor=4:original_length=2048": parameters behind colons. What begins with no
// letter goes on with the list of numbers before it. Throws Error for names that are none, and for
// parameters that are missing.
std::vector<NamedScheme> parse_schemes(std::string_view text, const std::string& where);

struct ProfileOptions {
  std::int64_t length = 100, first = 0;
  std::int64_t width = 512;    // of added tables
  std::int64_t head_dim = 64;  // of rotations
  std::int64_t heads = 8;
  std::optional<std::int64_t> head;  // unset: the one in the middle
  bool all_heads = false;            // a curve for each head of a bias
  Measure measure = Measure::cosine;
};

// One panel per kind of scheme. For distances 0 .. length - 1, the query behind the key:
//   added     mean similarity of all pairs of rows
//   rotated   mean over positions of the score of q and k that are all ones, divided by their
//             channels: sum_k m_k^2 cos(distance theta_k) / pairs
//   biases    the bias of the last query at that distance
// Throws Error for schemes without positions and for content terms.
Plot plot_profiles(const std::vector<NamedScheme>& schemes, const ProfileOptions& options);

// The curves of one of them. Throws Error as plot_profiles().
std::vector<Series> profiles_of(const NamedScheme& scheme, const ProfileOptions& options);

}  // namespace sextant::app
