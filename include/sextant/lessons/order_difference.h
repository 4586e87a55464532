// Compares the outputs of two orders of a sentence's words.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/position_effect.h"

namespace sextant {

// The result of comparing two sentences with the same words. The output of a token depends on the
// token itself, so the outputs of two last tokens only show the effect of the order if both
// sentences end in the same token.
struct OrderDifference {
  bool same = false;              // largest_difference is within the rounding error
  bool last_differs = false;      // the last tokens are different words, so nothing follows
  double largest_difference = 0;  // of the outputs of the last tokens
  // The length of the difference of these outputs divided by the length of the longer one, 0 .. 2.
  double distance = 0;
  std::string why = {};  // one clause: the reason for `same`, or advice for last_differs

  // Returns "same: order is invisible", "different: order shows" or "cannot tell: ...".
  std::string headline() const;
  // Returns the headline, the title of the positions ("no positions"), the largest difference, and
  // the reason.
  std::string verdict(const std::string& positions) const;
};

// Throws Error(where) unless `second` has the words of `first`, each as many times, in any order.
void check_same_words(const std::vector<std::string>& first, const std::vector<std::string>& second,
                      const std::string& where);

// The attention of a sentence: its tokens, output [tokens, width], weights [heads, tokens, tokens],
// the effect of its positions, and the bound on the rounding error of any entry of the output.
struct AttendedSentence {
  const std::vector<std::string>& tokens;
  View<const double> output, weights;
  PositionEffect positions;
  double rounding;
};
OrderDifference order_difference(const AttendedSentence& first, const AttendedSentence& second);

}  // namespace sextant
