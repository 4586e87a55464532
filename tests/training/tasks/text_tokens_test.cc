// The tokens of a run: those of the whole text, in a file that is made once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/generate.h"
#include "sextant/text/token_file.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/make_task.h"
#include "support/error_of.h"
#include "training/run_folders.h"
#include "training/thread_group.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TextTokens : public RunFolders {
 protected:
  TrainingPlan plan_of(const std::vector<std::string>& files) const {
    TrainingPlan plan = default_plan("lm");
    for (const std::string& file : files) plan.settings.files.push_back(data_file(path(file)));
    plan.settings.model.width = 16;
    plan.settings.model.heads = 2;
    plan.settings.model.layers = 1;
    plan.settings.task.length = 8;
    plan.settings.task.batch_size = 2;
    plan.trainer.steps = 2;
    plan.trainer.threads = 1;
    plan.trainer.folder = path("run");
    return plan;
  }
  TrainingPlan plan_of_text() const {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "abcdefghij\n";
    write_file(path("text"), text);
    return plan_of({"text"});
  }
  static PlannedTask made(TrainingPlan& plan) {
    fill_defaults(plan);
    return make_task(plan, "");
  }
  static void run(TrainingPlan& plan) {
    const PlannedTask task = made(plan);
    plan.trainer.settings = format_settings(plan);
    train(*task.task, plan.trainer);
  }
  TokenFile tokens() const { return load_token_file(tokens_path()); }
  std::string tokens_path() const { return path("run/data/tokens.safetensors"); }
  static std::vector<std::int64_t> values(const TokenArray& array) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < array.size(); ++i) all.push_back(array[i]);
    return all;
  }
  // The documents of the run's file as texts.
  std::vector<std::string> documents() const {
    const TokenFile file = tokens();
    const Tokenizer tokenizer = Tokenizer::load(path("run/data"));
    std::vector<std::string> all;
    std::size_t begin = 0;
    for (const std::int64_t end : values(file.document_ends)) {
      const auto ids = values(file.tokens.part(begin, static_cast<std::size_t>(end)));
      EXPECT_EQ(ids.back(), Tokenizer::kEos);
      all.push_back(tokenizer.decode(ids));
      begin = static_cast<std::size_t>(end);
    }
    return all;
  }
};

TEST_F(TextTokens, AreThoseOfTheTextInMemory) {
  std::string words;
  for (int i = 0; i < 30'000; ++i) words += "w" + std::to_string(i % 700) + (i % 9 ? " " : "\r\n");
  write_file(path("a"), words);
  write_file(path("b"), "one line without an end, and \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9");
  const std::vector<std::string> paths{path("a"), path("b")};
  for (const double held_out : {0.1, 0.5, 0.3, 0.01}) {
    for (const TokenizerKind kind : {TokenizerKind::word, TokenizerKind::character}) {
      TrainingPlan plan = plan_of({"a", "b"});
      plan.settings.held_out = held_out;
      plan.settings.tokenizer.kind = kind;
      plan.settings.task.length = 2;
      const PlannedTask task = made(plan);
      const LanguageData wanted =
          load_language_data(paths, {.held_out = held_out, .tokenizer = plan.settings.tokenizer});
      const TokenFile file = tokens();
      const auto training = static_cast<std::size_t>(file.training);
      EXPECT_EQ(values(file.tokens.part(0, training)), wanted.tokens);
      EXPECT_EQ(values(file.tokens.part(training, file.tokens.size())), wanted.held_out);
      EXPECT_EQ(file.tokenizer, wanted.tokenizer.checksum());
      EXPECT_EQ(task.train, wanted.tokens.size());
      EXPECT_EQ(task.held_out, wanted.held_out.size());
      EXPECT_TRUE(file.document_ends.empty());
    }
  }
}

TEST_F(TextTokens, HaveTheSameBatchesInAFileAndInMemory) {
  TrainingPlan plan = plan_of_text(), in_memory = plan_of_text();
  in_memory.trainer.folder = "";
  const PlannedTask file = made(plan), memory = made(in_memory);
  EXPECT_EQ(file.checksum, memory.checksum);
  const LanguageData data = load_language_data(path("text"));
  LanguageTask plain(data, {.width = 16, .heads = 2, .layers = 1}, {.length = 8, .batch_size = 2});
  for (const std::int64_t step : {0, 1, 40}) {
    const TokenBatch wanted = plain.training_batch(step, 0);
    for (const PlannedTask* each : {&file, &memory}) {
      const TokenBatch found = static_cast<LanguageTask&>(*each->task).training_batch(step, 0);
      EXPECT_EQ(found.tokens, wanted.tokens);
      EXPECT_EQ(found.targets, wanted.targets);
      EXPECT_EQ(found.segments, wanted.segments);
    }
  }
}

TEST_F(TextTokens, AreMadeOnceForARun) {
  TrainingPlan plan = plan_of_text();
  run(plan);
  const auto written = std::filesystem::last_write_time(tokens_path());
  const auto resumed = [&] {
    TrainingPlan again = read_plan(path("run"));
    return make_task(again, path("run")).checksum;
  };
  const std::string wanted = resumed();
  EXPECT_EQ(std::filesystem::last_write_time(tokens_path()), written);
  // Without the text they do; without them the text does.
  std::filesystem::rename(path("text"), path("gone"));
  EXPECT_EQ(resumed(), wanted);
  std::filesystem::rename(path("gone"), path("text"));
  std::filesystem::remove(tokens_path());
  EXPECT_EQ(resumed(), wanted);
  EXPECT_TRUE(std::filesystem::exists(tokens_path()));
  // Damaged ones are made anew.
  std::string bytes = read_file(tokens_path());
  bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
  write_file(tokens_path(), bytes);
  EXPECT_EQ(resumed(), wanted);
  EXPECT_NE(read_file(tokens_path()), bytes);
  write_file(tokens_path(), bytes);
  std::filesystem::remove(path("text"));
  EXPECT_THAT(error_of(resumed), HasSubstr("/text] cannot be opened"));
}

// The bytes that this process has read from files, without those that are mapped; 0: not known.
std::int64_t bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::int64_t count = 0;
  counters >> name >> count;
  return name == "rchar:" ? count : 0;
}

TEST_F(TextTokens, OfAResumedRunNeedTheTextOnceForItsChecksum) {
  if (bytes_read() == 0 && std::getenv("CI") == nullptr) {
    GTEST_SKIP() << "this system does not count what a process reads";
  }
  ASSERT_GT(bytes_read(), 0);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "abcdefghij\n";
  write_file(path("text"), text);
  for (const DocumentUnit unit : {DocumentUnit::none, DocumentUnit::line}) {
    std::filesystem::remove_all(path("run"));
    TrainingPlan plan = plan_of({"text"});
    plan.settings.documents = unit;
    run(plan);
    TrainingPlan again = read_plan(path("run"));
    const std::int64_t before = bytes_read();
    make_task(again, path("run"));
    EXPECT_LT(bytes_read() - before, std::ssize(text) * 3 / 2);
  }
}

TEST_F(TextTokens, OfARunThatWasNotBegunAreTakenBack) {
  TrainingPlan plan = plan_of_text();
  {
    const PlannedTask task = made(plan);
    EXPECT_TRUE(std::filesystem::exists(tokens_path()));
  }
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  plan.settings.task.length = 1000;  // more than there is
  EXPECT_THROW(made(plan), Error);
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

// What a killed run left serves the next one, if that is about the same.
TEST_F(TextTokens, OfAKilledRunAreUsedIfTheyFit) {
  TrainingPlan plan = plan_of_text();
  std::string wanted;
  {
    const PlannedTask task = made(plan);
    wanted = task.checksum;
    std::filesystem::copy(path("run"), path("left"), std::filesystem::copy_options::recursive);
  }
  std::filesystem::rename(path("left"), path("run"));
  const auto written = std::filesystem::last_write_time(tokens_path());
  TrainingPlan same = plan_of_text();
  EXPECT_EQ(made(same).checksum, wanted);
  EXPECT_EQ(std::filesystem::last_write_time(tokens_path()), written);
  TrainingPlan words = plan_of_text();
  words.settings.held_out = 0.3;
  std::filesystem::copy(path("run"), path("left"), std::filesystem::copy_options::recursive);
  EXPECT_EQ(made(words).held_out, 121u) << "another part";
  std::filesystem::remove_all(path("run"));
  std::filesystem::rename(path("left"), path("run"));
  write_file(path("text"), std::string(300, 'x'));
  TrainingPlan other = plan_of({"text"});
  EXPECT_EQ(made(other).train, 270u) << "another text";
}

TEST_F(TextTokens, AnotherRunKeepsItsOwn) {
  TrainingPlan plan = plan_of_text();
  run(plan);
  const std::string before = read_file(tokens_path());
  write_file(path("other"), std::string(500, 'x'));
  TrainingPlan other = plan_of({"other"});
  EXPECT_THAT(error_of([&] { made(other); }), HasSubstr("must hold no other run"));
  EXPECT_EQ(read_file(tokens_path()), before);
}

TEST_F(TextTokens, OtherRanksReadThoseOfTheFirst) {
  TrainingPlan plan = plan_of_text();
  const PlannedTask first = made(plan);
  const auto written = std::filesystem::last_write_time(tokens_path());
  ThreadRanks ranks(2);
  ThreadGroup second(ranks, 1);
  TrainingPlan other = plan_of_text();
  other.trainer.group = &second;
  EXPECT_EQ(made(other).checksum, first.checksum);
  EXPECT_EQ(std::filesystem::last_write_time(tokens_path()), written);
  // One that does not see the folder of the first reads the text.
  other = plan_of_text();
  other.trainer.folder = path("elsewhere");
  other.trainer.group = &second;
  EXPECT_EQ(made(other).checksum, first.checksum);
  EXPECT_FALSE(std::filesystem::exists(path("elsewhere")));
}

TEST_F(TextTokens, FromElsewhereNeedTheirTokenizer) {
  TrainingPlan plan = plan_of_text();
  run(plan);
  const Tokenizer tokenizer = Tokenizer::load(path("run/data"));
  tokenize_texts(std::vector<std::string>{path("text")}, tokenizer, DocumentUnit::none,
                 path("tokens.safetensors"));
  EXPECT_EQ(values(load_token_file(path("tokens.safetensors")).tokens),
            tokenizer.encode(read_file(path("text"))));
  const auto next = [&](const char* from) {
    TrainingPlan given = plan_of({"tokens.safetensors"});
    given.trainer.folder = "";
    if (*from != '\0') given.settings.tokenizer_from = {data_file(path(from))};
    return made(given);
  };
  EXPECT_THAT(error_of([&] { next(""); }), HasSubstr("[train.tokenizer-from] must be given"));
  const PlannedTask of_run = next("run");
  EXPECT_EQ(of_run.train, 396u);
  EXPECT_EQ(of_run.held_out, 44u);
  EXPECT_EQ(next("run/data").checksum, of_run.checksum);
  tokenizer.save(path("."));  // beside them
  EXPECT_EQ(next("").checksum, of_run.checksum);
  std::filesystem::create_directory(path("another"));
  Tokenizer::train(std::vector<std::string>{"abcdefghijklm\n"}, {.kind = TokenizerKind::character})
      .save(path("another"));
  EXPECT_THAT(error_of([&] { next("another"); }), HasSubstr("must be made by the tokenizer of"));

  TrainingPlan two = plan_of({"tokens.safetensors", "text"});
  EXPECT_THAT(error_of([&] { made(two); }), HasSubstr("must be one file where it has tokens"));
  TrainingPlan units = plan_of({"tokens.safetensors"});
  units.settings.documents = DocumentUnit::line;
  EXPECT_THAT(error_of([&] { made(units); }), HasSubstr("[train.documents] must be none"));
}

TEST_F(TextTokens, FromElsewhereAreHeldOutFromADocumentOn) {
  const Tokenizer tokenizer =
      Tokenizer::train(std::vector<std::string>{"abc"}, {.kind = TokenizerKind::character});
  tokenizer.save(path("."));
  TokenFile file;
  file.tokens = std::vector<std::int64_t>(100, 4);
  file.tokenizer = tokenizer.checksum();
  const auto training = [&](std::vector<std::int64_t> ends) {
    file.document_ends = std::move(ends);
    save_token_file(path("tokens.safetensors"), file);
    TrainingPlan plan = plan_of({"tokens.safetensors"});
    plan.trainer.folder = "";
    plan.settings.held_out = 0.25;
    return made(plan).train;
  };
  EXPECT_EQ(training({}), 75u);
  EXPECT_EQ(training({100}), 75u) << "one document";
  EXPECT_EQ(training({30, 75, 90, 100}), 75u);
  EXPECT_EQ(training({30, 76, 90, 100}), 76u);
  EXPECT_EQ(training({30, 100}), 30u) << "the last is held out";
  file.training = 50;
  EXPECT_EQ(training({30, 100}), 50u);
}

TEST_F(TextTokens, AreResumedOnTheSameFile) {
  const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{"abcdefghij\n"},
                                               {.kind = TokenizerKind::character});
  tokenizer.save(path("."));
  plan_of_text();
  tokenize_texts(std::vector<std::string>{path("text")}, tokenizer, DocumentUnit::none,
                 path("tokens.safetensors"));
  TrainingPlan plan = plan_of({"tokens.safetensors"});
  run(plan);
  EXPECT_FALSE(std::filesystem::exists(tokens_path())) << "not copied";
  TrainingPlan again = read_plan(path("run"));
  EXPECT_EQ(make_task(again, path("run")).train, 396u);
  tokenize_texts(std::vector<std::string>{path("text"), path("text")}, tokenizer,
                 DocumentUnit::none, path("tokens.safetensors"));
  again = read_plan(path("run"));
  EXPECT_THAT(error_of([&] { make_task(again, path("run")); }), HasSubstr("but has changed"));
}

TEST_F(TextTokens, OfDocumentsEndThem) {
  write_file(path("a"), "\n\none\ntwo\n\n \nthree\n<|endoftext|>\nfour");
  write_file(path("b"), "fewer\r\n");
  TrainingPlan plan = plan_of({"a", "b"});
  plan.settings.task.length = 2;
  const auto of = [&](DocumentUnit unit) {
    plan.settings.documents = unit;
    const PlannedTask task = made(plan);
    EXPECT_EQ(task.train, tokens().document_ends[tokens().document_ends.size() - 2])
        << "the last is held out";
    return documents();
  };
  EXPECT_THAT(of(DocumentUnit::file),
              ElementsAre("one\ntwo\n\n \nthree\n<|endoftext|>\nfour", "fewer"));
  EXPECT_THAT(of(DocumentUnit::paragraph),
              ElementsAre("one\ntwo", "three\n<|endoftext|>\nfour", "fewer"));
  EXPECT_THAT(of(DocumentUnit::line),
              ElementsAre("one", "two", "three", "<|endoftext|>", "four", "fewer"));
  EXPECT_THAT(of(DocumentUnit::endoftext), ElementsAre("one\ntwo\n\n \nthree", "four", "fewer"));
  plan.settings.files.pop_back();
  plan.settings.documents = DocumentUnit::file;
  EXPECT_THAT(error_of([&] { made(plan); }),
              HasSubstr("[train.documents] must give two documents"));
}

TEST_F(TextTokens, LargeDocumentsAreThoseOfTheWholeText) {
  std::string one, two;
  for (int i = 0; i < 30'000; ++i) one += "w" + std::to_string(i % 70) + (i % 9 ? " " : "\n");
  for (int i = 0; i < 20'000; ++i) two += "v" + std::to_string(i % 70) + " ";
  write_file(path("a"), one + "\n\n" + two + "\n");
  TrainingPlan plan = plan_of({"a"});
  plan.settings.tokenizer.kind = TokenizerKind::word;
  plan.settings.documents = DocumentUnit::paragraph;
  const PlannedTask task = made(plan);
  const TokenFile file = tokens();
  const Tokenizer tokenizer = Tokenizer::load(path("run/data"));
  auto wanted = tokenizer.encode(one);
  wanted.push_back(Tokenizer::kEos);
  EXPECT_EQ(values(file.tokens.part(0, task.train)), wanted);
}

class DocumentMask : public TextTokens {
 protected:
  // Documents of tokens 4 .. 9 of different lengths, their ends, and 6 documents held out.
  static LanguageTask task(const TaskOptions& options, ModelKind kind = ModelKind::causal) {
    const Tokenizer tokenizer =
        Tokenizer::train(std::vector<std::string>{"abcdef"}, {.kind = TokenizerKind::character});
    std::vector<std::int64_t> ids, ends;
    for (int document = 0; document < 40; ++document) {
      for (int i = 0; i < document * 7 % 11; ++i) ids.push_back(4 + (i + document) % 6);
      ids.push_back(Tokenizer::kEos);
      ends.push_back(std::ssize(ids));
    }
    const TokenArray all(std::move(ids));
    const auto training = static_cast<std::size_t>(ends[33]);
    return LanguageTask({all.part(0, training), all.part(training, all.size()), ends},
                        TextModel({.kind = kind, .width = 16, .heads = 2, .layers = 2}, tokenizer),
                        options);
  }
};

TEST_F(DocumentMask, DividesSequencesBehindEachEnd) {
  LanguageTask masked = task({.length = 16, .batch_size = 3, .document_mask = true}),
               cut = task({.length = 16, .batch_size = 3});
  for (std::int64_t step = 0; step < 20; ++step) {
    const TokenBatch found = masked.training_batch(step, 0), plain = cut.training_batch(step, 0);
    EXPECT_EQ(found.tokens, plain.tokens);
    EXPECT_EQ(found.targets, plain.targets);
    std::vector<std::int64_t> wanted{0};
    for (std::int64_t i = 1; i <= 48; ++i) {
      const bool ends = found.tokens[static_cast<std::size_t>(i - 1)] == Tokenizer::kEos;
      if (ends || i % 16 == 0) wanted.push_back(i);
    }
    EXPECT_EQ(found.segments, wanted);
    EXPECT_THAT(plain.segments, ElementsAre(0, 16, 32, 48));
  }
}

// What a document's tokens lead to does not depend on what stands before it.
TEST_F(DocumentMask, HidesOtherDocuments) {
  LanguageTask masked = task({.length = 32, .batch_size = 1, .document_mask = true});
  const TokenBatch batch = masked.training_batch(0, 0);
  ASSERT_GT(batch.segments.size(), 3u);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto whole = masked.model().log_likelihoods(batch, pass);
  for (std::size_t s = 0; s + 1 < batch.segments.size(); ++s) {
    const std::int64_t begin = batch.segments[s], end = batch.segments[s + 1];
    TokenBatch alone{.segments = {0, end - begin}};
    alone.tokens.assign(batch.tokens.begin() + begin, batch.tokens.begin() + end);
    alone.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
    const auto part = masked.model().log_likelihoods(alone, pass);
    for (std::int64_t i = begin; i < end; ++i) EXPECT_EQ(whole(i), part(i - begin));
  }
}

TEST_F(DocumentMask, IsThatOfTheStepInParts) {
  const TaskOptions options{.length = 16, .batch_size = 4, .document_mask = true};
  TaskOptions in_parts = options;
  in_parts.accumulation_steps = 2;
  LanguageTask whole = task(options), parts = task(in_parts);
  const TokenBatch all = whole.training_batch(3, 0);
  std::vector<std::int64_t> tokens, borders{0};
  for (std::int64_t part = 0; part < 2; ++part) {
    const TokenBatch one = parts.training_batch(3, part);
    for (std::size_t i = 1; i < one.segments.size(); ++i) {
      borders.push_back(one.segments[i] + one.first_row);
    }
    tokens.insert(tokens.end(), one.tokens.begin(), one.tokens.end());
  }
  EXPECT_EQ(tokens, all.tokens);
  EXPECT_EQ(borders, all.segments);
}

TEST_F(DocumentMask, HoldsForWhatIsHeldOutAndForHiddenTokens) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    LanguageTask masked = task({.length = 8, .batch_size = 2, .document_mask = true}, kind),
                 cut = task({.length = 8, .batch_size = 2}, kind);
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const double with = masked.validate(0, pass).loss;
    memory.reset();
    EXPECT_NE(with, cut.validate(0, pass).loss);
  }
}

TEST_F(DocumentMask, OfWhatIsHeldOutFollowsItsOwnEnds) {
  LanguageTask masked = task({.length = 16, .batch_size = 1, .document_mask = true});
  std::vector<std::int64_t> held_out;
  for (int document = 34; document < 40; ++document) {
    for (int i = 0; i < document * 7 % 11; ++i) held_out.push_back(4 + (i + document) % 6);
    held_out.push_back(Tokenizer::kEos);
  }
  TokenBatch wanted{.segments = {0}};
  for (std::size_t i = 0; i < 16; ++i) {
    wanted.tokens.push_back(held_out[i]);
    wanted.targets.push_back(held_out[i + 1]);
    if (held_out[i] == Tokenizer::kEos || i == 15) {
      wanted.segments.push_back(static_cast<std::int64_t>(i) + 1);
    }
  }
  ASSERT_GT(wanted.segments.size(), 2u);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const double loss = masked.model().loss(wanted, {}, nullptr, pass).loss;
  memory.reset();
  EXPECT_EQ(masked.validate(0, pass).loss, loss);
}

TEST_F(DocumentMask, NeedsDocuments) {
  TrainingPlan plan = plan_of_text();
  plan.settings.task.document_mask = true;
  EXPECT_THAT(error_of([&] { made(plan); }),
              HasSubstr("document_mask] must be no for a text without documents"));
}

// Lines of one word each: the model learns where they end.
TEST_F(TextTokens, OfDocumentsTeachAModelToEnd) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 2 ? "abcd\n" : "efgh\n";
  write_file(path("lines"), text);
  TrainingPlan plan = plan_of({"lines"});
  plan.settings.documents = DocumentUnit::line;
  plan.settings.task.document_mask = true;
  plan.settings.task.batch_size = 8;
  plan.trainer.steps = 80;
  plan.trainer.dropout = 0;
  plan.trainer.schedule.peak = 1e-2;
  run(plan);
  const TextModel model = TextModel::load(path("run"));
  const GenerateOptions options{.max_tokens = 40, .sampling = {.temperature = 0}, .threads = 1};
  EXPECT_EQ(generate(model, "a", options), "bcd");
  EXPECT_EQ(generate(model, "ef", options), "gh");
}

}  // namespace
}  // namespace sextant
