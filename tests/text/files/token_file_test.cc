// Files of tokens: what is written is read, and what others write is looked at.
#include "sextant/text/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/safetensors.h"
#include "sextant/text/tokenizer.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using Metadata = std::map<std::string, std::string>;

class TokenFiles : public ::testing::Test {
 protected:
  static std::vector<std::int64_t> values(const TokenArray& array) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < array.size(); ++i) all.push_back(array[i]);
    return all;
  }
  // An array that can be copied.
  struct Raw {
    DType dtype;
    Shape shape;
    std::string bytes;
  };
  template <class T>
  static Raw array(DType dtype, const std::vector<T>& values, Shape shape) {
    return {dtype, shape,
            std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
  }
  template <class T>
  static Raw array(DType dtype, const std::vector<T>& values) {
    return array(dtype, values, Shape{std::ssize(values)});
  }
  void save(const std::map<std::string, Raw>& tensors, const Metadata& metadata) const {
    std::map<std::string, Array> all;
    for (const auto& [name, raw] : tensors) {
      Array& one = all[name];
      one.dtype = raw.dtype;
      one.shape = raw.shape;
      one.bytes = Tensor<std::byte>({std::ssize(raw.bytes)});
      if (!raw.bytes.empty()) std::memcpy(one.bytes.data(), raw.bytes.data(), raw.bytes.size());
    }
    save_safetensors(path_, all, metadata);
  }
  std::string refusal(std::int64_t vocabulary = 0) const {
    return error_of([&] { load_token_file(path_, vocabulary); });
  }
  std::string refusal_of(const std::map<std::string, Raw>& tensors,
                         const Metadata& metadata = {{"tokenizer", "x"}}) const {
    save(tensors, metadata);
    return refusal();
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "token_file.safetensors";
  const std::vector<std::uint16_t> ids_{5, 6, 2, 7, 2};
};

TEST_F(TokenFiles, AreReadAsTheyWereWritten) {
  for (const std::int64_t largest :
       {std::int64_t{9}, std::int64_t{65535}, std::int64_t{65536}, std::int64_t{4294967295}}) {
    TokenFile file;
    std::vector<std::int64_t> ids(300'000, 3);  // more than a buffer
    ids.back() = largest;
    file.tokens = ids;
    file.document_ends = std::vector<std::int64_t>{0, 7, 7, 300'000};
    file.tokenizer = "abc";
    file.vocabulary = largest + 1;
    file.training = 7;
    file.source = "plays";
    save_token_file(path_, file);
    const TokenFile found = load_token_file(path_);
    EXPECT_EQ(values(found.tokens), ids);
    EXPECT_EQ(found.tokens.bytes_each(), largest < 65536 ? 2u : 4u);
    EXPECT_EQ(values(found.document_ends), (std::vector<std::int64_t>{0, 7, 7, 300'000}));
    EXPECT_EQ(found.tokenizer, "abc");
    EXPECT_EQ(found.vocabulary, largest + 1);
    EXPECT_EQ(found.training, 7u);
    EXPECT_EQ(found.source, "plays");
    // Any library of the format reads it.
    EXPECT_EQ(load_safetensors(path_).tensors.at("tokens").count(), 300'000);
  }
}

TEST_F(TokenFiles, APartSharesWhatItIsAPartOf) {
  TokenArray part;
  {
    const TokenArray whole(std::vector<std::uint32_t>{1, 2, 3, 4});
    part = whole.part(1, 3);
  }
  EXPECT_EQ(values(part), (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(part.part(2, 2).empty());
}

TEST_F(TokenFiles, AFileStaysMappedWhenItGetsASuccessor) {
  save({{"tokens", array(DType::uint16, ids_)}}, {{"tokenizer", "x"}});
  const TokenFile file = load_token_file(path_);
  write_file(path_, "nothing");
  EXPECT_EQ(values(file.tokens), (std::vector<std::int64_t>{5, 6, 2, 7, 2}));
}

TEST_F(TokenFiles, WhatOthersWriteIsLookedAt) {
  const Raw tokens = array(DType::uint16, ids_);
  EXPECT_EQ(refusal_of({{"tokens", tokens}}), "no error");
  EXPECT_EQ(refusal_of({{"tokens", array<std::uint16_t>(DType::uint16, {})}}), "no error");
  EXPECT_THAT(refusal_of({{"ids", tokens}}), HasSubstr("must have the tensor 'tokens'"));
  EXPECT_THAT(refusal_of({{"tokens", array<std::int64_t>(DType::int64, {1, 2})}}),
              HasSubstr("must have 'tokens' as uint16 or uint32 of shape [tokens], got int64"));
  EXPECT_THAT(refusal_of({{"tokens", array<std::uint16_t>(DType::uint16, {1, 2}, Shape{1, 2})}}),
              HasSubstr("of shape [1, 2]"));
  EXPECT_THAT(refusal_of({{"tokens", tokens}}, {}), HasSubstr("must say which tokenizer made it"));
  const auto with_ends = [&](std::vector<std::int64_t> ends) {
    return refusal_of({{"tokens", tokens}, {"document_ends", array(DType::int64, ends)}});
  };
  EXPECT_EQ(with_ends({3, 5}), "no error");
  EXPECT_EQ(with_ends({}), "no error");
  EXPECT_THAT(with_ends({3, 2, 5}), HasSubstr("that ascend, got 2 after 3 at place 1"));
  EXPECT_THAT(with_ends({-1, 5}), HasSubstr("got -1 after 0"));
  EXPECT_THAT(with_ends({3}), HasSubstr("must have the number of tokens, 5, as the last"));
  EXPECT_THAT(with_ends({3, 6}), HasSubstr("got 6"));
  EXPECT_THAT(
      refusal_of({{"tokens", tokens}, {"document_ends", array<std::int32_t>(DType::int32, {5})}}),
      HasSubstr("must have 'document_ends' as int64"));
  const auto with = [&](const char* key, const char* value) {
    return refusal_of({{"tokens", tokens}}, {{"tokenizer", "x"}, {key, value}});
  };
  EXPECT_THAT(with("vocabulary_size", "7"),
              HasSubstr("below the tokenizer's vocabulary of 7, got 7 at place 3"));
  EXPECT_EQ(with("vocabulary_size", "8"), "no error");
  EXPECT_THAT(with("vocabulary_size", "many"), HasSubstr("metadata vocabulary_size"));
  EXPECT_THAT(with("training_tokens", "6"), HasSubstr("must be 1 .. 5, got 6"));
  EXPECT_THAT(with("training_tokens", "-1"), HasSubstr("must be 1 .. 5, got -1"));
  EXPECT_THAT(with("checksum", "0"), HasSubstr("is corrupt: checksum mismatch"));
  save({{"tokens", tokens}}, {{"tokenizer", "x"}});
  EXPECT_THAT(refusal(6), HasSubstr("vocabulary of 6, got 6 at place 1"));
  save({{"tokens", array<std::uint32_t>(DType::uint32, {1, 2, 4294967295u})}},
       {{"tokenizer", "x"}});
  EXPECT_THAT(refusal(9), HasSubstr("vocabulary of 9, got 4294967295 at place 2"));
}

TEST_F(TokenFiles, AreNotCutOff) {
  TokenFile file;
  file.tokens = std::vector<std::int64_t>{1, 2, 3};
  file.tokenizer = "x";
  save_token_file(path_, file);
  const std::string bytes = read_file(path_);
  for (std::size_t size = 0; size < bytes.size(); size += size < 16 ? 1 : 97) {
    write_file(path_, bytes.substr(0, size));
    EXPECT_NE(refusal(), "no error") << size;
  }
  write_file(path_, bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(refusal(), HasSubstr("cut off"));
  write_file(path_, bytes + "x");
  EXPECT_THAT(refusal(), HasSubstr("left over"));
  std::string flipped = bytes;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  write_file(path_, flipped);
  EXPECT_THAT(refusal(), HasSubstr("checksum mismatch"));
  EXPECT_THROW(load_token_file(path_ + "x"), Error);
  EXPECT_THROW(load_token_file(testing::TempDir()), Error);
}

TEST_F(TokenFiles, TensorsAreAligned) {
  // "a" of one byte first: the tokens begin at an odd place.
  std::string header =
      R"({"__metadata__":{"tokenizer":"x"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("tokens":{"dtype":"U16","shape":[1],"data_offsets":[1,3]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file(path_, bytes + header + "abc");
  EXPECT_THAT(refusal(), HasSubstr("aligned"));
}

TEST_F(TokenFiles, OnlyWhatCanBeReadIsWritten) {
  std::filesystem::remove(path_);
  TokenFile file;
  file.tokenizer = "x";
  file.tokens = std::vector<std::int64_t>{1, -1};
  EXPECT_THROW(save_token_file(path_, file), Error);
  file.tokens = std::vector<std::int64_t>{1, std::int64_t{1} << 32};
  EXPECT_THROW(save_token_file(path_, file), Error);
  file.tokens = std::vector<std::int64_t>{1, 2};
  file.document_ends = std::vector<std::int64_t>{1};
  EXPECT_THROW(save_token_file(path_, file), Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TokenFiles, AChecksumTellsTokenizersApart) {
  const auto of = [](const char* text, bool lower = false) {
    return Tokenizer::train(std::vector<std::string>{text}, {.lower_case = lower});
  };
  EXPECT_EQ(of("a b").checksum(), of("b a").checksum());
  EXPECT_NE(of("a b").checksum(), of("a c").checksum());
  EXPECT_NE(of("a b").checksum(), of("a b", true).checksum());
  of("a b").save(testing::TempDir());
  EXPECT_EQ(Tokenizer::load(testing::TempDir()).checksum(), of("a b").checksum());
}

}  // namespace
}  // namespace sextant
