// What is trained: the same for us and for the rivals, who read it as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translator.h"

namespace sextant::bench {

struct Lengths {
  std::int64_t source = 0, target = 0;  // tokens of one sequence; a language model has no source
};

struct TrainingCase {
  std::string name;
  TransformerConfig config;
  double dropout = 0;
  std::vector<std::vector<Lengths>> batches;  // one step each; all of them are a round
};

// Operations that a round cannot do without: two for a multiply-add, and only pairs of a query and
// a key that it sees.
struct Operations {
  double products = 0;            // of linear maps, their input and their weight gradients
  double attention = 0;           // q k^T and p v: 4 per pair, head and channel
  double attention_backward = 0;  // 10
  double all() const noexcept { return products + attention + attention_backward; }
};

// "lm", "translator", "uneven", each without dropout and with 0.1 ("lm dropout"), and "characters".
// quick: an eighth of the sequences and of their lengths, to try the programs; those of characters
// stay, because a rival's network has their length in its type.
std::vector<TrainingCase> training_cases(bool quick);

Operations operations_of(const TrainingCase& test);
std::int64_t tokens_of(const TrainingCase& test);  // of a round, sources and targets
Json to_json(const TrainingCase& test);

// Batch i, of random tokens.
TokenBatch token_batch(const TrainingCase& test, std::size_t i);
PairBatch pair_batch(const TrainingCase& test, std::size_t i);

}  // namespace sextant::bench
