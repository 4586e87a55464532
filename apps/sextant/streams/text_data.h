// Texts to learn from: cut into what is learned and what is held out, and into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/text/tokenizer.h"

namespace sextant::app {

// Where the held-out end of a text begins: behind a line break if there is one.
std::size_t split_of(const std::string& text, double held_out);

// The tokens of all texts, one after the other.
std::vector<std::int64_t> encode_all(const Tokenizer& tokenizer,
                                     const std::vector<std::string>& texts);

}  // namespace sextant::app
