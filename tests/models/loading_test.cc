// Models are loaded in the memory of their weights, of one file or several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/safetensors.h"
#include "sextant/models/average.h"
#include "sextant/models/text_model.h"
#include "support/folders.h"
#include "support/peak_memory.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LoadedModel : public ::testing::Test {
 protected:
  LoadedModel() { fs::copy(tests::data_folder() + "/models/stored/first", folder_ / "one"); }

  // The same weights in two files with an index.
  void divide() const {
    fs::copy(folder_ / "one", folder_ / "two");
    SafetensorsFile all = load_safetensors(folder_ / "two/model.safetensors");
    fs::remove(folder_ / "two/model.safetensors");
    SafetensorsFile half;
    std::string map;
    const std::size_t count = all.tensors.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto tensor = all.tensors.extract(std::prev(all.tensors.end()));
      map += (i > 0 ? ", " : "") + ('"' + tensor.key()) +
             (i < count / 2 ? R"(": "model-2.safetensors")" : R"(": "model-1.safetensors")");
      half.tensors.insert(std::move(tensor));
      if (i + 1 != count / 2 && i + 1 != count) continue;
      save_safetensors(
          folder_ / (i + 1 == count ? "two/model-1.safetensors" : "two/model-2.safetensors"),
          half.tensors);
      half.tensors.clear();
    }
    write_file(folder_ / "two/model.safetensors.index.json", R"({"weight_map": {)" + map + "}}");
  }
  static void expect_same(const TextModel& a, const TextModel& b) {
    const auto left = a.parameters(), right = b.parameters();
    for (std::size_t i = 0; i < left.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(left[i].tensor->span(), right[i].tensor->span()))
          << left[i].name;
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(LoadedModel, OfSeveralFilesIsThatOfOne) {
  divide();
  expect_same(TextModel::load(folder_ / "one"), TextModel::load(folder_ / "two"));
  EXPECT_EQ(learned_word_vectors(open_model_folder(folder_ / "two")).words().size(),
            learned_word_vectors(open_model_folder(folder_ / "one")).words().size());
  fs::remove(folder_ / "two/model-2.safetensors");
  EXPECT_THAT([&] { TextModel::load(folder_ / "two"); },
              ThrowsMessage<Error>(HasSubstr("got 'model-2.safetensors' (No such file")));
}

TEST_F(LoadedModel, OfSeveralFilesHasTheirChecksums) {
  divide();
  const std::string path = folder_ / "two/model-2.safetensors";
  std::string bytes = read_file(path);
  write_file(folder_ / "two/checksums.json",
             R"({"files": {"model-2.safetensors": {"checksum": ")" + checksum_of(bytes) + "\"}}}");
  EXPECT_NO_THROW(TextModel::load(folder_ / "two"));
  const auto corrupt =
      ThrowsMessage<Error>(HasSubstr("model-2.safetensors] is corrupt: checksum mismatch"));
  // In a number, in a name, in the header's length, and what is not there.
  for (const std::size_t at : {bytes.size() - 2, std::size_t{12}, std::size_t{0}, std::size_t{7}}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    write_file(path, damaged);
    for (const char* name : {"two", "two/", "one/../two//"}) {
      const ModelFolder folder = open_model_folder(folder_ / name);
      EXPECT_THAT([&] { TextModel::load(folder); }, corrupt) << at << name;
      EXPECT_THAT([&] { learned_word_vectors(folder); }, corrupt) << at << name;
    }
  }
  write_file(path, bytes.substr(0, bytes.size() - 4));
  EXPECT_THAT([&] { TextModel::load(folder_ / "two"); }, corrupt);
}

TEST_F(LoadedModel, OfSeveralFilesIsAveraged) {
  divide();
  const ModelFolder both[] = {open_model_folder(folder_ / "one"),
                              open_model_folder(folder_ / "two")};
  save_average(both, folder_ / "mean");
  expect_same(TextModel::load(folder_ / "one"), TextModel::load(folder_ / "mean"));
}

#ifndef SEXTANT_SANITIZED
TEST_F(LoadedModel, TakesTheMemoryOfItsWeights) {
  const std::string big = folder_ / "big";
  tests::peak_growth([&] {  // in a process of its own, so that this one has no memory to give away
    const ModelFolder small = open_model_folder(folder_ / "one");
    TransformerConfig config = small.config;
    config.width = 512;
    config.layers = 3;
    TextModel(config, small.tokenizer).save(big);
  });
  const auto bytes = static_cast<std::int64_t>(fs::file_size(big + "/model.safetensors"));
  ASSERT_GT(bytes, 36 << 20);
  const std::int64_t most = bytes * 6 / 5;
  EXPECT_LT(tests::peak_growth([&] { (void)TextModel::load(big); }), most);
  ModelFolder narrow = open_model_folder(big);
  narrow.dtype = WeightType::bfloat16;
  // Half the matrices, and one piece of the file, which is rounded while it is read.
  EXPECT_LT(tests::peak_growth([&] { (void)TextModel::load(narrow); }), most / 2 + (1 << 20));
  EXPECT_LT(tests::peak_growth([&] { (void)open_model_folder(big); }), 4 << 20);
  EXPECT_LT(tests::peak_growth([&] {
              const std::vector<ModelFolder> three(3, open_model_folder(big));
              save_average(three, folder_ / "mean");
            }),
            most);
  expect_same(TextModel::load(big), TextModel::load(folder_ / "mean"));
}
#endif

}  // namespace
}  // namespace sextant
