// `sextant info` and `sextant attend` of an image model, and how other commands refuse one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(InfoOfAnImageModel, SaysItsSizes) {
  EXPECT_THAT(sextant("info --model " + vit()).out,
              AllOf(HasSubstr("image model in"), HasSubstr("3 channels of 12 x 12 pixels"),
                    HasSubstr("3 x 3 of 4 x 4 pixels")));
  const Json json = Json::parse(sextant("info --json --model " + vit()).out);
  EXPECT_EQ(json["config"]["pooler_width"], 10);
}

}  // namespace
}  // namespace sextant::app_tests
