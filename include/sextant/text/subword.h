// Provides sub-word tokens: SentencePiece models (the library of that name), loaded or trained.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// The largest size of the training text, in bytes.
inline constexpr std::uint64_t kLongestSubwordText = std::uint64_t{1} << 28;

enum class SubwordKind { unigram, bpe, word, character };

struct SubwordTraining {
  // 8 .. 1000000, with special pieces; the trainer lowers it if the text is too small for it, and
  // never raises it.
  std::int64_t vocabulary_size = 8000;
  SubwordKind kind = SubwordKind::unigram;
  // 0.98 .. 1: the share of the text's characters that get a piece.
  double character_coverage = 1.0;
};

// A SentencePiece model. "[EOS]" and "[PAD]" are its control pieces of these names; if it lacks
// one, the piece is added after the model's own. Text never becomes a special piece: a literal
// "[EOS]" in it is encoded as the five characters. Copies share the model; all methods are const
// and may be called from several threads.
class SubwordTokenizer {
 public:
  // Throws Error for a file that is missing, empty, larger than 256 MiB, not a SentencePiece model,
  // or one whose tables point outside themselves.
  static SubwordTokenizer load(const std::string& path);
  static SubwordTokenizer parse(std::string_view bytes, std::string_view where = "subword");
  // Trains on a text file, one sentence per line (words above 2000 bytes are cut). The same text
  // and options give the same bytes. The model has <unk>, <s>, </s>, [EOS] and [PAD] as pieces 0 ..
  // 4. Throws Error for an unreadable file, one without a visible character, options out of range,
  // or a vocabulary too small for the characters of the text. The library keeps its settings in
  // global variables: train from one thread at a time.
  static SubwordTokenizer train(const std::string& text_path, const SubwordTraining& options = {});
  // Trains on the text itself; errors about it have `where`.
  static SubwordTokenizer train_on(std::string_view text, const SubwordTraining& options = {},
                                   std::string_view where = "subword.text");
  // Writes the .model file under a temporary name, then renames it.
  void save(const std::string& path) const;
  const std::string& bytes() const noexcept;  // returns the bytes of that file

  std::int64_t size() const noexcept;  // number of pieces, with [EOS] and [PAD]
  std::int64_t eos() const noexcept;
  std::int64_t pad() const noexcept;

  // Returns the numbers of a text's pieces; none for a text without any visible character. Throws
  // Error for text that is not UTF-8.
  std::vector<std::int64_t> encode(std::string_view text) const;
  // Returns the pieces in their spelling after normalisation, also unknown ones; U+2581 is a space.
  std::vector<std::string> pieces(std::string_view text) const;
  // Throws Error for an index outside 0 .. size() - 1.
  std::string piece(std::int64_t index) const;
  // Returns the text without special pieces; the unknown piece becomes U+2047. Throws Error for an
  // index outside 0 .. size() - 1.
  std::string decode(std::span<const std::int64_t> indices) const;
  // Returns encode(text) + [EOS], cut (the [EOS] stays) or padded with [PAD] to `length` >= 1.
  std::vector<std::int64_t> encode_fixed(std::string_view text, std::int64_t length) const;

 private:
  struct Impl;
  explicit SubwordTokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sextant
