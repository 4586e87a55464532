// Translates Shakespeare's English to modern English with an encoder-decoder with learned
// positions, which is trained on pairs of sentences and decoded greedily. The pairs are made from a
// few patterns and learned in seconds; docs/shakespeare.md describes real ones.
#include <iostream>
#include <string>

#include "sextant/models.h"
#include "sextant/training.h"

namespace sx = sextant;

namespace {

// Every word in every pattern; each seventh pair is held out.
void add_pairs(sx::SentencePairs& learned, sx::SentencePairs& unseen) {
  int number = 0;
  const auto add = [&](const std::string& old_text, const std::string& new_text) {
    sx::SentencePairs& pairs = ++number % 7 == 0 ? unseen : learned;
    pairs.source.push_back(old_text);
    pairs.target.push_back(new_text);
  };
  for (const std::string noun :
       {"brother", "mother", "master", "friend", "servant", "horse", "sword"}) {
    for (const std::string quality :
         {"fair", "gentle", "noble", "lovely", "weary", "cruel", "merry"}) {
      add("thou art more " + quality + " than thy " + noun,
          "you are more " + quality + " than your " + noun);
      add("thy " + noun + " hath a " + quality + " face",
          "your " + noun + " has a " + quality + " face");
      add("dost thou love thy " + quality + " " + noun, "do you love your " + quality + " " + noun);
      add("I prithee bring me thy " + noun + " , " + quality + " sir",
          "please bring me your " + noun + " , " + quality + " sir");
    }
  }
}

}  // namespace

int main() {
  sx::SentencePairs learned, unseen;
  add_pairs(learned, unseen);
  const auto data = sx::translation_data(learned, unseen, {.kind = sx::TokenizerKind::word});

  // A causal mask lets the decoder see only the tokens before; pairs of a batch do not see each
  // other.
  sx::TranslationTask task(
      data, {.width = 32, .heads = 4, .layers = 1, .schemes = {"learned"}, .length = 32},
      {.batch_size = 16, .label_smoothing = 0});
  sx::train(task,
            {.steps = 400,
             .schedule = {.decay = sx::Decay::cosine, .peak = 1e-2, .warmup = 20, .steps = 400},
             .threads = 1});

  const sx::TranslateOptions greedy{.search = {.beams = 1}};
  for (const char* line : {"thou art more lovely than thy friend", "thy horse hath a noble face"}) {
    std::cout << line << "\n  " << sx::translate(task.model(), line, greedy) << '\n';
  }
  const double share = sx::exact_match(task.model(), unseen).share();
  std::cout << "nine in ten of " << unseen.source.size()
            << " pairs that it never saw are right: " << (share >= 0.9 ? "yes" : "no") << '\n';
}
