// Lists the options of sampling, beam search and their users.
#pragma once

#include "core/options/fields.h"
#include "sextant/models/fill_masks.h"
#include "sextant/models/generate_batch.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_windows.h"
#include "sextant/models/translate.h"

namespace sextant {

inline constexpr std::string_view kAllCores = "number of threads; 0: all cores";

template <>
inline constexpr auto kFields<SamplingOptions> =
    std::tuple{field(&SamplingOptions::temperature, "temperature", kNotNegative,
                     "divisor of the logits; 0: always the most probable token"),
               field(&SamplingOptions::top_k, "top_k", at_least(0),
                     "sample from the k most probable tokens; 0: all"),
               field(&SamplingOptions::top_p, "top_p", NumberRange{0, 1, true},
                     "sample from the smallest set of tokens with this total probability"),
               field(&SamplingOptions::repetition_penalty, "repetition_penalty",
                     NumberRange{0.001, 1000}, "above 1: earlier tokens become less probable")};

template <>
inline constexpr auto kMeanings<CacheType> =
    meanings("as computed", "half the memory, 8 bits of precision",
             "half the memory, 11 bits of precision, at most 65504",
             "over a quarter of the memory, within 1/254 of the largest number of a key or value");

template <>
inline constexpr auto kFields<GenerateOptions> = std::tuple{
    field(&GenerateOptions::max_tokens, "max_tokens", IntegerRange{1, 1 << 20},
          "maximum number of new tokens"),
    field(&GenerateOptions::slide, "slide",
          "continue beyond the end of a learned table of positions, from the last tokens"),
    field(&GenerateOptions::seed, "seed", kSeeds, "seed of the sampling"),
    field(&GenerateOptions::cache_type, "cache_type", "element type of the KV cache"),
    field(&GenerateOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<BatchOptions> =
    std::tuple{field(&BatchOptions::samples, "samples", IntegerRange{1, 1 << 20},
                     "continuations of each prompt, with the seeds seed, seed + 1, ..."),
               field(&BatchOptions::batch_size, "batch_size", IntegerRange{1, 1 << 20},
                     "continuations decoded together; their texts do not depend on it")};

template <>
inline constexpr auto kFields<BeamSearchOptions> =
    std::tuple{field(&BeamSearchOptions::beams, "beams", IntegerRange{1, 4096},
                     "number of hypotheses; 1: greedy"),
               field(&BeamSearchOptions::n_best, "n_best", at_least(1), "translations per source")
                   .with_condition("at most the beams"),
               field(&BeamSearchOptions::length_penalty, "length_penalty", NumberRange{0, 100},
                     "strength of the length penalty; 0: none; larger: longer translations"),
               field(&BeamSearchOptions::bos, "bos", at_least(-1), "first token; -1: the model's"),
               field(&BeamSearchOptions::eos, "eos", at_least(-1), "end token; -1: the model's")};

template <>
inline constexpr auto kFields<TranslateOptions> = std::tuple{
    field(&TranslateOptions::length_factor, "length_factor", NumberRange{0, 1000},
          "maximum tokens of a translation per token of the source"),
    field(&TranslateOptions::extra_tokens, "extra_tokens", IntegerRange{1, 1 << 20},
          "further tokens that a translation may have"),
    field(&TranslateOptions::batch_size, "batch_size", at_least(1), "sources decoded together"),
    field(&TranslateOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<TextWindows> =
    std::tuple{field(&TextWindows::length, "length", IntegerRange{0, 1 << 24},
                     "tokens per window; 0: the length in the model's config"),
               field(&TextWindows::stride, "stride", at_least(0),
                     "slide the window by N tokens and score only those; 0: windows do not overlap")
                   .with_condition("at most the length"),
               field(&TextWindows::batch_tokens, "batch_tokens", at_least(1),
                     "approximate number of tokens per pass"),
               field(&TextWindows::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<FillOptions> =
    std::tuple{field(&FillOptions::top_k, "top_k", at_least(1), "most probable tokens per [MASK]"),
               field(&FillOptions::threads, "threads", kThreads, kAllCores)};

template <>
inline constexpr auto kFields<LogitLensOptions> = std::tuple{
    field(&LogitLensOptions::top_k, "top_k", at_least(1), "most probable tokens per layer"),
    field(&LogitLensOptions::threads, "threads", kThreads, kAllCores)};

}  // namespace sextant
