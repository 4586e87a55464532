// Results never replace what they are made from, whatever the two files are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FileArguments : public ::testing::Test {
 protected:
  FileArguments() {
    for (const char* name : {"q", "k", "v", "dout"}) {
      save_npy(folder_ / std::string(name) + ".npy", Tensor<float>({1, 1, 4, 4}));
    }
    save_npy(folder_ / "table.npy", Tensor<float>({4, 4}));
    save_npy(folder_ / "ids.npy", Tensor<std::int64_t>({4}));
    put(folder_ / "text.svg", "to be or not to be\n");
    put(folder_ / "text.html", "to be or not to be\n");
    put(folder_ / "report.html", "to be or not to be\n");
    put(folder_ / "picture.png", "to be or not to be\n");
    put(folder_ / "text.json", "to be or not to be\n");
    put(folder_ / "words.json", "to be or not to be, that is the question of to be or not\n");
    put(folder_ / "pairs.tsv", "a b\tb a\nc d\td c\n");
    put(folder_ / "config.json",
        R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
            "num_hidden_layers": 1, "max_position_embeddings": 64})");
    fs::copy(turning_model(), folder_ / "model", fs::copy_options::recursive);
    fs::copy(alphabet_model(), folder_ / "letters", fs::copy_options::recursive);
  }

  // Runs in the folder. All files there are as they were.
  void refuses(const std::string& arguments, const std::string& where) {
    const auto before = files();
    const Outcome outcome = shell("cd " + folder_.path().string() + "; sextant " + arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [" + where + "] must ")) << arguments;
    EXPECT_TRUE(files() == before) << arguments;
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) files[entry.path()] = contents(entry.path());
    }
    return files;
  }

  Folder folder_;
};

TEST_F(FileArguments, AreNeverReadAndWrittenInOneCommand) {
  refuses("evaluate --model model --pairs pairs.tsv -o pairs.tsv", "evaluate.output");
  refuses("evaluate --model model --pairs pairs.tsv -o model/model.safetensors", "evaluate.output");
  const std::string attention = "attention --q q.npy --k k.npy --v v.npy ";
  refuses(attention + "-o q.npy", "attention.output");
  refuses(attention + "-o k.npy", "attention.output");
  refuses(attention + "--weights v.npy", "attention.weights");
  refuses(attention + "--log-sum-exp q.npy", "attention.log-sum-exp");
  refuses(attention + "--dout dout.npy --dq dout.npy", "attention.dq");
  refuses(attention + "--dout dout.npy --dk k.npy", "attention.dk");
  refuses("encode --width 4 --ids-file ids.npy -o ids.npy", "encode.output");
  refuses("encode --config config.json --length 4 -o config.json", "encode.output");
  refuses("encode --scheme learned --scheme-file table.npy --length 4 --width 4 -o table.npy",
          "encode.output");
  refuses("plot heatmap --table table.npy -o table.npy", "plot.output");
  refuses("identify table.npy -o table.npy --json", "identify.output");
  refuses("attend --file text.svg -o text.svg", "attend.output");
  refuses("attend --model letters --file text.json -o letters/config.json", "attend.output");
  refuses("report --file text.html -o text.html", "report.output");
  refuses("report --file report.html", "report.output");
  refuses("report --file picture.png -o page.html --card picture.png", "report.card");
  refuses("plot distance --schemes none,learned:file=table.npy --length 4 -o table.npy",
          "plot.output");
  refuses("similarity to be --file words.json --min-count 1 -o words.json", "similarity.output");
  refuses("similarity to be --file words.json --save-vectors words.json",
          "similarity.save-vectors");
  refuses(
      "convert-rotary letters/model.safetensors --config config.json --to interleaved -o "
      "letters/model.safetensors",
      "convert-rotary.output");
  refuses(
      "convert-rotary letters/model.safetensors --config config.json --to interleaved -o "
      "config.json",
      "convert-rotary.output");
  refuses("extrapolate --file text.svg --picture text.svg --steps 1 --schemes none -o run",
          "extrapolate.picture");
}

TEST_F(FileArguments, AreSeenThroughLinksOtherSpellingsAndStreams) {
  fs::create_symlink("q.npy", folder_ / "link.npy");
  fs::create_hard_link(folder_ / "q.npy", folder_ / "same.npy");
  fs::create_directory_symlink(".", folder_ / "here");
  const std::string attention = "attention --k k.npy --v v.npy ";
  refuses(attention + "--q q.npy -o link.npy", "attention.output");
  refuses(attention + "--q link.npy -o q.npy", "attention.output");
  refuses(attention + "--q q.npy -o same.npy", "attention.output");
  refuses(attention + "--q q.npy -o here/./q.npy", "attention.output");
  refuses(attention + "--q - -o q.npy < q.npy", "attention.output");
  refuses(attention + "--q /dev/stdin -o q.npy < q.npy", "attention.output");
  refuses("attend --file text.svg --format svg >> text.svg", "stdout");
  refuses(attention + "--q q.npy -o same.npy --log-sum-exp link.npy", "attention.log-sum-exp");
}

TEST_F(FileArguments, ThatAreDevicesOrOnlyLookAlikeAreFine) {
  const auto works = [&](const std::string& arguments) {
    const Outcome outcome = shell("cd " + folder_.path().string() + "; sextant " + arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << outcome.err;
  };
  works("attend text.svg -o text.svg");  // the words are the text
  works("encode --length 2 --width 4 --format csv -o /dev/null < /dev/null");
  works("attention --q q.npy --k q.npy --v q.npy -o out.npy");
  works("attention --q q.npy --k q.npy --v q.npy -o out.npy");  // once more, over its result
  works("evaluate --model model --pairs pairs.tsv -o model/translations.txt");
}

TEST_F(FileArguments, ForTwoResultsAreTwo) {
  put(folder_ / "a.npy", "");
  fs::create_hard_link(folder_ / "a.npy", folder_ / "b.npy");
  refuses("attention --q q.npy --k k.npy --v v.npy -o a.npy --log-sum-exp b.npy",
          "attention.log-sum-exp");
}

}  // namespace
}  // namespace sextant::app_tests
