// What a model says of a text depends on the text alone: not on what it is packed with, on what was
// read before, or on how it is cut for a decoder; for every scheme of the list.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "layers/ops.h"
#include "models/stack_pass.h"
#include "sextant/layers/stack_decoder.h"
#include "sextant/models/generate_batch.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translate.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using Ids = std::vector<std::int64_t>;

// Parameters that let a short text show what a scheme takes from its length.
std::map<std::string, std::string> parameters_of(std::string_view scheme) {
  if (scheme == "rotary_dynamic_ntk") return {{"max_length", "8"}};
  if (scheme == "rotary_longrope") {
    return {{"original_length", "12"}, {"long_factor", "1,2,3,4"}, {"short_factor", "1,1,1.5,2"}};
  }
  if (scheme == "rotary_axial") return {{"coordinates", "centered"}};
  if (scheme == "document_mask") return {{"starts", "0,9"}};
  if (scheme == "prefix_mask") return {{"prefix", "3"}};
  if (scheme == "chunk_mask") return {{"chunk", "7"}};
  return {};
}

// "rotary+t5" as its names.
std::vector<std::string> split(std::string_view schemes) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t plus = schemes.find('+');
    names.emplace_back(schemes.substr(0, plus));
    if (plus == schemes.npos) return names;
    schemes.remove_prefix(plus + 1);
  }
}

TransformerConfig long_config(std::string_view schemes, ModelKind kind = ModelKind::causal) {
  TransformerConfig config;
  config.schemes.clear();
  config.kind = kind;
  config.vocabulary = 13;
  config.width = 48;
  config.heads = 6;
  // Rotations by head are for as many heads of keys as of queries.
  const bool by_head = schemes == "rotary_mixed" || schemes == "fope";
  config.kv_heads = kind == ModelKind::translator || by_head ? 0 : 3;
  config.layers = 2;
  config.length = 80;
  for (const std::string& each : split(schemes)) {
    config.schemes.push_back({each, parameters_of(each)});
  }
  return config;
}

Ids long_text(std::int64_t length, std::int64_t seed) {
  Ids tokens;
  for (std::int64_t i = 0; i < length; ++i) tokens.push_back((seed + 5 * i + i * i / 3) % 13);
  return tokens;
}

TokenBatch batch_of(const std::vector<Ids>& texts) {
  TokenBatch batch;
  batch.segments.push_back(0);
  for (const Ids& text : texts) {
    batch.tokens.insert(batch.tokens.end(), text.begin(), text.end());
    batch.segments.push_back(static_cast<std::int64_t>(batch.tokens.size()));
  }
  batch.targets.assign(batch.tokens.size(), -1);
  return batch;
}

// The logits behind every token of one text of a batch.
Tensor<float> logits_of(LanguageModel<float>& model, const std::vector<Ids>& texts,
                        std::size_t which = 0) {
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenBatch batch = batch_of(texts);
  Ids places;
  for (std::int64_t i = batch.segments[which]; i < batch.segments[which + 1]; ++i) {
    places.push_back(i);
  }
  return model.logits(batch, places, pass);
}

// How many numbers of two tables of rows differ.
std::int64_t differences(View<const float> a, View<const float> b) {
  EXPECT_EQ(a.shape(), b.shape());
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) count += a.data()[i] == b.data()[i] ? 0 : 1;
  return count;
}

// What a stack says of a text that it reads in pieces: the logits behind the tokens of each.
std::vector<Tensor<float>> logits_in_pieces(LanguageModel<float>& model, const Ids& text,
                                            const Ids& pieces, std::int64_t capacity) {
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  StackDecoder decoder(model.stack, model.positions, 1, capacity);
  std::vector<Tensor<float>> all;
  for (const std::int64_t piece : pieces) {
    memory.reset();
    const std::span<const std::int64_t> next(text.data() + decoder.length(),
                                             static_cast<std::size_t>(piece));
    const View<const float> y = decoder.read(
        models::embed<float>(model.embedding, next, model.config.embedding_factor(), pass), pass);
    auto logits = Tensor<float>::uninitialized({piece, model.config.vocabulary});
    for (std::int64_t i = 0; i < piece; ++i) {  // one by one, as LanguageModel::logits()
      ops::linear<float>(y.narrow(0, i, 1), model.logits_matrix(), nullptr,
                         logits.view().narrow(0, i, 1), 1);
    }
    all.push_back(std::move(logits));
  }
  return all;
}

std::vector<std::string> names_of_schemes() {
  std::vector<std::string> names;
  for (const Scheme* scheme : schemes()) {
    // Its gates would have to be made of the tokens, which models do not do.
    if (!scheme->weights_of_tokens) names.emplace_back(scheme->name);
  }
  for (const char* several :
       {"rotary+temperature", "rotary+t5", "learned+kerple_log", "sinusoidal+alibi",
        "rotary_dynamic_ntk+t5", "rotary_longrope+temperature", "sincos_2d+rotary_axial"}) {
    names.emplace_back(several);
  }
  return names;
}

class TextLength : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(EveryScheme, TextLength, ::testing::ValuesIn(names_of_schemes()),
                         [](const auto& name) {
                           return std::regex_replace(name.param, std::regex("\\+"), "_and_");
                         });

TEST_P(TextLength, ATextAloneIsThatTextAmongLongerOnes) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    if (kind == ModelKind::masked && GetParam() == "cope") continue;  // refuses it: causal only
    LanguageModel<float> model(long_config(GetParam(), kind));
    const std::vector<Ids> texts = {long_text(70, 1), long_text(7, 2), long_text(13, 3),
                                    long_text(80, 4)};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      LanguageModel<float> fresh(model.config);
      const Tensor<float> alone = logits_of(fresh, {texts[i]});
      EXPECT_EQ(differences(alone, logits_of(model, texts, i)), 0) << "text " << i;
      EXPECT_EQ(differences(alone, logits_of(model, {texts[i]})), 0) << "after longer ones " << i;
    }
  }
}

// Of a text read in pieces, the logits behind a piece's tokens are those of all that was read up to
// its end, read at once. Where tables do not depend on the length that is the same as the whole
// text's, whose earlier tokens do not see the later ones.
TEST_P(TextLength, ReadInPiecesIsReadAtOnce) {
  LanguageModel<float> model(long_config(GetParam()));
  const Ids text = long_text(29, 1);
  const bool depends = std::ranges::any_of(split(GetParam()), [](const std::string& scheme) {
    return find_scheme(scheme).length_class != nullptr;
  });
  LanguageModel<float> fresh(model.config);
  const Tensor<float> whole = logits_of(fresh, {text});
  for (const Ids& pieces : {Ids{29}, Ids{5, 1, 7, 16}, Ids(29, 1)}) {
    for (const std::int64_t capacity : {29, 80}) {
      std::int64_t end = 0;
      for (const Tensor<float>& piece : logits_in_pieces(model, text, pieces, capacity)) {
        const std::int64_t begin = end;
        end += piece.size(0);
        const Tensor<float> so_far = logits_of(fresh, {Ids(text.begin(), text.begin() + end)});
        EXPECT_EQ(differences(so_far.view().narrow(0, begin, end - begin), piece), 0)
            << begin << " .. " << end << " of capacity " << capacity;
        if (!depends) {
          EXPECT_EQ(differences(whole.view().narrow(0, begin, end - begin), piece), 0)
              << begin << " .. " << end << " of capacity " << capacity;
        }
      }
    }
  }
}

// What max_length() says is where tables end, with and without a grid of given sides.
TEST_P(TextLength, TablesEndWhereMaxLengthSays) {
  for (const bool given : {false, true}) {
    PositionOptions options = long_config(GetParam()).position_options();
    for (SchemeSpec& each : options.schemes) {
      const bool is_grid =
          each.scheme == "swin" || each.scheme == "swin_v2" || each.scheme == "alibi_2d";
      if (given && is_grid) each.parameters = {{"rows", "8"}, {"columns", "11"}};
    }
    const PositionModule<float> positions(options);
    const std::int64_t longest = positions.max_length();
    if (longest == kAnyLength) {
      EXPECT_NO_THROW(positions.tables(5 * options.length));
      continue;
    }
    EXPECT_GE(longest, options.length);
    EXPECT_NO_THROW(positions.tables(longest));
    EXPECT_THROW(positions.tables(longest + 1), Error);
  }
}

// Generation takes the most probable token of the whole model, however many are asked for.
TEST_P(TextLength, GeneratesByTheTextSoFar) {
  LanguageModel<float> model(long_config(GetParam())), fresh(model.config);
  Ids text = long_text(5, 3);
  GenerateOptions options;
  options.sampling.temperature = 0;
  options.never = {};
  options.max_tokens = 12;
  const Ids made = generate(model, text, options).tokens;
  options.max_tokens = 70;
  const Ids more = generate(model, text, options).tokens;
  ASSERT_EQ(made.size(), 12u);
  EXPECT_TRUE(std::equal(made.begin(), made.end(), more.begin()));
  for (const std::int64_t token : made) {
    const Tensor<float> logits = logits_of(fresh, {text});
    const auto last = logits.view().select(0, logits.size(0) - 1);
    EXPECT_EQ(std::max_element(last.data(), last.data() + last.size(0)) - last.data(), token);
    text.push_back(token);
  }
}

// The same for texts of different lengths at once, with other tables where they depend on them.
TEST_P(TextLength, GeneratesTogetherByEachTextSoFar) {
  LanguageModel<float> model(long_config(GetParam())), fresh(model.config);
  const std::vector<Ids> prompts = {long_text(5, 3), long_text(11, 1), long_text(1, 2),
                                    long_text(7, 4)};
  const GenerateOptions options{.max_tokens = 9, .sampling = {.temperature = 0}};
  const auto made = generate_batch(model, prompts, options, {.batch_size = 3});
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Ids text = prompts[i];
    ASSERT_EQ(made[i][0].tokens.size(), 9u);
    for (const std::int64_t token : made[i][0].tokens) {
      const Tensor<float> logits = logits_of(fresh, {text});
      const auto last = logits.view().select(0, logits.size(0) - 1);
      EXPECT_EQ(std::max_element(last.data(), last.data() + last.size(0)) - last.data(), token);
      text.push_back(token);
    }
  }
}

// Both sides of a translator; hypotheses fork and leave while they are read.
TEST_P(TextLength, TranslatesASourceAsIfAlone) {
  if (GetParam() == "cope") return;  // the encoder is not causal
  Translator<float> model(long_config(GetParam(), ModelKind::translator));
  const std::vector<Ids> sources = {long_text(7, 1), long_text(20, 2), long_text(3, 3),
                                    long_text(13, 4)};
  TranslateOptions options;
  options.search.beams = options.search.n_best = 3;
  options.extra_tokens = 12;
  options.length_factor = 0;
  const auto together = translate(model, sources, options);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    Translator<float> fresh(model.config);
    const auto alone = translate(fresh, {&sources[s], 1}, options);
    ASSERT_EQ(alone[0].size(), together[s].size());
    for (std::size_t i = 0; i < alone[0].size(); ++i) {
      EXPECT_EQ(alone[0][i].tokens, together[s][i].tokens);
      EXPECT_EQ(alone[0][i].log_probability, together[s][i].log_probability);
    }
  }
}

}  // namespace
}  // namespace sextant
