// Finds two words of a sentence that still read naturally when they swap places.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::figures {

// Returns two places before the last token, in order, with different words; nothing if there are
// not two. In English these are two nouns, found without a dictionary: "the black CAT sat on the
// couch and the brown DOG slept .". In other languages, or without two nouns, they are the two
// longest words.
using Swap = std::pair<std::size_t, std::size_t>;
std::optional<Swap> natural_swap(const std::vector<std::string>& tokens);

// Returns the first places of two words before the last token; nothing if one of them is absent.
std::optional<Swap> swap_of(const std::vector<std::string>& tokens, const std::string& first,
                            const std::string& second);

// Returns the tokens with the two places exchanged.
std::vector<std::string> swapped(std::vector<std::string> tokens, const Swap& swap);

// True unless the token is a punctuation mark, a symbol or an emoji.
bool is_word(const std::string& token);

// Joins tokens, "the cat sat ." -> "the cat sat.", without a space before a closing mark or after
// an opening one.
std::string sentence_of(const std::vector<std::string>& tokens);

}  // namespace sextant::figures
