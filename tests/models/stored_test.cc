// Models that were saved by earlier versions: they load, and say what they said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/generate.h"
#include "sextant/models/logit_lens.h"
#include "support/folders.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// A small model of the alphabet from before config.json had a format number.
std::string first() { return tests::data_folder() + "/models/stored/first"; }

// A copy that may be damaged.
class StoredModel : public ::testing::Test {
 protected:
  StoredModel()
      : folder_((fs::temp_directory_path() / ("sextant-stored-" + std::to_string(::getpid())))
                    .string()) {
    fs::copy(first(), folder_);
  }
  ~StoredModel() override { fs::remove_all(folder_); }

  std::string config() const { return read_file(folder_ + "/config.json"); }
  void replace(const std::string& from, const std::string& to) const {
    std::string text = config();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file(folder_ + "/config.json", text.replace(at, from.size(), to));
  }
  void load() const { TextModel::load(folder_); }

  std::string folder_;
};

TEST_F(StoredModel, OfTheFirstDaysSaysWhatItSaid) {
  const TextModel model = TextModel::load(folder_);
  GenerateOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 8;
  const auto made = [&] {
    return model.tokenizer.decode(generate(model, model.tokenizer.encode("abc"), options).tokens);
  };
  EXPECT_EQ(made(), "cccccccc");
  options.sampling.temperature = 1;
  options.never = {};  // as at that time
  options.max_tokens = 16;
  options.seed = 3;
  EXPECT_EQ(made(), "gmmmrvee\nejgij");
}

// Of `--post-norm` when such models had a norm after the last block, of which config.json says
// nothing. What it said: the four most probable tokens, and a text.
TEST(StoredPostNormModel, KeepsItsFinalNorm) {
  const TextModel model = TextModel::load(tests::data_folder() + "/models/stored/post_norm");
  EXPECT_FALSE(model.config.pre_norm);
  EXPECT_TRUE(model.config.final_norm);
  const auto prompt = model.tokenizer.encode("the c");
  GenerateOptions options{.max_tokens = 20, .sampling = {.temperature = 0}};
  bool first = true;
  options.watch = [&](const GeneratedToken& chosen) {
    if (!std::exchange(first, false)) return;
    const auto found = most_probable(chosen.logits, 4);
    const double wanted[] = {0.9103933518, 0.0183928881, 0.0138361143, 0.0101360098};
    // Sums of float32 may be in another order on another processor.
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i].probability, wanted[i], 1e-5);
  };
  EXPECT_EQ(model.tokenizer.decode(generate(model, prompt, options).tokens),
            "at athe san the se c");
}

TEST_F(StoredModel, MayLackWhatHasADefault) {
  replace("  \"pointer\": false,\n", "");
  replace("  \"heads_k\": 0,\n", "");
  EXPECT_NO_THROW(load());
  replace("  \"width\": 16,\n", "");
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr("must have the key width")));
}

// The list of fields is the file's: keys, their order and how values are written.
TEST_F(StoredModel, IsWrittenAsItWas) {
  replace("{\n", "{\n  \"format\": 1,\n");
  replace("\"scheme_parameters\": {}", "\"scheme_parameters\": {\n    \"base\": \"500\"\n  }");
  replace("\"gelu\"", "\"swiglu\"");
  // Keys of earlier versions are read, today's are written.
  replace("\"heads_k\": 0", "\"heads_k\": 1");
  const TransformerConfig found = parse_config(config());
  replace("\"heads_k\"", "\"kv_heads\"");
  replace("\"hidden\"", "\"ffn_width\"");
  replace("\"format\": 1", "\"format\": 2");
  replace(R"("scheme": "rotary",
  "scheme_parameters": {
    "base": "500"
  })",
          R"("schemes": [
    {
      "scheme": "rotary",
      "parameters": {
        "base": "500"
      }
    }
  ])");
  EXPECT_EQ(format_config(found), config());
  EXPECT_EQ(format_config(parse_config(config())), config());
  const std::string today = config();
  replace("\"schemes\"", "\"positions\"");
  EXPECT_EQ(format_config(parse_config(config())), today);
}

TEST_F(StoredModel, WithValuesOfOtherTypesIsRefused) {
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = config();
    text.replace(text.find(from), from.size(), to);
    try {
      parse_config(text, "c");
    } catch (const Error& refused) {
      return std::string(refused.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error("\"gelu\"", "\"tanh\""),
            "[c.activation] must be one of relu, gelu, gelu_tanh, silu, swiglu, geglu, "
            "geglu_tanh, got 'tanh'");
  EXPECT_THAT(error("\"gelu\"", "3"),
              HasSubstr("[c.activation] must have a value of kind string, got number"));
  EXPECT_THAT(error("16", "16.5"),
              HasSubstr("[c.width] must have a whole number in range, got 16.5"));
  EXPECT_EQ(error("\"bias\"", "\"biases\""), "[c] must not have the unknown key biases");
  EXPECT_EQ(error("16", "65537"), "[transformer.width] must be 1 .. 2^16, got 65537");
  EXPECT_EQ(error("\"heads\": 2", "\"heads\": 32"),
            "[transformer.heads] must divide width = 16, got 32; head_dim sets another size");
}

TEST_F(StoredModel, OfANewerFormatSaysSo) {
  replace("{\n", "{\n  \"format\": 1,\n");
  EXPECT_NO_THROW(load());
  replace("\"format\": 1", "\"format\": 3");
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(HasSubstr(
                  "config.json.format] must be at most 2, got 3: the model was saved by a newer")));
  replace("\"format\": 3", "\"format\": \"1\"");
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr("must be an integer")));
}

TEST_F(StoredModel, ThatClaimsMoreThanItHoldsTakesNoMemory) {
  replace("\"width\": 16", "\"width\": 8192");
  replace("\"layers\": 1", "\"layers\": 1000");
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(HasSubstr("model.safetensors] must hold the ")));
}

TEST_F(StoredModel, WithWeightsThatAreNotFiniteIsRefused) {
  std::string bytes = read_file(folder_ + "/model.safetensors");
  bytes.replace(bytes.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));  // NaN
  write_file(folder_ + "/model.safetensors", bytes);
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr("must hold finite numbers")));
}

TEST_F(StoredModel, ThatIsNotWhatItsChecksumSaysIsRefused) {
  std::string bytes = read_file(folder_ + "/model.safetensors");
  write_file(folder_ + "/training.json", R"({"files": {"model.safetensors": {"bytes": )" +
                                             std::to_string(bytes.size()) + R"(, "checksum": ")" +
                                             checksum_of(bytes) + "\"}}}");
  EXPECT_NO_THROW(load());
  bytes[bytes.size() - 2] ^= 1;
  write_file(folder_ + "/model.safetensors", bytes);
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(HasSubstr("model.safetensors] is corrupt: checksum mismatch")));
}

}  // namespace
}  // namespace sextant
