// Shakespeare encoder, first half: attention as recommendation, sub-word tokens, and attention
// without learned weights.
#include <algorithm>
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
  // How much each user likes, and each movie has, of: action, romance, comedy.
  sextant::Tensor<double> users({3, 3}), movies({4, 3});
  std::ranges::copy(std::vector<double>{5, 1, 2, 0, 5, 3, 3, 3, 3}, users.data());
  std::ranges::copy(std::vector<double>{1, 0, 0, 0, 1, 0.5, 0.2, 0.2, 1, 0.5, 0.5, 0.5},
                    movies.data());
  const sextant::Recommendation result = sextant::recommend(users, movies);
  std::cout << "attention as recommendation, users x movies\nscores / sqrt(3):\n";
  print_rows(result.scores, 4, {"Ann", "Ben", "Cleo"});
  std::cout << "softmax per user:\n";
  print_rows(result.weights, 4, {"Ann", "Ben", "Cleo"});
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

  // The words ask and answer with their embeddings alone; [EOS] takes part, padding does not.
  std::vector<std::int64_t> tokens = tokenizer.encode(line);
  tokens.push_back(tokenizer.eos());
  sextant::NumpyRandom random(1);
  const auto embedding = sextant::Embedding<double>::random(tokenizer.size(), 64, random);
  const sextant::Tensor<double> map = sextant::plain_self_attention(embedding(tokens, 8));
  std::cout << "\nattention with itself without learned weights, weight on the token itself:\n";
  bool mostly_itself = true;
  for (std::int64_t i = 0; i < map.size(0); ++i) {
    double own = 0;  // of a token that comes twice, both places count
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
