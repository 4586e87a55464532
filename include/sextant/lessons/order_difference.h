// Whether the order of a sentence's words shows in the output of its last token.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/position_effect.h"

namespace sextant {

// What two sentences of the same words say of their order. The output of a token depends on the
// token itself, so the outputs of two last tokens say something of the order only where both
// sentences end in the same token.
struct OrderDifference {
  bool same = false;              // largest_difference is within what rounding can have done
  bool last_differs = false;      // the last tokens are different words: nothing follows
  double largest_difference = 0;  // between the outputs of the last tokens
  // The length of the difference of these outputs over the length of the longer one, 0 .. 2.
  double distance = 0;
  std::string why = {};  // in one clause, why `same`, or what to do where last_differs

  // "same: order is invisible", "different: order shows" or "cannot tell: ...".
  std::string headline() const;
  // The headline, the title of the positions ("no positions"), the largest difference, and why.
  std::string verdict(const std::string& positions) const;
};

// Throws Error(where) unless `second` has the words of `first`, each as many times, in any order.
void check_same_words(const std::vector<std::string>& first, const std::vector<std::string>& second,
                      const std::string& where);

// What attention has made of a sentence: its tokens, output [tokens, width], weights [heads,
// tokens, tokens], what its positions do, and the bound on rounding of any entry of the output.
struct AttendedSentence {
  const std::vector<std::string>& tokens;
  View<const double> output, weights;
  PositionEffect positions;
  double rounding;
};
OrderDifference order_difference(const AttendedSentence& first, const AttendedSentence& second);

}  // namespace sextant
