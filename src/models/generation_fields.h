// Lists the options of sampling, beam search and their users.
#pragma once

#include "core/options/fields.h"
#include "sextant/models/fill_masks.h"
#include "sextant/models/generate.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_windows.h"
#include "sextant/models/translate.h"

namespace sextant {

inline constexpr std::string_view kAllCores = "0: all cores";

template <>
inline constexpr auto kFields<SamplingOptions> =
    std::tuple{field(&SamplingOptions::temperature, "temperature", kNotNegative,
                     "divides the logits; 0: always the most probable token"),
               field(&SamplingOptions::top_k, "top_k", at_least(0),
                     "sample from the k most probable tokens; 0: all"),
               field(&SamplingOptions::top_p, "top_p", NumberRange{0, 1, true},
                     "sample from the fewest tokens with this total probability"),
               field(&SamplingOptions::repetition_penalty, "repetition_penalty",
                     NumberRange{0.001, 1000}, "above 1: earlier tokens become less probable")};

template <>
inline constexpr auto kMeanings<CacheType> =
    meanings("as computed", "half the memory, numbers of 8 bits of precision",
             "half the memory, numbers of 11 bits, at most 65504");

template <>
inline constexpr auto kFields<GenerateOptions> =
    std::tuple{field(&GenerateOptions::max_tokens, "max_tokens", IntegerRange{1, 1 << 20},
                     "largest number of new tokens"),
               field(&GenerateOptions::slide, "slide",
                     "beyond the end of the model's table of positions (learned), continue with "
                     "the last tokens"),
               field(&GenerateOptions::seed, "seed", kSeeds, "of the random choices"),
               field(&GenerateOptions::cache_type, "cache_type", "element type of the KV cache"),
               field(&GenerateOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<BeamSearchOptions> = std::tuple{
    field(&BeamSearchOptions::beams, "beams", IntegerRange{1, 4096},
          "number of hypotheses; 1: greedy"),
    field(&BeamSearchOptions::n_best, "n_best", at_least(1), "translations of each source")
        .with_condition("at most the beams"),
    field(&BeamSearchOptions::length_penalty, "length_penalty", NumberRange{0, 100},
          "0: none; larger: longer translations"),
    field(&BeamSearchOptions::bos, "bos", at_least(-1), "the token that begins; -1: the usual one"),
    field(&BeamSearchOptions::eos, "eos", at_least(-1), "the token that ends; -1: the usual one")};

template <>
inline constexpr auto kFields<TranslateOptions> =
    std::tuple{field(&TranslateOptions::length_factor, "length_factor", NumberRange{0, 1000},
                     "tokens that a translation may have for each of the source"),
               field(&TranslateOptions::extra_tokens, "extra_tokens", IntegerRange{1, 1 << 20},
                     "tokens that it may have besides"),
               field(&TranslateOptions::batch_size, "batch_size", at_least(1),
                     "sources that are decoded together"),
               field(&TranslateOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<TextWindows> = std::tuple{
    field(&TextWindows::length, "length", IntegerRange{0, 1 << 24},
          "tokens per window; 0: the length in the model's config"),
    field(&TextWindows::stride, "stride", at_least(0),
          "slide the window by N tokens and score only those; 0: windows do not overlap")
        .with_condition("at most the length"),
    field(&TextWindows::batch_tokens, "batch_tokens", at_least(1), "tokens of one pass, about"),
    field(&TextWindows::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<FillOptions> = std::tuple{
    field(&FillOptions::guesses, "guesses", at_least(1), "of a hole, the most probable ones"),
    field(&FillOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<LogitLensOptions> =
    std::tuple{field(&LogitLensOptions::top_k, "top_k", at_least(1),
                     "guesses of each layer, the most probable ones"),
               field(&LogitLensOptions::threads, "threads", kThreads, kAllCores)};

}  // namespace sextant
