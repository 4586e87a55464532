// Sub-word tokens: SentencePiece models (the library of that name), loaded or trained.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// Bytes of text that a model is trained on, at most.
inline constexpr std::uint64_t kLongestSubwordText = std::uint64_t{1} << 28;

enum class SubwordKind { unigram, bpe, word, character };

struct SubwordTraining {
  // 8 .. 1000000, special pieces included; lowered by the trainer when the text is too small for
  // it, never raised.
  std::int64_t vocabulary_size = 8000;
  SubwordKind kind = SubwordKind::unigram;
  double character_coverage = 1.0;  // 0.98 .. 1: the part of the text's characters that get a piece
};

// A SentencePiece model. "[EOS]" and "[PAD]" are its own control pieces of these names; when it
// lacks one, the piece is added behind the model's own. Text never becomes a special piece: a
// literal "[EOS]" in it is encoded as the five characters. Copies share the model; all methods
// are const and may be called from several threads.
class SubwordTokenizer {
 public:
  // Throws Error for a file that is missing, empty, larger than 256 MiB, not a SentencePiece model,
  // or one whose tables lead outside themselves.
  static SubwordTokenizer load(const std::string& path);
  static SubwordTokenizer parse(std::string_view bytes, std::string_view where = "subword");
  // Trains on a text file, one sentence a line (words above 2000 bytes are cut). The same text
  // and options give the same bytes. The model has <unk>, <s>, </s>, [EOS] and [PAD] as pieces
  // 0 .. 4. Throws Error for an unreadable file, one without a visible character, options out of
  // range, or a vocabulary too small for the characters of the text. The library underneath keeps
  // its settings in global variables: train from one thread at a time.
  static SubwordTokenizer train(const std::string& text_path, const SubwordTraining& options = {});
  // The same on the text itself; errors about it name `where`.
  static SubwordTokenizer train_on(std::string_view text, const SubwordTraining& options = {},
                                   std::string_view where = "subword.text");
  void save(const std::string& path) const;   // the .model file, temporary + rename
  const std::string& bytes() const noexcept;  // of that file

  std::int64_t size() const noexcept;  // pieces, [EOS] and [PAD] included
  std::int64_t eos() const noexcept;
  std::int64_t pad() const noexcept;

  // The numbers of a text's pieces; none for a text without any visible character. Text that is
  // not UTF-8 throws Error.
  std::vector<std::int64_t> encode(std::string_view text) const;
  // The pieces as they stand in the text after normalisation, unknown stretches included; U+2581
  // stands for a space.
  std::vector<std::string> pieces(std::string_view text) const;
  // Throws Error for an index outside 0 .. size() - 1.
  std::string piece(std::int64_t index) const;
  // Special pieces are left out; the unknown piece becomes U+2047. Throws Error for an index
  // outside 0 .. size() - 1.
  std::string decode(std::span<const std::int64_t> indices) const;
  // encode(text) + [EOS], cut (the [EOS] stays) or filled with [PAD] to `length` >= 1.
  std::vector<std::int64_t> encode_fixed(std::string_view text, std::int64_t length) const;

 private:
  struct Impl;
  explicit SubwordTokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sextant
