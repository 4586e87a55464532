// Models in the cache of huggingface_hub: links of a snapshot lead to blobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// models--org--tiny of that cache, its weights in two files.
class HubCache : public ::testing::Test {
 protected:
  HubCache() {
    ChangedModel model("gpt2");
    fs::create_directories(cache() + "/blobs");
    fs::create_directories(snapshot());
    fs::create_directories(cache() + "/refs");
    write_file(cache() + "/refs/main", "0123abcd");
    std::map<std::string, Array> parts[2];
    Json index = {{"weight_map", Json::object()}};
    for (auto& [name, tensor] : model.tensors) {
      const std::size_t part = parts[0].size() > parts[1].size() ? 1 : 0;
      parts[part].emplace(name, std::move(tensor));
      index["weight_map"][name] = kParts[part];
    }
    for (const std::size_t part : {0, 1}) {
      const std::string blob = "blobs/" + std::to_string(part);
      save_safetensors(cache() + "/" + blob, parts[part]);
      fs::create_symlink("../../" + blob, snapshot() + "/" + kParts[part]);
    }
    blob("index", "model.safetensors.index.json", index.dump());
    blob("config", "config.json", model.config.dump());
  }

  void blob(const std::string& name, const std::string& file, const std::string& text) {
    write_file(cache() + "/blobs/" + name, text);
    fs::create_symlink("../../blobs/" + name, snapshot() + "/" + file);
  }
  std::string cache() const { return folder_ / "models--org--tiny"; }
  std::string snapshot() const { return cache() + "/snapshots/0123abcd"; }

  static constexpr const char* kParts[] = {"model-00001-of-00002.safetensors",
                                           "model-00002-of-00002.safetensors"};
  const TemporaryFolder folder_;
};

TEST_F(HubCache, IsReadByItsSnapshotOrAsAWhole) {
  const auto weight = [](const LanguageModel<float>& model) {
    const auto numbers = model.embedding.table().span();
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  const auto expected = weight(load_pretrained(golden_folder("gpt2")));
  EXPECT_EQ(weight(load_pretrained(snapshot())), expected);
  EXPECT_EQ(weight(load_pretrained(cache())), expected);
}

TEST_F(HubCache, WithoutASnapshotOfMainIsNamed) {
  for (const char* revision : {"", "..", "../snapshots/0123abcd", "not there"}) {
    write_file(cache() + "/refs/main", revision);
    EXPECT_THAT([&] { load_pretrained(cache()); }, ThrowsMessage<Error>(HasSubstr("config.json")));
  }
}

TEST_F(HubCache, HasLinksToItsOwnBlobsAlone) {
  const std::string link = snapshot() + "/" + kParts[1];
  fs::create_directories(folder_ / "models--org--other/blobs");
  fs::copy_file(cache() + "/blobs/1", folder_ / "models--org--other/blobs/1");
  fs::copy_file(cache() + "/blobs/1", cache() + "/refs/1");
  for (const char* target : {"../../../models--org--other/blobs/1", "../../refs/1"}) {
    fs::remove(link);
    fs::create_symlink(target, link);
    EXPECT_THAT([&] { load_pretrained(snapshot()); },
                ThrowsMessage<Error>(HasSubstr("must name files in its own folder")));
  }
}

}  // namespace
}  // namespace sextant
