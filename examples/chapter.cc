// Shows words, their vectors, and the effect of added positions on their similarity, as in a book
// chapter on positional encoding.
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "print.h"
#include "sextant/sextant.h"

namespace {

const char* const kText =
    "The black cat sat on the couch and the brown dog\nslept on the rug. A black dog and a brown "
    "cat sat\non the rug. The cat slept on the couch.\n";

// A file of word vectors in the usual format.
const char* const kVectors =
    "2 8\n"
    "black 0.31 -0.12 0.58 0.04 -0.27 0.66 0.15 -0.09\n"
    "brown 0.29 -0.17 0.49 0.11 -0.35 0.61 0.08 -0.02\n";

std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> sentences;
  for (const std::string& sentence : sextant::split_sentences(text)) {
    sentences.push_back(sextant::split_words(sextant::lower_case(sentence)));
  }
  return sentences;
}

void print_similarities(const sextant::MixedSimilarity& s) {
  std::cout << "  words " << sextant::fixed(s.word, 12) << ", positions "
            << sextant::fixed(s.position, 12) << ", both " << sextant::fixed(s.both, 12) << '\n';
}

// The chapter counts words from 1: "black" is the second, "brown" the tenth.
void print_positions(sextant::Exponent exponent) {
  const auto table =
      sextant::sinusoidal<double>({.length = 11, .width = 512, .exponent = exponent});
  const double similarity =
      sextant::cosine_similarity(table.view().select(0, 2), table.view().select(0, 10));
  const sextant::Identification found = sextant::identify_table(table, 0x1p-53);
  std::cout << "  exponent " << sextant::name_of(exponent) << ": " << sextant::shortest(similarity)
            << ", recognised as " << found.scheme
            << (found.mistake.empty() ? "" : " with the mistake " + found.mistake) << '\n';
}

// The second row of both layouts.
void print_layouts() {
  for (const auto layout :
       {sextant::SinusoidalLayout::interleaved, sextant::SinusoidalLayout::half_split}) {
    const auto table = sextant::sinusoidal<double>({.length = 2, .width = 4, .layout = layout});
    std::cout << "  " << sextant::name_of(layout) << ":";
    for (std::int64_t i = 0; i < 4; ++i) std::cout << ' ' << sextant::fixed(table(1, i), 6);
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  const auto sentences = words_of(kText);
  std::cout << sentences.size() << " sentences; the first:";
  for (const std::string& word : sentences.front()) std::cout << ' ' << word;

  // Skip-gram vectors of this text, through a file and back. The vectors differ between builds
  // of the trainer, so this prints only facts that always hold.
  const auto trained = sextant::WordVectors::train(sentences, {});
  const auto path = std::filesystem::temp_directory_path() / "sextant_example_chapter.vec";
  trained.save(path.string());
  const auto loaded = sextant::WordVectors::load(path.string());
  std::filesystem::remove(path);
  sextant::Sinusoidal options{.width = loaded.width()};
  const auto of_black = sextant::mixed_similarity(loaded, "black", "black", 2, 10, options);
  const auto of_both = sextant::mixed_similarity(loaded, "black", "brown", 2, 10, options);
  std::cout << "\ntrained and loaded again: " << loaded.words().size() << " vectors of width "
            << loaded.width() << "\n  black and black: " << sextant::shortest(of_black.word)
            << "; black and brown between -1 and 1: "
            << yes_no(of_both.word > -1 && of_both.word < 1)
            << "\n  positions make black at 2 and black at 10 differ: "
            << yes_no(of_black.both < of_black.word) << '\n';

  std::cout << "position 1, width 4, in two layouts:\n";
  print_layouts();

  std::cout << "similarity of positions 2 and 10, width 512:\n";
  print_positions(sextant::Exponent::standard);
  print_positions(sextant::Exponent::doubled);

  std::cout << "black at 2 and brown at 10, vectors of width 8 from a file:\n";
  options.width = 8;
  const auto vectors = sextant::WordVectors::parse(kVectors);
  print_similarities(sextant::mixed_similarity(vectors, "black", "brown", 2, 10, options));
  options.exponent = sextant::Exponent::doubled;
  print_similarities(sextant::mixed_similarity(vectors, "black", "brown", 2, 10, options));
}
