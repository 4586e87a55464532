// Reads training tokens from a .safetensors file, which is mapped and not read into memory.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/text/token_array.h"

namespace sextant {

// The tensors and the metadata of such a file. With NumPy:
//   safetensors.numpy.save_file({"tokens": ids.astype("uint16"), "document_ends": ends},
//                               "tokens.safetensors", {"tokenizer": tokenizer.checksum})
struct TokenFile {
  TokenArray tokens;         // "tokens", [tokens], uint16 or uint32
  TokenArray document_ends;  // "document_ends", [documents], int64: the token after each document's
                             // last, ascending; the last is the number of tokens. Absent: none
  std::string tokenizer;     // Tokenizer::checksum() of the tokenizer that made them
  std::int64_t vocabulary = 0;  // "vocabulary_size" of that tokenizer; 0: not in the file
  std::uint64_t training = 0;   // "training_tokens": the rest is held out; 0: not in the file
  // "source": a description of the tokenizer and the text, for a run to compare.
  std::string source;
  std::string checksum;  // "checksum" of the tokens in the file
};

// Maps a file and reads it once, to find tokens that the tokenizer cannot have made. Throws an
// Error with the file for headers and offsets that TensorFile::open() refuses, for a tensor that is
// missing or of another shape or dtype, for ends that are out of order, for metadata that is
// missing, no number, or the checksum of other tokens, and for a token of `vocabulary` (0: the
// file's) or more. The file may be replaced by another while it is mapped; cutting it ends the
// process.
TokenFile load_token_file(const std::string& path, std::int64_t vocabulary = 0);

// Writes a file for load_token_file(), with the fewest bytes per token; `checksum` is ignored.
// Throws Error for tokens of 2^32 or more, for ends out of order, and if the file cannot be
// written.
void save_token_file(const std::string& path, const TokenFile& file);

}  // namespace sextant
