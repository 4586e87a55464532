// Finds the special tokens of a published model's tokenizer in the files next to its
// tokenizer.json.
#pragma once

#include <string>

#include "sextant/text/tokenizer.h"

namespace sextant::text {

// Reads `folder`/tokenizer_config.json and special_tokens_map.json (names), generation_config.json
// and config.json (ids), as far as they exist; "": no folder. A token that the tokenizer does not
// have is none. Throws an Error with the file for one that is no JSON, or has another kind of
// value.
SpecialTokens find_special_tokens(const std::string& folder, const PretrainedTokenizer& tokenizer);

// Writes files for find_special_tokens().
void save_special_tokens(const std::string& folder, const SpecialTokens& special,
                         const PretrainedTokenizer& tokenizer);

}  // namespace sextant::text
