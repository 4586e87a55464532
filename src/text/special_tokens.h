// Which tokens of a published model's tokenizer mean what: the files beside its tokenizer.json.
#pragma once

#include <string>

#include "sextant/text/tokenizer.h"

namespace sextant::text {

// Of `folder`/tokenizer_config.json and special_tokens_map.json (names), generation_config.json and
// config.json (ids), as far as they are there; "": no folder. A token that the tokenizer does not
// have is none. Throws Error naming the file for one that is no JSON, or has another kind of value.
SpecialTokens find_special_tokens(const std::string& folder, const PretrainedTokenizer& tokenizer);

// Writes what find_special_tokens() reads.
void save_special_tokens(const std::string& folder, const SpecialTokens& special,
                         const PretrainedTokenizer& tokenizer);

}  // namespace sextant::text
