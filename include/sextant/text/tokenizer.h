// Converts text to a model's token ids: one interface for words, characters and sub-words that are
// learned here, and for the tokenizers of published models; saved with the model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "sextant/text/subword.h"
#include "sextant/text/vocabulary.h"

namespace sextant {

class TokenizerTrainer;

enum class TokenizerKind { word, character, subword, pretrained };

// Returns "word", "character", "subword", "pretrained"; parse_name<TokenizerKind>() reads them
// back.
std::string_view name_of(TokenizerKind kind) noexcept;

struct TokenizerTraining {
  TokenizerKind kind = TokenizerKind::word;  // not pretrained, which cannot be trained here
  bool lower_case = false;  // text is lower-cased before anything else, in training and use
  // For words: punctuation marks are separate words (split_words); otherwise words are split only
  // at white space.
  bool split_punctuation = false;
  std::int64_t minimum_count = 1;  // rarer words and characters are unknown
  // The largest size, with special tokens; the most frequent ones are kept. 0: all words and
  // characters; sub-words need 8 .. 1000000.
  std::int64_t vocabulary_size = 0;
  SubwordKind subword = SubwordKind::unigram;  // or bpe
};

// The ids with a special meaning for a model; -1: there is none.
struct SpecialTokens {
  std::int64_t pad = -1, bos = -1, eos = -1, unk = -1;
  std::int64_t mask = -1;          // replaces a hidden token
  std::vector<std::int64_t> ends;  // each ends a text: `eos`, and others of some models
};

// The input of a model for a text; one element per token.
struct TokenizedText {
  std::vector<std::int64_t> ids;
  std::vector<std::string> tokens;
  std::vector<std::int64_t> types{};  // of two texts: of each token, as BERT's; else empty
};

// The ids of the kinds that are learned here: <pad> 0, <bos> 1, <eos> 2, <unk> 3, then the tokens.
// Text never becomes <pad>, <bos> or <eos>: words with these spellings are unknown, too. Everything
// is UTF-8, and other text throws Error. Line breaks ("\n"):
//   word       a token if the training text had one, else white space;
//   character  a character;
//   subword    the token 4, between lines that SentencePiece encodes one by one.
// The kind pretrained is a PretrainedTokenizer, whose file determines the tokens; a special token
// spelled in a text is that token. All methods are const and may be called from several threads.
class Tokenizer {
 public:
  // Learns from texts: sentences, or whole files with their line breaks. Words and characters are
  // numbered by descending count, equal counts by code point. The same texts and options give the
  // same tokenizer. Throws Error if there is nothing to learn or an option is out of its range.
  // Train sub-words from one thread at a time (see subword.h).
  static Tokenizer train(std::span<const std::string> texts, const TokenizerTraining& options = {});

  // Ids of the kinds learned here.
  static constexpr std::int64_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3;

  // Writes `folder`/tokenizer.json and, for sub-words, `folder`/tokenizer.model; for a published
  // model tokenizer.json as it was read, and tokenizer_config.json and generation_config.json with
  // only its special tokens. The folder must exist. Loading throws a separate Error for each
  // mistake: files missing or too large (256 MiB), no JSON, wrong, missing, unknown or repeated
  // keys, tokens that no text can give, another model's file.
  void save(const std::string& folder) const;
  // Loads a tokenizer. The special tokens of a published model are those in tokenizer_config.json
  // and special_tokens_map.json, and the ids in config.json and generation_config.json, if these
  // exist; a mask is [MASK] or <mask>. If there is no tokenizer.json, Marian's source.spm and
  // vocab.json are read as one.
  static Tokenizer load(const std::string& folder);
  // Parses the bytes of both files; `model` is ignored unless the kind is subword.
  static Tokenizer parse(std::string_view json, std::string_view model = {},
                         std::string_view where = "tokenizer");
  // Wraps a published tokenizer. Throws Error for special tokens that it does not have.
  static Tokenizer of(PretrainedTokenizer pretrained, const SpecialTokens& special);

  // Returns the same tokens as a published tokenizer, which the library "tokenizers" reads. There,
  // a special token spelled in a text is that token, and words are separated by one space. Nothing
  // for sub-words, and for words that are split at punctuation. Needs ICU.
  std::optional<Tokenizer> as_pretrained() const;

  // Returns 16 hexadecimal digits of everything that is saved: equal if the same text gives the
  // same ids.
  std::string checksum() const;
  // Compares kind, settings and tokens.
  bool operator==(const Tokenizer& other) const;

  TokenizerKind kind() const noexcept { return kind_; }
  std::int64_t size() const noexcept;  // the largest id plus 1
  // <pad>, <bos>, <eos>, <unk> of the kinds learned here; their mask is size(), which has a vector
  // in masked models and is no token.
  const SpecialTokens& special() const noexcept { return special_; }
  // Returns whether there is a token with this id: published models may lack some ids below size().
  bool has(std::int64_t id) const noexcept;
  // Returns the ids of a vocabulary of `count` that no text is written with: pad, bos and unk
  // unless they end texts, and those without a token.
  std::vector<std::int64_t> unwritten(std::int64_t count) const;

  // Returns the ids of a text, without special tokens around it; none for a text without tokens.
  std::vector<std::int64_t> encode(std::string_view text) const;
  // Returns the text of each of encode()'s ids as it is in the text, also of unknown ones. U+2581
  // is a space in sub-words. For published models it is piece() of each.
  std::vector<std::string> tokens(std::string_view text) const;
  // Returns both, with the tokens that published models expect around a text ([CLS] and [SEP],
  // <s>).
  TokenizedText model_input(std::string_view text) const;
  // Returns the same for a pair of texts. Throws an Error with tokenizer.second for a tokenizer of
  // the kinds learned here, and as PretrainedTokenizer::encode_pair().
  TokenizedText model_input(std::string_view first, std::string_view second) const;
  // Returns the token of an id; for published models with letters for bytes the text of the token.
  // Throws Error for an id without one.
  std::string piece(std::int64_t id) const;
  // Returns the same, also for an id without a token, as a model's vocabulary may be larger:
  // "[MASK]", "<57>".
  std::string piece_or_number(std::int64_t id) const;

  // Returns the word of a token that is one, without the mark of a space before it (sub-words,
  // GPT-2), unless it continues a word (BERT's "##ing"); nothing for other tokens, special ones and
  // white space. Throws Error for an id outside 0 .. size() - 1.
  std::optional<std::string> whole_word(std::int64_t id) const;

  // Returns the text of ids without special tokens; <unk> gives "<unk>" between words, U+FFFD among
  // characters and U+2047 among sub-words. decode(encode(text)) is the (lower-cased) text if it has
  // no unknown token and
  //   word       its words are separated by one space or by line breaks that were learned;
  //   character  always;
  //   subword    it is unchanged by the model's normalisation (NFKC, single spaces) of each line.
  // The text of more ids begins with the text of the first of them, so it can be shown as it grows.
  // Throws Error for an id without a token.
  std::string decode(std::span<const std::int64_t> ids) const;
  // Returns the text of tokens(), under the same conditions; it accepts any tokens. Throws Error
  // for published models, whose tokens() differ from their text.
  std::string join(std::span<const std::string> tokens) const;

 private:
  struct Settings {
    TokenizerKind kind;
    bool lower_case;
    bool split_punctuation;
  };
  friend class TokenizerTrainer;
  Tokenizer(const Settings& settings, std::vector<std::string> tokens,
            std::optional<SubwordTokenizer> subword,
            std::optional<PretrainedTokenizer> pretrained = {});
  std::string json() const;  // tokenizer.json
  std::vector<std::string> readable(std::span<const std::int64_t> ids) const;
  std::string prepared(std::string_view text) const;
  std::vector<std::string> split(std::string_view text) const;

  TokenizerKind kind_;
  bool lower_case_;
  bool split_punctuation_;
  // Special tokens first; sub-words: only "\n" after them; pretrained: not used.
  Vocabulary vocabulary_;
  std::optional<SubwordTokenizer> subword_;
  std::optional<PretrainedTokenizer> pretrained_;
  SpecialTokens special_;
};

// Returns a token as a label of a picture: a space as U+2423, a line break as U+21B5, other control
// characters as their pictures (U+2400 + code), invisible characters and those that change the
// direction of writing as their names ("U+200B"); empty text stays empty. Throws Error for text
// that is not UTF-8.
std::string token_label(std::string_view token);

}  // namespace sextant
