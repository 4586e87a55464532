// Shows the table and its pictures, a vocabulary, one attention head, two masks and several heads,
// as in a course week on positional encodings.
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

// Draws the three pictures of a table and prints the shape of the data of each.
void print_pictures(const std::vector<std::string>& words) {
  namespace fig = sextant::figures;
  const auto places = static_cast<std::int64_t>(words.size()) + fig::kBeyondWords;
  const auto few = fig::position_table({.length = places, .width = 100});
  const fig::Figure curves = fig::plot_sinusoids(few, {0, 1, 20, 21, 40, 41}, words);
  const fig::Figure rows = fig::plot_rows(few, {0, 4, 10});
  const fig::Figure whole = fig::plot_heatmap(fig::position_table({.length = 100, .width = 512}));
  for (const fig::Figure* figure : {&curves, &rows, &whole}) {
    std::cout << "  values " << figure->values.shape().to_string()
              << ", drawn: " << yes_no(!figure->picture.svg.empty()) << '\n';
  }
}

// Sets weights above the diagonal to zero after the softmax and prints the sum of each row.
void print_masked_afterwards(sextant::View<const double> map) {
  sextant::Tensor<double> masked = sextant::copy_of(map);
  std::cout << "zeros put in after the softmax instead:\n";
  for (std::int64_t query = 0; query < masked.size(0); ++query) {
    for (std::int64_t key = query + 1; key < masked.size(1); ++key) masked(query, key) = 0;
  }
  print_rows(masked, 3);
  std::cout << "rows sum to";
  for (std::int64_t query = 0; query < masked.size(0); ++query) {
    double sum = 0;
    for (std::int64_t key = 0; key <= query; ++key) sum += masked(query, key);
    std::cout << ' ' << sextant::fixed(sum, 3);
  }
  std::cout << ": the first words get short vectors\n";
}

}  // namespace

int main() {
  print_table();
  std::cout << "curves, rows and the whole table as pictures:\n";
  print_pictures({"I", "am", "a", "robot"});

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
  const sextant::HeadsResult<double> unmasked = head(indices);
  print_masked_afterwards(unmasked.weights.view().select(0, 0));

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
      sextant::attend_sentences(words, {}, {.schemes = {"sinusoidal"}, .causal = true});
  std::cout << "\nmany heads, positions and mask: maps " << many.weights.shape().to_string()
            << ", output " << many.output.shape().to_string() << "\nhead 0:\n";
  print_rows(many.weights.view().select(0, 0), 3, words);
}
