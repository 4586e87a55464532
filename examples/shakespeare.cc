// Shows attention as recommendation, word arithmetic, sub-word tokens and attention without learned
// weights: the first half of the Shakespeare encoder. shakespeare_encoder.cc learns the weights.
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "print.h"
#include "sextant/sextant.h"

namespace {

// William Shakespeare, Sonnets 18 and 116.
const char* const kLines =
    "Shall I compare thee to a summer's day?\n"
    "Thou art more lovely and more temperate:\n"
    "Rough winds do shake the darling buds of May,\n"
    "And summer's lease hath all too short a date:\n"
    "Sometime too hot the eye of heaven shines,\n"
    "And often is his gold complexion dimm'd;\n"
    "And every fair from fair sometime declines,\n"
    "By chance, or nature's changing course, untrimm'd;\n"
    "But thy eternal summer shall not fade\n"
    "Nor lose possession of that fair thou owest;\n"
    "Let me not to the marriage of true minds\n"
    "Admit impediments. Love is not love\n"
    "Which alters when it alteration finds,\n"
    "Or bends with the remover to remove.\n";

void show_recommendation() {
  // What users like and what movies contain, from -1 to 1.
  const auto users = sextant::parse_named_table(
      "name,action,romance,comedy\nAnn,1,-0.5,0.2\nBen,-1,1,0.5\nCleo,0.3,0.3,0.3\n", "users");
  const auto movies = sextant::parse_named_table(
      "film,action,romance,comedy\nHeat,1,-0.8,-0.5\nEmma,-0.9,1,0.3\nAlien,0.9,-1,-1\n"
      "Clueless,-0.5,0.8,1\n",
      "movies");
  const sextant::Recommendation result = sextant::recommend(users, movies);
  std::cout << "attention as recommendation, users x movies\nscores / sqrt(3):\n";
  print_rows(result.scores, 4, users.rows);
  std::cout << "softmax per user:\n";
  print_rows(result.weights, 4, users.rows);
}

// Hand-made vectors: royal, male, female.
void show_word_arithmetic() {
  const auto vectors = sextant::WordVectors::parse(
      "king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\npalace 1 0.2 0.2\n");
  const auto sum = sextant::parse_word_sum("king - boy + girl");
  std::cout << "\nking - boy + girl is nearest to "
            << sextant::nearest_words(vectors, sum, 1).front().word << '\n';
  const auto mixed = sextant::attend_vectors({"king", "palace", "girl"}, vectors);
  std::cout << "y = W x without learned weights:\n";
  print_rows(mixed.weights, 3, mixed.words);
  for (std::size_t i = 0; i < mixed.words.size(); ++i) {
    std::cout << "  the output of " << mixed.words[i] << " is nearest to " << mixed.nearest[i].word
              << '\n';
  }
}

sextant::SubwordTokenizer train() {
  const auto path = std::filesystem::temp_directory_path() / "sextant_example_shakespeare.txt";
  sextant::write_file(path.string(), kLines);
  auto tokenizer = sextant::SubwordTokenizer::train(
      path.string(), {.vocabulary_size = 100, .kind = sextant::SubwordKind::bpe});
  std::filesystem::remove(path);
  return tokenizer;
}

}  // namespace

int main() {
  show_recommendation();
  show_word_arithmetic();

  const sextant::SubwordTokenizer tokenizer = train();
  const std::string line = "Shall summer fade?";
  std::cout << "\nsub-words of \"" << line << "\", of " << tokenizer.size() << " in all:\n ";
  for (const std::int64_t token : tokenizer.encode_fixed(line, 16)) {
    std::cout << ' ' << tokenizer.piece(token);
  }
  std::cout << "\n ";
  const std::vector<std::int64_t> fixed = tokenizer.encode_fixed(line, 16);
  for (const std::int64_t token : fixed) std::cout << ' ' << token;
  std::cout << "\nback: " << tokenizer.decode(fixed) << '\n';

  // The embeddings are queries and keys at once; [EOS] takes part, padding does not.
  std::vector<std::int64_t> tokens = tokenizer.encode(line);
  tokens.push_back(tokenizer.eos());
  sextant::NumpyRandom random(1);
  const auto embedding = sextant::Embedding<double>::random(tokenizer.size(), 64, random);
  const sextant::Tensor<double> map = sextant::plain_self_attention(embedding(tokens, 8));
  std::cout << "\nattention with itself without learned weights, weight on the token itself:\n";
  bool mostly_itself = true;
  for (std::int64_t i = 0; i < map.size(0); ++i) {
    double own = 0;  // for a repeated token, both places count
    for (std::int64_t j = 0; j < map.size(1); ++j) {
      if (tokens[static_cast<std::size_t>(j)] == tokens[static_cast<std::size_t>(i)]) {
        own += map(i, j);
      }
    }
    std::cout << "  " << sextant::fixed(own, 3) << "  "
              << tokenizer.piece(tokens[static_cast<std::size_t>(i)]) << '\n';
    mostly_itself &= own > 0.5;
  }
  std::cout << "each token mostly attends to itself: " << yes_no(mostly_itself) << '\n';
}
