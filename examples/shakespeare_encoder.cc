// Trains an encoder that guesses hidden words and prints the weights of its heads: the second half
// of the Shakespeare encoder.
#include <filesystem>
#include <iostream>
#include <string>

#include "print.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// William Shakespeare, Sonnet 18, repeated for training.
const char* const kLines =
    "But thy eternal summer shall not fade\n"
    "Nor lose possession of that fair thou owest\n"
    "Nor shall death brag thou wanderest in his shade\n"
    "When in eternal lines to time thou growest\n"
    "So long as men can breathe or eyes can see\n"
    "So long lives this and this gives life to thee\n";

}  // namespace

int main() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += kLines;
  const std::string file = std::filesystem::temp_directory_path() / "sextant_sonnet.txt";
  sx::write_file(file, text);
  const auto data = sx::load_language_data(
      file, {.held_out = 0.1, .tokenizer = {.kind = sx::TokenizerKind::word}});
  std::filesystem::remove(file);

  // Weights are softmax(q k^T / sqrt(head_dim)) of each head.
  sx::LanguageTask task(data, {.kind = sx::ModelKind::masked, .width = 32, .heads = 2, .layers = 2},
                        {.length = 24, .batch_size = 8});
  sx::train(task, {.steps = 300, .schedule = {.peak = 5e-3, .warmup = 20}, .threads = 1});

  const auto filled = sx::fill_masks(task.model(), "But thy eternal [MASK] shall not fade");
  std::cout << filled.text << '\n';

  sx::Workspace memory;
  sx::Pass pass{.memory = memory, .threads = 1};
  const auto tokens = task.model().tokenizer.encode("So long as men can breathe");
  const auto maps = task.model().attention_maps(tokens, pass);
  std::cout << maps.size() << " layers of maps " << maps[0].shape().to_string() << '\n';
  bool sums = true;
  for (const auto& map : maps) {
    for (std::int64_t head = 0; head < map.size(0); ++head) {
      for (std::int64_t query = 0; query < map.size(1); ++query) {
        double sum = 0;
        for (std::int64_t key = 0; key < map.size(2); ++key) sum += map(head, query, key);
        sums &= sum > 1 - 1e-5 && sum < 1 + 1e-5;  // float32
      }
    }
  }
  std::cout << "rows sum to one: " << yes_no(sums) << '\n';
}
