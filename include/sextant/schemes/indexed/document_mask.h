// Makes a mask for packed documents: tokens attend only to tokens of the same document (Krell et
// al. 2021, 2107.02027).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sextant/tables/score_term.h"

namespace sextant {

struct DocumentMask {
  bool causal = false;  // hide the future within a document
};

// Returns 0 if key and query are in the same document, and with causal if the key is not later;
// else -infinity. documents[n] is the document of token n, any number: of key n, and of query n -
// offset. Documents may be in pieces. Calls with more tokens are refused.
std::shared_ptr<const ScoreTerm> document_mask(const DocumentMask& options,
                                               std::span<const std::int64_t> documents);

// Returns the documents of `length` tokens from their first tokens: {0, 3} of 5 tokens gives {0, 0,
// 0, 1, 1}. Throws Error unless starts begin with 0 and ascend; starts beyond the length are
// ignored.
std::vector<std::int64_t> documents_from_starts(std::span<const std::int64_t> starts,
                                                std::int64_t length);

}  // namespace sextant
