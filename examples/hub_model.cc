// Opens a model of the Hugging Face hub: hidden states, one head, sentence vectors, a continuation.
//   hub_model [FOLDER]    with config.json, model.safetensors and tokenizer.json, such as "gpt2"
// Without a folder it trains a small model and writes it as such a folder first.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "sextant/core.h"
#include "sextant/hub.h"
#include "sextant/models.h"
#include "sextant/training.h"

namespace sx = sextant;

namespace {

std::string made_folder() {
  std::string rhyme;
  for (int i = 0; i < 40; ++i) rhyme += "the cat sat on the mat .\nthe dog lay on the rug .\n";
  const auto temporary = std::filesystem::temp_directory_path();
  const std::string file = temporary / "sextant_hub.txt", folder = temporary / "sextant_hub_model";
  sx::write_file(file, rhyme);
  auto data = sx::load_language_data(file);
  sx::LanguageTask task(data, {.width = 32, .heads = 4, .layers = 2},
                        {.length = 32, .batch_size = 8});
  sx::train(task, {.steps = 150, .schedule = {.peak = 5e-3, .warmup = 10}});
  std::filesystem::remove_all(folder);
  const sx::SavedPretrained saved = sx::save_pretrained(task.model(), folder);
  std::cout << "a small model, saved as " << saved.model_type << '\n';
  std::filesystem::remove(file);
  return folder;
}

double cosine(sx::View<const float> vectors, std::int64_t a, std::int64_t b) {
  double sum = 0;  // the vectors have length 1
  for (std::int64_t i = 0; i < vectors.size(1); ++i) sum += vectors(a, i) * vectors(b, i);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : made_folder();
  const sx::TextModel model = sx::TextModel::load(sx::open_model(folder));
  const sx::TokenizedText text = model.tokenizer.model_input("the cat sat");
  sx::Workspace memory;
  sx::Pass pass{.memory = memory};

  const auto states = model.hidden_states(text.ids, pass);  // [layers + 1][tokens, width]
  std::cout << states.size() - 1 << " layers, width " << states[0].size(1) << ", "
            << text.ids.size() << " tokens\n";

  // Only the chosen head is computed: maps[0] is [1 head, tokens, tokens].
  const std::vector<std::int64_t> last_layer = {model.config.layers - 1}, first_head = {0};
  const auto maps =
      model.attention_maps(text.ids, pass, {.layers = last_layer, .heads = first_head});
  for (std::int64_t row = 0; row < maps[0].size(1); ++row) {
    std::int64_t most = 0;
    for (std::int64_t key = 1; key < maps[0].size(2); ++key) {
      if (maps[0](0, row, key) > maps[0](0, row, most)) most = key;
    }
    std::cout << "  '" << text.tokens[static_cast<std::size_t>(row)] << "' attends most to token "
              << most << '\n';
  }

  const std::vector<std::string> sentences = {
      "the cat sat on the mat .", "the cat sat on the rug .", "mat the on sat cat the ."};
  const auto vectors = sx::sentence_vectors(model, sentences).vectors;
  std::cout << "similarity: another word " << sx::fixed(cosine(vectors.view(), 0, 1), 3)
            << ", another order " << sx::fixed(cosine(vectors.view(), 0, 2), 3) << '\n';

  if (model.config.kind == sx::ModelKind::causal) {
    std::cout << "the dog"
              << sx::generate(model, "the dog", {.max_tokens = 17, .sampling = {.temperature = 0}})
              << '\n';
  }
  if (argc == 1) std::filesystem::remove_all(folder);
}
