// The list of the options of a tokenizer's training.
#pragma once

#include "core/options/fields.h"
#include "sextant/text/tokenizer.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<TokenizerKind> =
    meanings("a whole word", "one character", "a part of a word, learned from the text");

inline constexpr auto kTokenizerKind =
    field(&TokenizerTraining::kind, "kind", "type of the tokens");
inline constexpr auto kTokenizerSettings =
    std::tuple{field(&TokenizerTraining::lower_case, "lower_case", "lower-case the text first"),
               field(&TokenizerTraining::split_punctuation, "split_punctuation",
                     "split punctuation marks from words"),
               field(&TokenizerTraining::minimum_count, "minimum_count", at_least(1),
                     "words and characters with a smaller count become <unk>"),
               field(&TokenizerTraining::vocabulary_size, "vocabulary_size", at_least(0),
                     "maximum size of the vocabulary")
                   .with_condition(
                       "0: all words and characters; else at least 5, for sub-words 8 .. 1000000")};

template <>
inline constexpr auto kFields<TokenizerTraining> = std::tuple_cat(std::tuple{kTokenizerKind},
                                                                  kTokenizerSettings);

// Throws Error("tokenizer.OPTION", ...) for values out of range.
void check_options(const TokenizerTraining& options);

}  // namespace sextant
