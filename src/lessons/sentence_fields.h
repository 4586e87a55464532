// The list of the options of attention between words: of `sextant attend` and `compare`.
#pragma once

#include "core/options/fields.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant {

// Reads "2,0" and "3:1,*:0", the texts of the two options with special types.
template <>
Window read_option(std::string_view text, std::string_view where);
template <>
std::vector<HiddenPair> read_option(std::string_view text, std::string_view where);
std::string option_text(const Window& window);
std::string option_text(const std::vector<HiddenPair>& pairs);

template <>
inline constexpr auto kFields<SentenceAttentionOptions> = std::tuple{
    field(&SentenceAttentionOptions::heads, "heads", at_least(1), "number of heads")
        .with_condition("divides the width"),
    field(&SentenceAttentionOptions::width, "width", at_least(1), "width of the model"),
    field(&SentenceAttentionOptions::seed, "seed", kSeeds, "seed of the random weights"),
    field(&SentenceAttentionOptions::first_position, "first_position",
          IntegerRange{-kAnyInteger, kAnyInteger}, "position of the first word"),
    field(&SentenceAttentionOptions::causal, "causal",
          "causal mask: no word attends to later ones"),
    field(&SentenceAttentionOptions::window, "window", TextRange{"two whole numbers >= -1"},
          "visible keys before and after the query's position, which is not counted; -1: no limit"),
    field(&SentenceAttentionOptions::temperature, "temperature", kAboveZero,
          "softmax temperature, divides q k^T / sqrt(head_dim): low is peaked, high is flat"),
    field(&SentenceAttentionOptions::softcap, "softcap", kNotNegative,
          "c: scores become c tanh(score / c), before biases; 0: off"),
    field(&SentenceAttentionOptions::sinks, "sinks", ListRange{kFinite},
          "attention sinks: additional logits in the softmax, without values")
        .unset("none")
        .with_condition("one, or one per head"),
    field(&SentenceAttentionOptions::hidden, "hidden", TextRange{"pairs such as 3:1,*:0"},
          "hidden pairs query:key, counted from 0; *: all")
        .unset("none")};

}  // namespace sextant
