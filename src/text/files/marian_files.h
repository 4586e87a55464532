// The tokenizer of Marian's models: source.spm, which divides texts, and vocab.json, which numbers
// the pieces of source and target.
#pragma once

#include <string>

namespace sextant::text {

// Whether a folder has both, and no tokenizer.json.
bool has_marian_files(const std::string& folder);

// Both as one tokenizer.json for PretrainedTokenizer, whose model is of the type SentencePiece,
// that this library alone has. Throws Error for files that are missing or too large and for a
// vocab.json without </s> and <unk>; other faults are found where that is read.
std::string join_marian_files(const std::string& folder);

}  // namespace sextant::text
