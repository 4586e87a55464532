// Which libraries of others the text component was built with.
#pragma once

namespace sextant {

// Whether ICU, SentencePiece and fastText are there (SEXTANT_TEXT of the build). Without them,
// characters and words between white space work as ever, lower_case() takes ASCII only, and what
// needs one of them throws Error that names it: sentences, words by the rules of Unicode, visible
// lengths, PretrainedTokenizer (ICU), SubwordTokenizer (SentencePiece), WordVectors::train()
// (fastText).
bool has_text_libraries() noexcept;

}  // namespace sextant
