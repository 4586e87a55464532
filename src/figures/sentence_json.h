// Writes the options of a small model that attends to sentences as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant::figures {

// Tokens, scheme and options; of the softmax's options those that are not off.
Json sentence_json(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                   const SentenceAttentionOptions& options);

}  // namespace sextant::figures
