// `sextant info`, `attend`, `embed` and `export` of an image model, and how other commands refuse
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apps/run_program.h"
#include "sextant/core/npy.h"
#include "sextant/core/safetensors.h"
#include "sextant/hub/image_models.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string vit() { return tests::data_folder() + "/hub/golden_images/vit"; }

Tensor<float> stored_images() {
  return load_safetensors(vit() + "/expected.safetensors").tensors.at("images").to<float>();
}

TEST(AttendImage, ShowsTheMapsOfAHead) {
  const Folder folder;
  const Tensor<float> images = stored_images();
  const auto image = std::as_const(images).view().select(0, 1);
  const std::string file = folder / "image.npy";
  save_npy(file, image);
  const std::string command = "attend --model " + vit() + " --image " + file;
  const Json json = Json::parse(sextant(command + " --layer 0 --head 2 --json").out);
  EXPECT_EQ(json["keys"][0], "[CLS]");
  EXPECT_EQ(json["keys"][9], "2,2");
  const ImageModel model = load_image_model(vit());
  Workspace memory;
  Pass pass{memory};
  const auto maps = model.attention_maps(image, pass);
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t k = 0; k < 10; ++k) {
      EXPECT_EQ(json["weights"][0][i][k].get<double>(), static_cast<double>(maps[0](2, i, k)));
    }
  }
  const Json some = Json::parse(sextant(command + " --rows 3,5 --json").out);
  EXPECT_EQ(some["queries"].dump(), "[\"0,2\",\"1,0\"]");
  EXPECT_EQ(some["layer"], 1);
  EXPECT_THAT(sextant(command + " --overview").out, HasSubstr("layer  head"));
  EXPECT_THAT(sextant(command + " --format html").out, HasSubstr("Image model"));
}

TEST(AttendImage, RefusesWhatDoesNotFit) {
  const Folder folder;
  const Tensor<float> images = stored_images();
  save_npy(folder / "two.npy", std::as_const(images).view());
  save_npy(folder / "part.npy", std::as_const(images).view().select(0, 0).narrow(2, 0, 11));
  const std::string model = "attend --model " + vit();
  EXPECT_THAT(sextant(model + " --image " + (folder / "two.npy")).err,
              HasSubstr("[attend.image] must be one image, got 2"));
  EXPECT_THAT(sextant(model + " --image " + (folder / "part.npy")).err,
              HasSubstr("multiples of the patch of 4 x 4 pixels, got 12 x 11"));
  EXPECT_THAT(sextant(model + " --image " + (folder / "two.npy") + " 'a text'").err,
              HasSubstr("[attend.image] must not be combined with TEXT"));
  EXPECT_THAT(sextant("attend --image " + (folder / "two.npy") + " 'a text'").err,
              HasSubstr("[attend.model] must be given with --image"));
  EXPECT_THAT(sextant(model + " 'a text'").err, HasSubstr("a model of images: `info`, `attend"));
  const std::vector<std::string> commands = {"generate --prompt a",
                                             "evaluate --file " + folder / "two.npy", "embed a",
                                             "logit-lens a", "tokenize a"};
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    EXPECT_THAT(sextant(command + " --model " + vit()).err, HasSubstr("vit"));
  }
}

TEST(EmbedImages, ComparesTheVectorsOfFiles) {
  const Folder folder;
  const Tensor<float> images = stored_images();
  const auto view = std::as_const(images).view();
  const std::string both = folder / "both.npy", one = folder / "one.npy";
  save_npy(both, view);
  save_npy(one, view.select(0, 1));
  const std::string command = "embed --model " + vit() + " --image " + both + " " + one;
  const Json json = Json::parse(sextant(command + " --json").out);
  EXPECT_EQ(json["images"], (std::vector<std::string>{both + "[0]", both + "[1]", one}));
  Workspace memory;
  Pass pass{memory};
  const Tensor<float> wanted = load_image_model(vit()).vectors(view, pass);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t c = 0; c < wanted.size(1); ++c) {
      EXPECT_EQ(json["vectors"][static_cast<std::size_t>(row)][static_cast<std::size_t>(c)],
                static_cast<double>(wanted(std::min<std::int64_t>(row, 1), c)));
    }
  }
  EXPECT_NEAR(json["similarities"][1][2].get<double>(), 1, 0x1p-50);
  EXPECT_LT(json["similarities"][0][1].get<double>(), 1);
  EXPECT_THAT(sextant(command).out, HasSubstr("one.npy"));
  EXPECT_THAT(sextant(command + " --format svg").out, HasSubstr("Cosine similarity of images"));
  const Folder files;
  ASSERT_EQ(sextant(command + " --dtype bfloat16 -o " + files / "v.npy").code, 0);
  EXPECT_EQ(load_npy(files / "v.npy").shape, (Shape{3, 10}));

  EXPECT_THAT(sextant("embed --image " + one).err,
              HasSubstr("[embed.image] must be given with --model only"));
  EXPECT_THAT(sextant("embed text --model " + vit() + " --image " + one).err,
              HasSubstr("[embed.image] must not be combined with TEXT and --file"));
  EXPECT_THAT(sextant("embed --model shipped --image " + one).err, HasSubstr("shipped"));
  EXPECT_THAT(sextant("embed --model " + vit() + " text").err, HasSubstr("`embed --image`"));
  save_npy(folder / "flat.npy", view.select(0, 1).select(0, 0));
  EXPECT_THAT(sextant("embed --model " + vit() + " --image " + folder / "flat.npy").err,
              HasSubstr("[embed.image] must be floats [channels, height, width]"));
}

TEST(ExportOfAnImageModel, WritesAFolderThatCommandsOpen) {
  const Folder folder;
  const std::string command = "export --model " + vit() + " -o ";
  const Outcome outcome = sextant(command + folder / "vit --dtype float16");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a model of images"));
  EXPECT_EQ(sextant("info --json --model " + folder / "vit").json()["config"],
            sextant("info --json --model " + vit()).json()["config"]);
  EXPECT_EQ(load_safetensors(folder / "vit/model.safetensors").tensors.begin()->second.dtype,
            DType::float16);
  EXPECT_THAT(sextant(command + folder / "vit").err, HasSubstr("that does not exist yet"));
  EXPECT_THAT(sextant(command + folder / "other --model-type llama").err,
              HasSubstr("[export.model-type] must not be given for a model of images"));
  EXPECT_THAT(sextant(command + folder / "other --like " + vit()).err,
              HasSubstr("[export.like] must not be given for a model of images"));
}

TEST(InfoOfAnImageModel, SaysItsSizes) {
  EXPECT_THAT(sextant("info --model " + vit()).out,
              AllOf(HasSubstr("image model in"), HasSubstr("3 channels of 12 x 12 pixels"),
                    HasSubstr("3 x 3 of 4 x 4 pixels")));
  const Json json = Json::parse(sextant("info --json --model " + vit()).out);
  EXPECT_EQ(json["config"]["pooler_width"], 10);
}

}  // namespace
}  // namespace sextant::app_tests
