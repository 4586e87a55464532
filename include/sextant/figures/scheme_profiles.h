// Draws scores and biases of schemes as functions of the distance: one curve per scheme of any
// kind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/figures/named_scheme.h"
#include "sextant/figures/position_figures.h"

namespace sextant::figures {

struct ProfileOptions {
  std::int64_t length = 100, first = 0;
  std::int64_t width = 512;    // width of added tables
  std::int64_t head_dim = 64;  // channels of rotations
  std::int64_t heads = 8;
  std::optional<std::int64_t> head;  // unset: the middle one
  bool all_heads = false;            // a curve for each head of a bias
  Measure measure = Measure::cosine;
  std::optional<double> max_width = {};  // of the picture, in CSS pixels, as LinePanels
};

// Draws one panel per kind of scheme. For query - key = 0 .. length - 1, the distance:
//   added     mean similarity of all pairs of rows
//   rotated   mean over positions of the score of q and k that are all ones, divided by their
//             channels: sum_k m_k^2 cos(distance theta_k) / pairs
//   biases    that of the last query
// `values` are [length, 1 + curves], the distance first. Throws an Error with figure.scheme for
// schemes without positions and for content terms, figure.length for fewer than 2 distances or more
// than 4096, figure.head for a head that does not exist, and figure.schemes for none.
Figure plot_profiles(const std::vector<NamedScheme>& schemes, const ProfileOptions& options = {});

// Returns the curves of one scheme. Throws Error as plot_profiles().
std::vector<Series> profiles_of(const NamedScheme& scheme, const ProfileOptions& options = {});

}  // namespace sextant::figures
