// Lines of text through a translator: what `translate` and `evaluate` share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sextant/models/translate.h"
#include "sextant/text/tokenizer.h"

namespace sextant::app {

inline constexpr std::size_t kMostLineTokens = 4096;  // of a sentence

// --beam and --length-penalty.
void add_search(CLI::App& command, BeamSearch& search);

// The tokens of a line. Throws Error that names `where` for a line that is not UTF-8 or longer than
// kMostLineTokens.
std::vector<std::int64_t> line_tokens(const Tokenizer& tokenizer, std::string_view line,
                                      const std::string& where);

// The hypotheses of each line; none for a line without a token.
std::vector<std::vector<Hypothesis>> translate_lines(
    Translator<float>& model, std::span<const std::vector<std::int64_t>> lines,
    const Translation& options);

}  // namespace sextant::app
