// Text as a model's token ids: one interface to words, characters and sub-words that were learned
// here, and to the tokenizers of published models; saved with the model.
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

// "word", "character", "subword", "pretrained"; parse_name<TokenizerKind>() reads them back.
std::string_view name_of(TokenizerKind kind) noexcept;

struct TokenizerTraining {
  TokenizerKind kind = TokenizerKind::word;  // not pretrained, which nothing here learns
  bool lower_case = false;  // text is lower-cased before anything else, in training and use
  // Words: punctuation marks are words of their own (split_words), instead of white space alone.
  bool split_punctuation = false;
  std::int64_t minimum_count = 1;  // words and characters that are rarer are unknown
  // The largest size, special tokens included; the commonest are kept. 0: all words and characters;
  // sub-words need 8 .. 1000000.
  std::int64_t vocabulary_size = 0;
  SubwordKind subword = SubwordKind::unigram;  // or bpe
};

// The ids that mean something to a model; -1: there is none.
struct SpecialTokens {
  std::int64_t pad = -1, bos = -1, eos = -1, unk = -1;
  std::int64_t mask = -1;          // stands for a hidden token
  std::vector<std::int64_t> ends;  // each ends a text: `eos`, and others of some models
};

// What a model reads of a text; one element a token.
struct TokenizedText {
  std::vector<std::int64_t> ids;
  std::vector<std::string> tokens;
};

// The ids of the kinds that are learned here: <pad> 0, <bos> 1, <eos> 2, <unk> 3, then the tokens.
// Text never becomes <pad>, <bos> or <eos>: words spelled like them are unknown, too. Everything is
// UTF-8, and text that is not throws Error. Line breaks ("\n"):
//   word       a token when the training saw one, else white space like any other;
//   character  a character;
//   subword    the token 4, between lines that SentencePiece encodes one by one.
// The kind pretrained is a PretrainedTokenizer, whose file says what becomes of a text; a special
// token spelled in a text is that token. All methods are const and may be called from several
// threads.
class Tokenizer {
 public:
  // Learns from texts: sentences, or whole files with their line breaks. Words and characters are
  // numbered by descending count, equal counts by code point. The same texts and options give the
  // same tokenizer. Throws Error when there is nothing to learn or an option is out of its range.
  // Sub-words: train from one thread at a time (see subword.h).
  static Tokenizer train(std::span<const std::string> texts, const TokenizerTraining& options = {});

  static constexpr std::int64_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3;  // of what is learned here

  // `folder`/tokenizer.json and, for sub-words, `folder`/tokenizer.model; of a published model
  // tokenizer.json as it was read, and tokenizer_config.json and generation_config.json with its
  // special tokens alone. The folder must be there.
  // Loading throws Error for each fault: files missing or too large (256 MiB), no JSON, wrong,
  // missing, unknown or repeated keys, tokens that no text can give, another model's file.
  void save(const std::string& folder) const;
  // Of a published model the special tokens are those that tokenizer_config.json and
  // special_tokens_map.json name, and the ids of config.json and generation_config.json, where they
  // are; a mask is [MASK] or <mask>.
  // Where there is no tokenizer.json, Marian's source.spm and vocab.json are read as one.
  static Tokenizer load(const std::string& folder);
  // From the bytes of both files; `model` is not looked at unless the kind is subword.
  static Tokenizer parse(std::string_view json, std::string_view model = {},
                         std::string_view where = "tokenizer");
  // Throws Error for special tokens that it does not have.
  static Tokenizer of(PretrainedTokenizer pretrained, const SpecialTokens& special);

  // The same tokens as a published tokenizer, which writes them as the library "tokenizers" reads
  // them: a special token spelled in a text is that token then, and words apart by one space.
  // Nothing for sub-words, and for words that are split at punctuation. Needs ICU.
  std::optional<Tokenizer> as_pretrained() const;

  // 16 hexadecimal digits of all that is saved: equal where the same text gives the same ids.
  std::string checksum() const;
  // Whether they have the same kind, settings and tokens.
  bool operator==(const Tokenizer& other) const;

  TokenizerKind kind() const noexcept { return kind_; }
  std::int64_t size() const noexcept;  // the largest id and 1
  // <pad>, <bos>, <eos>, <unk> of what is learned here; its mask is size(), which masked models
  // have a vector for and which is no token.
  const SpecialTokens& special() const noexcept { return special_; }
  // Whether there is a token of this id: published models may have none of some ids below size().
  bool has(std::int64_t id) const noexcept;
  // Ids of a vocabulary of `count` that no text is written with: pad, bos and unk unless they end
  // texts, and those without a token.
  std::vector<std::int64_t> unwritten(std::int64_t count) const;

  // The ids of a text, without special tokens around it; none for a text without tokens.
  std::vector<std::int64_t> encode(std::string_view text) const;
  // The text of each of encode()'s ids as it stands in the text, unknown ones included. U+2581
  // stands for a space in sub-words. Of published models piece() of each.
  std::vector<std::string> tokens(std::string_view text) const;
  // Both, with what published models were trained to find around a text ([CLS] and [SEP], <s>).
  TokenizedText model_input(std::string_view text) const;
  // The token of an id; of published models with bytes for letters the text of the token. Throws
  // Error for an id without one.
  std::string piece(std::int64_t id) const;
  // The same of an id that has none too, as a model's vocabulary may be larger: "[MASK]", "<57>".
  std::string piece_or_number(std::int64_t id) const;

  // The word of a token that stands for one, without the mark of a space before it (sub-words,
  // GPT-2) and not one that goes on with a word (BERT's "##ing"); nothing for other tokens, special
  // ones and white space. Throws Error for an id outside 0 .. size() - 1.
  std::optional<std::string> whole_word(std::int64_t id) const;

  // The text of ids, special tokens left out; <unk> gives "<unk>" between words, U+FFFD among
  // characters and U+2047 among sub-words. decode(encode(text)) is the (lower-cased) text when it
  // has no unknown token and
  //   word       its words stand apart by one space or one or more line breaks that were learned;
  //   character  always;
  //   subword    it is as the model's normalisation (NFKC, single spaces) leaves each line.
  // The text of more ids begins with the text of the first of them, so it can be shown as it grows.
  // Throws Error for an id without a token.
  std::string decode(std::span<const std::int64_t> ids) const;
  // The text that tokens() came from, with the same conditions; any tokens will do. Not of
  // published models, whose tokens() are not their own: throws Error.
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
  // Special tokens first; sub-words: "\n" after them and no more; pretrained: not used.
  Vocabulary vocabulary_;
  std::optional<SubwordTokenizer> subword_;
  std::optional<PretrainedTokenizer> pretrained_;
  SpecialTokens special_;
};

// A token as a label of a picture: a space as U+2423, a line break as U+21B5, other control
// characters as their pictures (U+2400 + code), characters that have no shape or change the
// direction of writing as their names ("U+200B"); empty text stays empty. Throws Error for text
// that is not UTF-8.
std::string token_label(std::string_view token);

}  // namespace sextant
