// The normal forms of Unicode, with the alignment that tokenizers gives them.
#pragma once

#include "text/pretrained/aligned_text.h"

namespace sextant::text {

// NFD, NFC, NFKD (`compatible`), NFKC of Unicode 11, the version that tokenizers has: characters
// that are newer stay as they are.
void decompose(AlignedText& text, bool compatible);
void compose(AlignedText& text, bool compatible);

// Lower case, character by character: a final sigma becomes the common one.
void to_lower(AlignedText& text);

}  // namespace sextant::text
