// `sextant encode --config`: a model's positions from its config.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

std::string config(const std::string& name) {
  return " --config " + sextant::tests::data_folder() + "/interop/config/configs/" + name +
         ".json ";
}

TEST(EncodeConfig, WritesTheSameFileAsTheSchemeByName) {
  const Folder folder;
  const std::string a = folder / "a.npy", b = folder / "b.npy";
  ASSERT_EQ(sextant("encode" + config("llama3_1") + "--length 64 -o " + a).code, 0);
  ASSERT_EQ(sextant("encode --scheme rotary_llama3 --head-dim 128 --base 500000 --factor 8 "
                    "--low-freq-factor 1 --high-freq-factor 4 --original-length 8192 --length 64 "
                    "-o " +
                    b)
                .code,
            0);
  EXPECT_EQ(contents(a), contents(b));
  EXPECT_GT(contents(a).size(), 64U * 64 * 2 * 4);
}

TEST(EncodeConfig, TellsSchemeParametersFrequenciesAndFactor) {
  const auto json = sextant("encode" + config("gpt_oss") + "--layer 1 --length 2 --json").json();
  EXPECT_EQ(json["scheme"], "rotary_yarn");
  EXPECT_EQ(json["parameters"]["truncate"], false);
  EXPECT_EQ(json["inv_freq"].size(), 32U);
  // The catalogue's golden values have 9 and 8 digits.
  EXPECT_NEAR(json["inv_freq"][9].get<double>(), 0.0317056962, 1e-10);
  EXPECT_NEAR(json["attention_factor"].get<double>(), 1.3465736, 1e-7);
  EXPECT_EQ(json["model"]["kv_heads"], 8);
}

TEST(EncodeConfig, AsksForALayerWhereLayersDiffer) {
  const Outcome none = sextant("encode" + config("gemma3") + "--length 4");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("[encode.layer] must be given for"));
  EXPECT_THAT(none.err, HasSubstr("its 34 layers differ"));
  EXPECT_EQ(sextant("encode" + config("gemma3") + "--length 4 --layer 33").code, 0);
  EXPECT_THAT(sextant("encode" + config("gemma3") + "--length 4 --layer 34").err,
              HasSubstr("must be 0 .. 33"));
}

TEST(EncodeConfig, NeedsNoLayerWhereOnlyWindowsDiffer) {
  const auto json = sextant("encode" + config("gpt_oss") + "--length 4 --json").json();
  EXPECT_EQ(json["scheme"], "rotary_yarn");
  EXPECT_TRUE(json["model"]["window"].is_null());
  const auto layer = sextant("encode" + config("gpt_oss") + "--length 4 --json --layer 0").json();
  EXPECT_EQ(layer["values"], json["values"]);
  EXPECT_TRUE(layer["model"]["window"].is_array());
}

TEST(EncodeConfig, TellsOfLayersWithoutATable) {
  const Outcome plain = sextant("encode" + config("smollm3") + "--layer 3 --length 4");
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.err, HasSubstr("must be given with --json: this layer has the scheme none"));
  EXPECT_EQ(sextant("encode" + config("smollm3") + "--layer 3 --length 4 --json").json()["scheme"],
            "none");
  const auto t5 = sextant("encode" + config("t5") + "--layer 0 --length 4 --json").json();
  EXPECT_EQ(t5["scheme"], "t5");
  EXPECT_EQ(t5["model"]["stack"], "encoder");
  EXPECT_FALSE(t5.contains("values"));
  EXPECT_THAT(sextant("encode" + config("t5") + "--layer 0 --length 4").err,
              HasSubstr("must be given with --scheme-weights"));
}

TEST(EncodeConfig, TellsSoftcapSinksAndStack) {
  const auto about = [](const std::string& name) {
    return sextant("encode" + config(name) + "--layer 0 --length 2 --json").json()["model"];
  };
  EXPECT_EQ(about("gpt_oss")["sinks"], true);
  EXPECT_TRUE(about("gpt_oss")["softcap"].is_null());
  EXPECT_EQ(about("llama2")["sinks"], false);
  EXPECT_EQ(about("llama2")["stack"], "decoder");
  EXPECT_EQ(about("bert")["stack"], "encoder");
  const Folder folder;
  std::ofstream(folder / "gemma2.json") << R"({"model_type":"gemma2"})";
  const auto gemma =
      sextant("encode --config " + (folder / "gemma2.json") + " --length 2 --json").json();
  EXPECT_EQ(gemma["model"]["softcap"], 50);
}

TEST(EncodeConfig, ScalesFalconsBias) {
  const auto falcon = sextant("encode" + config("falcon_rw") + "--length 2 --format csv");
  const auto alibi =
      sextant("encode --scheme alibi --direction causal --heads 32 --length 2 --format csv");
  ASSERT_EQ(falcon.code, 0) << falcon.err;
  const auto a = csv(falcon.out), b = csv(alibi.out);
  ASSERT_EQ(a.size(), b.size());
  // 1 / sqrt(64) is a power of two: exact.
  EXPECT_EQ(a[0][0], b[0][0] / 8);
}

TEST(EncodeConfig, RefusesTwoMindsAboutAParameter) {
  EXPECT_EQ(sextant("encode --scheme rotary" + config("llama2") + "--length 4").code, 2);
  EXPECT_EQ(sextant("encode --layer 3 --length 4 --width 4").code, 2);
  const Outcome base = sextant("encode" + config("llama2") + "--length 4 --base 5");
  EXPECT_EQ(base.code, 1);
  EXPECT_THAT(base.err, HasSubstr("[encode.config] says base = 10000, and --base must not"));
  EXPECT_EQ(sextant("encode" + config("llama2") + "--length 4 --precision framework").code, 0);
  EXPECT_EQ(sextant("encode --config missing.json --length 4").code, 1);
}

}  // namespace
}  // namespace sextant::app_tests
