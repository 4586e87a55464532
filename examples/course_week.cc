// Course week on positional encodings: the table, a vocabulary, one attention head, its mask, and
// many heads.
#include <iostream>
#include <string>
#include <vector>

#include "print.h"
#include "sextant/sextant.h"

namespace {

void print_table() {
  const auto table = sextant::sinusoidal<double>({.length = 4, .width = 4, .base = 100});
  std::cout << "positions, 4 x 4, base 100:\n";
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) {
      std::cout << (i == 0 ? "  " : ", ") << sextant::shortest(table(row, i));
    }
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  print_table();

  const std::vector<std::string> sentences{"This is a sentence about positions",
                                           "Attention alone cannot see positions"};
  const auto vocabulary = sextant::Vocabulary::from_sentences(sentences);
  std::cout << "\nvocabulary:";
  for (const std::string& token : vocabulary.tokens()) std::cout << ' ' << token;

  const std::vector<std::string> words = sextant::split_spaces("this sextant is about attention");
  const std::vector<std::int64_t> indices = vocabulary.indices(words);
  std::cout << "\n\"this sextant is about attention\":";
  for (const std::int64_t index : indices) std::cout << ' ' << index;
  std::cout << "\nand back:";
  for (const std::string& token : vocabulary.tokens_of(indices)) std::cout << ' ' << token;

  // Queries and keys of width 8, values of width 6; positions are added to embeddings of width 16
  // first.
  sextant::SingleHead<double> head(
      {.tokens = vocabulary.size(), .width = 16, .qk_dim = 8, .v_dim = 6, .seed = 1});
  for (const bool causal : {false, true}) {
    const sextant::HeadsResult<double> result = head(indices, causal);
    const sextant::View<const double> map = result.weights.view().select(0, 0);
    std::cout << (causal ? "\nwith the causal mask:\n" : "\n\none attention head:\n");
    print_rows(map, 3, words);
    std::cout << "rows sum to one: " << yes_no(rows_sum_to_one(map))
              << "; new representations: " << result.output.shape().to_string() << '\n';
  }

  sextant::AttentionMaps picture;
  const sextant::HeadsResult<double> result = head(indices);
  picture.weights = result.weights.view().select(0, 0);
  picture.queries = words;
  picture.keys = {words.begin(), words.end() - 1};
  try {
    sextant::draw(picture);
  } catch (const sextant::Error&) {
    std::cout << "\na picture of that map with a word missing is refused";
  }
  picture.keys = words;
  std::cout << "; with all words it is drawn: " << yes_no(!sextant::draw(picture).svg.empty())
            << '\n';

  const std::int64_t before = head.positions.length();
  const std::vector<std::int64_t> long_sentence(100, 1);
  head(long_sentence);
  std::cout << "\na sentence of 100 words fits: the table grew from " << before << " to "
            << head.positions.length() << " rows\n";

  const sextant::SentenceAttention many =
      sextant::attend_sentences(words, {}, {.positions = {"sinusoidal"}, .causal = true});
  std::cout << "\nmany heads, positions and mask: maps " << many.weights.shape().to_string()
            << ", output " << many.output.shape().to_string() << "\nhead 0:\n";
  print_rows(many.weights.view().select(0, 0), 3, words);
}
