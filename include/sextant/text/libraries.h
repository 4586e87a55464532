// Says which libraries the text component was built with.
#pragma once

namespace sextant {

// Returns whether ICU, SentencePiece and fastText are available (SEXTANT_TEXT of the build).
// Without them, characters and words between white space work as usual, lower_case() accepts only
// ASCII, and functions that need one throw an Error that names it: sentences, words by the rules of
// Unicode, visible lengths, PretrainedTokenizer (ICU), SubwordTokenizer (SentencePiece),
// WordVectors::train() (fastText).
bool has_text_libraries() noexcept;

}  // namespace sextant
