// Reads tokenizers of published models, a tokenizer.json of the Hugging Face library "tokenizers",
// and gives a text the same ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// The place of a token in the text: bytes [begin, end). Special tokens that the tokenizer adds are
// at [0, 0).
struct TokenOffsets {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const TokenOffsets&) const = default;
};

// All lists have one element per token.
struct PretrainedEncoding {
  std::vector<std::int64_t> ids;
  std::vector<std::string> tokens;  // as in the vocabulary
  // Both ends are borders of characters: tokenizers' offsets, which count code points, are the
  // numbers of code points before these bytes. Tokens that are parts of one character all have the
  // whole character.
  std::vector<TokenOffsets> offsets;
  std::vector<std::int64_t> type_ids;  // from the post-processor, else 0
};

struct PretrainedEncodeOptions {
  bool add_special_tokens = true;  // tokens of the post-processor, such as [CLS] and [SEP]
  // Cuts a text after max_length() tokens, with special ones. Off by default, as in transformers;
  // tokenizers itself follows its file.
  bool truncate = false;
};

// Supports the models WordPiece (BERT), BPE (byte-level as in GPT-2, Llama 3 and Qwen; with byte
// fallback as in Llama 2), Unigram and WordLevel, with their normalizers, pre-tokenizers,
// post-processors and decoders. Anything else in a file is an Error with the key and the value.
//
// Texts are UTF-8 of at most 2^31 - 1 bytes, anything else throws Error. Characters that are newer
// than the installed ICU's version of Unicode have no class: letter, mark or symbol.
// Needs ICU: without it (SEXTANT_TEXT of the build) load() and parse() throw Error. All methods are
// const and may be called from several threads; copies share the tokenizer.
class PretrainedTokenizer {
 public:
  // Reads a file, or a folder with a tokenizer.json. Throws Error for a file that is missing,
  // larger than 256 MiB, or invalid as described above.
  static PretrainedTokenizer load(const std::string& path);
  static PretrainedTokenizer parse(std::string_view json,
                                   std::string_view where = "tokenizer.json");
  // Returns whether JSON looks like such a file: it has "model", which the files of Tokenizer do
  // not have.
  static bool recognizes(std::string_view json);

  // Returns the file as it was read.
  const std::string& json() const noexcept;

  // Returns the largest id plus 1. Ids below it may have no token.
  std::int64_t size() const noexcept;
  bool has(std::int64_t id) const noexcept;
  // Returns the length in the file's "truncation", for `truncate`.
  std::optional<std::int64_t> max_length() const noexcept;

  // Returns the ids of a text. Throws Error if a part of the text has no token and the vocabulary
  // has no unknown token, and for a text on which a regular expression of the file takes too many
  // steps.
  PretrainedEncoding encode(std::string_view text,
                            const PretrainedEncodeOptions& options = {}) const;
  // Returns the ids of two texts as a model reads a pair, [CLS] first [SEP] second [SEP] in BERT,
  // with the types of the tokens; offsets are those in the text of each. Throws Error as encode(),
  // for a file that does not say how, and with `truncate`.
  PretrainedEncoding encode_pair(std::string_view first, std::string_view second,
                                 const PretrainedEncodeOptions& options = {}) const;
  // Returns the text of ids. Throws Error for an id without a token. Bytes that form no character
  // become U+FFFD.
  std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens = true) const;

  // Returns the token of an id as in the vocabulary. Throws Error if there is none.
  std::string piece(std::int64_t id) const;
  // Returns the token in readable form: if the vocabulary has visible characters for bytes (GPT-2,
  // Llama 3, Qwen) and the token's bytes are characters, it returns these: " the" for "\u0120the".
  std::string readable_piece(std::int64_t id) const;
  // Returns the same for a token that begins a word, without the mark of the space before it;
  // nothing for other tokens.
  std::optional<std::string> whole_word(std::int64_t id) const;
  std::optional<std::int64_t> id_of(std::string_view token) const;
  // Returns whether decode() omits it. Throws Error for an id without a token.
  bool is_special(std::int64_t id) const;

 private:
  struct Impl;
  explicit PretrainedTokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sextant
