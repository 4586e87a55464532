// Two words of a sentence that still read naturally when each stands in the place of the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::figures {

// Two places before the last token, in order, with different words; none where there are no two. In
// English two nouns, found without a dictionary: "the black CAT sat on the couch and the brown DOG
// slept .". Elsewhere, and where there are no two nouns, the two longest words.
using Swap = std::pair<std::size_t, std::size_t>;
std::optional<Swap> natural_swap(const std::vector<std::string>& tokens);

// The places where two words first stand before the last token; none where one of them does not.
std::optional<Swap> swap_of(const std::vector<std::string>& tokens, const std::string& first,
                            const std::string& second);

// The tokens with the two places exchanged.
std::vector<std::string> swapped(std::vector<std::string> tokens, const Swap& swap);

// No punctuation mark, symbol or emoji.
bool is_word(const std::string& token);

// "the cat sat ." -> "the cat sat.": no space before a mark that closes and after one that opens.
std::string sentence_of(const std::vector<std::string>& tokens);

}  // namespace sextant::figures
