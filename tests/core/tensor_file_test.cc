// Tensors of one file or of several: looked up, borrowed, read in parts, and every index that is
// wrong.
#include "sextant/core/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "core/npy_bytes.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"
#include "support/peak_memory.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

template <class T>
TensorBytes bytes_of(const std::vector<T>& values) {
  return {dtype_of<T>, Shape{std::ssize(values)}, std::as_bytes(std::span(values))};
}

template <class T>
std::vector<T> all_of(const TensorFile& file, const std::string& name) {
  const StoredTensor& tensor = file.at(name);
  std::vector<T> values(static_cast<std::size_t>(tensor.count()));
  file.read(tensor, 0, std::span(values));
  return values;
}

class TensorFileTest : public ::testing::Test {
 protected:
  // "a", "b" and "c" in two files and an index.
  void write_shards(const std::string& map) const {
    save_safetensors(folder_ / "1.safetensors", {{"a", bytes_of(a_)}, {"c", bytes_of(c_)}},
                     {{"format", "pt"}});
    save_safetensors(folder_ / "2.safetensors", {{"b", bytes_of(b_)}}, {{"format", "pt"}});
    write_file(folder_ / "model.safetensors.index.json",
               R"({"metadata": {"total_size": 24}, "weight_map": )" + map + "}");
  }
  void expect_refused(const std::string& map, const std::string& message) const {
    write_shards(map);
    EXPECT_THAT([&] { TensorFile::open(folder_.path()); }, ThrowsMessage<Error>(HasSubstr(message)))
        << map;
  }

  const std::vector<float> a_{1, 2, 3}, c_{7};
  const std::vector<double> b_{4.5};
  const TemporaryFolder folder_;
};

TEST_F(TensorFileTest, OfAFolderHasTheTensorsOfItsModel) {
  EXPECT_THAT([&] { TensorFile::open(folder_.path()); },
              ThrowsMessage<Error>(HasSubstr("model.safetensors] must be there, or model.saf")));
  save_safetensors(folder_ / "model.safetensors", {{"a", bytes_of(a_)}}, {{"k", "v"}});
  const TensorFile file = TensorFile::open(folder_.path());
  EXPECT_THAT(file.files(), ElementsAre(folder_ / "model.safetensors"));
  EXPECT_EQ(file.path(), folder_ / "model.safetensors");
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("k", "v")));
  EXPECT_EQ(file.find("b"), nullptr);
  EXPECT_THAT([&] { (void)file.at("b"); },
              ThrowsMessage<Error>(HasSubstr("model.safetensors] must hold the tensor 'b'")));
  EXPECT_THAT(all_of<float>(file, "a"), ElementsAre(1, 2, 3));
}

TEST_F(TensorFileTest, ReadsPartsAndConvertsThemAsArraysDo) {
  std::vector<bfloat16> many;
  for (int i = 0; i < 300000; ++i) many.emplace_back(static_cast<float>(i % 251) - 100);
  const std::string path = folder_ / "t.safetensors";
  save_safetensors(path, {{"many", bytes_of(many)}, {"b", bytes_of(b_)}});
  const TensorFile file = TensorFile::open(path);
  const std::vector<float> values = all_of<float>(file, "many");
  for (std::size_t i = 0; i < many.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<float>(many[i])) << i;
  }
  EXPECT_THAT(all_of<float>(file, "b"), ElementsAre(4.5F));
  std::vector<double> part(3);
  file.read(file.at("many"), 250, std::span(part));
  EXPECT_THAT(part, ElementsAre(150, -100, -99));
  file.read(file.at("many"), 299998, std::span(part).first(2));
  file.read(file.at("many"), 300000, std::span(part).first(0));
  for (const std::int64_t first : {std::int64_t{-1}, std::int64_t{299998}, std::int64_t{300001}}) {
    EXPECT_THAT([&] { file.read(file.at("many"), first, std::span(part)); },
                ThrowsMessage<Error>(HasSubstr("must be elements of 300000")));
  }
  EXPECT_THAT([&] { file.read(file.at("many"), 0, std::span<std::uint8_t>()); },
              ::testing::Not(::testing::Throws<Error>()));
}

TEST_F(TensorFileTest, BorrowsTheBytesOfTheFileForAsLongAsACopyLives) {
  const std::string path = folder_ / "t.safetensors";
  save_safetensors(path, {{"a", bytes_of(a_)}, {"b", bytes_of(b_)}});
  std::optional<TensorFile> file = TensorFile::open(path);
  const TensorFile copy = *file;
  const std::span<const std::byte> bytes = file->bytes(file->at("a"));
  file.reset();
  fs::remove(path);
  ASSERT_EQ(bytes.size(), 12U);
  EXPECT_EQ(std::memcmp(bytes.data(), a_.data(), 12), 0);
  EXPECT_EQ(copy.bytes(copy.at("a")).data(), bytes.data());
}

TEST_F(TensorFileTest, OfBytesBorrowsThem) {
  const std::string bytes = format_safetensors({});
  EXPECT_TRUE(TensorFile::parse(bytes).tensors().empty());
  save_safetensors(folder_ / "t", {{"a", bytes_of(a_)}});
  const std::string whole = read_file(folder_ / "t");
  const TensorFile file = TensorFile::parse(whole, "name");
  EXPECT_THAT(file.files(), ElementsAre("name"));
  EXPECT_EQ(reinterpret_cast<const char*>(file.bytes(file.at("a")).data()),
            whole.data() + whole.size() - 12);
  EXPECT_THAT(all_of<double>(file, "a"), ElementsAre(1, 2, 3));
}

TEST_F(TensorFileTest, GivenAllTensorsInOrderHasTheChecksumOfTheFile) {
  write_shards(R"({"a": "1.safetensors", "c": "1.safetensors", "b": "2.safetensors"})");
  const TensorFile file = TensorFile::open(folder_.path());
  std::vector<Checksum> sums = {file.header_checksum(0), file.header_checksum(1)};
  for (const StoredTensor& tensor : file.tensors()) {
    std::vector<float> values(static_cast<std::size_t>(tensor.count()));
    file.read(tensor, 0, std::span(values), &sums[tensor.file]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i].text(), checksum_of(read_file(file.files()[i]))) << i;
  }
}

TEST_F(TensorFileTest, ThatBecameShorterIsAnError) {
  const std::string path = folder_ / "t.safetensors";
  const std::vector<float> many(100000, 1);
  save_safetensors(path, {{"a", bytes_of(many)}});
  const TensorFile file = TensorFile::open(path);
  fs::resize_file(path, 4096);
  const auto shorter = ThrowsMessage<Error>(HasSubstr("t.safetensors] became shorter"));
  EXPECT_THAT([&] { all_of<float>(file, "a"); }, shorter);
  EXPECT_THAT([&] { (void)file.bytes(file.at("a")); }, shorter);
}

TEST_F(TensorFileTest, OfAPipeIsReadIntoMemory) {
  const std::string path = folder_ / "t.safetensors", pipe = folder_ / "pipe";
  save_safetensors(path, {{"a", bytes_of(a_)}});
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_file(pipe, read_file(path)); });
  const TensorFile file = TensorFile::open(pipe);
  writer.join();
  EXPECT_THAT(all_of<float>(file, "a"), ElementsAre(1, 2, 3));
  EXPECT_EQ(file.bytes(file.at("a")).size(), 12U);
}

TEST_F(TensorFileTest, OfAnIndexHasTheTensorsOfAllFiles) {
  write_shards(R"({"b": "2.safetensors", "a": "1.safetensors", "c": "./1.safetensors"})");
  for (const std::string& path :
       {folder_.path(), folder_ / "model.safetensors.index.json", folder_.path() + "/"}) {
    const TensorFile file = TensorFile::open(path);
    EXPECT_EQ(file.files().size(), 2U);
    ASSERT_EQ(file.tensors().size(), 3U);
    EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
    EXPECT_THAT(all_of<float>(file, "a"), ElementsAre(1, 2, 3));
    EXPECT_THAT(all_of<double>(file, "b"), ElementsAre(4.5));
    EXPECT_EQ(load_safetensors(file).tensors.size(), 3U);
  }
}

TEST_F(TensorFileTest, RefusesIndexesThatDoNotFitTheirFiles) {
  const std::string both = R"("a": "1.safetensors", "c": "1.safetensors", )";
  expect_refused(R"({"a": "1.safetensors", "b": "2.safetensors"})",
                 "1.safetensors] must not hold tensor 'c', which " +
                     (folder_ / "model.safetensors.index.json") + " does not name");
  expect_refused("{" + both + R"("b": "1.safetensors"})",
                 "1.safetensors] must hold tensor 'b', as ");
  expect_refused("{" + both + R"("b": "2.safetensors", "d": "2.safetensors"})",
                 "2.safetensors] must hold tensor 'd', as ");
  expect_refused(R"({"a": "1.safetensors", "c": "2.safetensors", "b": "2.safetensors"})",
                 "1.safetensors] must not hold tensor 'c', which ");
  expect_refused("{" + both + R"("b": "3.safetensors"})",
                 "index.json] must name existing files, got '3.safetensors' (No such file or "
                 "directory) for tensor 'b'");
  expect_refused("{" + both + R"("b": 3})",
                 "index.json] must have a file's name for tensor 'b', got number");
  expect_refused("{" + both + both + R"("b": "2.safetensors"})", "has the key 'a' twice");
  expect_refused("[]", "");
  write_file(folder_ / "model.safetensors.index.json", "{}");
  EXPECT_THAT([&] { TensorFile::open(folder_.path()); },
              ThrowsMessage<Error>(HasSubstr("must have the key 'weight_map'")));
}

TEST_F(TensorFileTest, RefusesATensorThatIsInTwoFiles) {
  write_shards(R"({"a": "1.safetensors", "c": "1.safetensors", "b": "2.safetensors"})");
  save_safetensors(folder_ / "2.safetensors", {{"a", bytes_of(a_)}, {"b", bytes_of(b_)}});
  EXPECT_THAT([&] { TensorFile::open(folder_.path()); },
              ThrowsMessage<Error>(HasSubstr("2.safetensors] must not hold tensor 'a', which ")));
}

TEST_F(TensorFileTest, RefusesFilesOutsideItsFolder) {
  const TemporaryFolder other;
  save_safetensors(other / "b.safetensors", {{"b", bytes_of(b_)}});
  const std::string both = R"({"a": "1.safetensors", "c": "1.safetensors", "b": ")";
  const std::string outside = "index.json] must name files in its own folder, got '";
  fs::create_symlink(other / "b.safetensors", folder_ / "link.safetensors");
  fs::create_symlink(other.path(), folder_ / "folder");
  for (const std::string& name :
       {"../" + fs::path(other.path()).filename().string() + "/b.safetensors",
        other / "b.safetensors", std::string("link.safetensors"),
        std::string("folder/b.safetensors"), std::string("../none"), std::string("")}) {
    expect_refused(both + name + "\"}", outside + name + "' for tensor 'b'");
  }
  expect_refused(both + R"(2.safetensors\u0000x"})", outside);
  // One that stays inside is fine, and so is a folder that is a link itself.
  fs::create_symlink("2.safetensors", folder_ / "inside");
  write_shards(both + "inside\"}");
  fs::create_symlink(folder_.path(), other / "model");
  EXPECT_EQ(TensorFile::open(other / "model").tensors().size(), 3U);
}

#ifndef SEXTANT_SANITIZED
TEST_F(TensorFileTest, IsOpenedAndReadInPartsInLittleMemory) {
  const std::string path = folder_ / "t.safetensors";
  constexpr std::size_t kCount = std::size_t{16} << 20;
  const std::vector<float> many(kCount, 1);
  EXPECT_LT(tests::peak_growth([&] { save_safetensors(path, {{"a", bytes_of(many)}}); }), 4 << 20);
  EXPECT_LT(tests::peak_growth([&] { checksum_of_file(path); }), 4 << 20);
  EXPECT_LT(tests::peak_growth([&] {
              const TensorFile file = TensorFile::open(path);
              std::vector<double> part(1000);
              for (std::int64_t at = 0; at + 1000 <= std::int64_t{kCount}; at += 1000) {
                file.read(file.at("a"), at, std::span(part));
              }
            }),
            4 << 20);
}
#endif

}  // namespace
}  // namespace sextant
