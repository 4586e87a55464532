// Trains word vectors by skip-gram (Mikolov et al. 2013, through the fastText library) and reads
// and writes the standard text format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

struct SkipGram {
  std::int64_t width = 512;  // 1 .. 65536
  std::int64_t window = 5;   // 1 .. 1000 words on each side; each word draws its own 1 .. window
  std::int64_t minimum_count = 1;  // rarer words get no vector
  std::int64_t epochs = 5;         // 1 .. 1000000
  std::int64_t negatives = 5;      // 1 .. 1000 words drawn for every true neighbour
  double learning_rate = 0.05;     // above 0, at most 1; falls to 0 over the training
  // Words that make up more than this share of the text are sometimes skipped: an occurrence stays
  // with probability sqrt(sample / share) + sample / share. 1 skips none. The usual 1e-4 is for
  // millions of words; in a text of a page every word is above it and nearly all of the text would
  // be skipped, while 0.01 affects only the most frequent words.
  double sample = 0.01;
  std::uint32_t seed = 0;  // the same seed gives the same vectors (one thread)
};

class WordVectors {
 public:
  // Trains on sentences of words without changing them (lower-case them first); words may have any
  // character. The end of a sentence counts as one more neighbour. The words are sorted by falling
  // count, equal counts by their first occurrence. Throws Error if fewer than two words reach
  // minimum_count, an option is out of its range, or the training diverges. Needs 160 MB while it
  // runs and a file in the temporary folder, which it removes.
  static WordVectors train(std::span<const std::vector<std::string>> sentences,
                           const SkipGram& options = {});

  // Reads the .vec text format of word2vec and fastText: "count width" on the first line, then one
  // line "word v v v ..." per word; without the first line (GloVe) the width is that of the first
  // word. A first line of two whole numbers is always read as "count width". Fields are separated
  // by spaces or tabs; a line may end with a space and "\r". Every mistake has its own Error, and
  // sizes are compared with the number of bytes before memory is taken.
  static WordVectors load(const std::string& path);
  static WordVectors parse(std::string_view text, std::string_view where = "vectors");
  // Writes the file with its first line; every value has the fewest digits that read back as the
  // same float32. Throws Error for a word with white space or a zero byte, which the format cannot
  // have.
  void save(const std::string& path) const;

  // `vectors` is [words, width] and finite; words are UTF-8, not empty and different.
  WordVectors(std::vector<std::string> words, Tensor<float> vectors);

  std::span<const std::string> words() const noexcept SEXTANT_LIFETIME_BOUND { return words_; }
  std::int64_t width() const noexcept { return vectors_.size(1); }
  const Tensor<float>& vectors() const& noexcept SEXTANT_LIFETIME_BOUND {  // [words, width]
    return vectors_;
  }
  void vectors() const&& = delete;
  // Returns the vector of a word, [width]; throws an Error with the word (and the nearest known
  // spelling) if it is absent.
  View<const float> operator[](std::string_view word) const SEXTANT_LIFETIME_BOUND;
  bool contains(std::string_view word) const;

 private:
  std::vector<std::string> words_;
  Tensor<float> vectors_;
  std::unordered_map<std::string, std::int64_t> index_;
};

}  // namespace sextant
