// Tokens to learn from in a .safetensors file, which is mapped and not read into memory.
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
                             // last, ascending; the last is the number of tokens. Not there: none
  std::string tokenizer;     // Tokenizer::checksum() of what made them
  std::int64_t vocabulary = 0;  // "vocabulary_size" of that tokenizer; 0: the file does not say
  std::uint64_t training = 0;   // "training_tokens": the rest is held out; 0: the file does not say
  std::string source;           // "source": what made it of which text, for a run to compare
  std::string checksum;         // "checksum": of the tokens as they stand there
};

// Maps a file and reads it once: a token that the tokenizer cannot have made is found here. Throws
// Error that names the file for what TensorFile::open() refuses of a header and of offsets, for a
// tensor that is missing or of another shape or dtype, for ends that are out of order, for metadata
// that is missing, no number, or the checksum of other tokens, and for a token of `vocabulary` (0:
// what the file says) or more. The file may get another one in its place while it is mapped; what
// cuts it ends the process.
TokenFile load_token_file(const std::string& path, std::int64_t vocabulary = 0);

// Writes what load_token_file() reads, with the fewest bytes per token; `checksum` is not looked
// at. Throws Error for tokens of 2^32 or more, for ends out of order, and when the file cannot be
// written.
void save_token_file(const std::string& path, const TokenFile& file);

}  // namespace sextant
