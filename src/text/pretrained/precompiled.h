// The normalisation table of a SentencePiece model inside a tokenizer.json.
#pragma once

#include <functional>

#include "text/pretrained/aligned_text.h"
#include "text/pretrained/fields.h"

namespace sextant::text {

// Reads "precompiled_charsmap", in base64. Throws Error for other text, and for a table that points
// outside itself.
std::function<void(AlignedText&)> read_precompiled(const Field& field);

}  // namespace sextant::text
