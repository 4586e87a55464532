// Trains skip-gram with negative sampling (Mikolov et al. 2013) by the fastText library, without
// its sub-words. Words are passed as numbers, so none can look like white space, a label or the
// library's sign for the end of a sentence.
#include <fasttext/fasttext.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/files/temporary_file.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/text/segment.h"
#include "text/skip_gram_fields.h"

namespace sextant {
namespace {

// Words by first appearance, how often each is there, and the sentences as their numbers.
struct Corpus {
  std::vector<std::string> words;
  std::vector<std::int64_t> counts;
  std::string lines;
};

Corpus read_corpus(std::span<const std::vector<std::string>> sentences) {
  Corpus corpus;
  std::unordered_map<std::string, std::size_t> places;
  for (const std::vector<std::string>& sentence : sentences) {
    if (sentence.empty()) continue;
    for (const std::string& word : sentence) {
      const auto [place, is_new] = places.emplace(word, corpus.words.size());
      if (is_new) {
        if (word.empty()) throw Error("skip_gram.sentences", "must not hold an empty word");
        check_utf8(word, "skip_gram.sentences");
        corpus.words.push_back(word);
        corpus.counts.push_back(0);
      }
      ++corpus.counts[place->second];
      corpus.lines += std::to_string(place->second) + ' ';
    }
    corpus.lines.back() = '\n';
  }
  return corpus;
}

// The library reads its text from a file only, by its name. Where the system has names for open
// files (/proc), the file's own name is gone before it is read, and nothing is left when the
// process is killed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    std::error_code problem;
    const auto folder = std::filesystem::temp_directory_path(problem);
    if (problem) throw Error("skip_gram", "needs a temporary folder: " + problem.message());
    path_ = (folder / "sextant-XXXXXX").string();
    descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);  // a new name, readable by its owner only
    const int reason = errno;
    if (descriptor_ >= 0) name_.emplace(path_);
    if (descriptor_ < 0 || !write_all(bytes)) {
      const std::string what = descriptor_ < 0 ? "cannot make" : "cannot write";
      const std::string why = std::generic_category().message(descriptor_ < 0 ? reason : errno);
      close();
      throw Error("skip_gram", what + " a temporary file in " + folder.string() + ": " + why);
    }
    const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
    if (::access(open_file.c_str(), R_OK) != 0) return;
    path_ = open_file;
    name_.reset();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { close(); }
  const std::string& path() const noexcept { return path_; }

 private:
  bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  void close() const noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  std::string path_;
  int descriptor_ = -1;
  std::optional<TemporaryName> name_;
};

fasttext::Args make_args(const SkipGram& options, const std::string& path) {
  fasttext::Args args;
  args.input = path;
  args.model = fasttext::model_name::sg;
  args.loss = fasttext::loss_name::ns;
  args.dim = static_cast<int>(options.width);
  args.ws = static_cast<int>(options.window);
  args.minCount = static_cast<int>(options.minimum_count);
  args.epoch = static_cast<int>(options.epochs);
  args.neg = static_cast<int>(options.negatives);
  args.lr = options.learning_rate;
  args.t = options.sample;
  args.maxn = 0;    // no sub-words ...
  args.bucket = 0;  // ... and no room for them
  args.thread = 1;  // more would race, and no two trainings would be equal
  args.verbose = 0;
  // The library's generator takes 31 bits and makes 1 of 0.
  args.seed = static_cast<int>(options.seed % 2147483646u + 1);
  return args;
}

// The library's own start fills only the first tenth of the matrix when it runs on one thread
// (DenseMatrix::uniform, 0.9.2), which leaves most words at zero. So its steps are taken one by one
// and the matrix is filled here, from the same range.
class Trainer : public fasttext::FastText {
 public:
  Trainer(const fasttext::Args& args, const std::string& lines, std::uint32_t seed) {
    args_ = std::make_shared<fasttext::Args>(args);
    dict_ = std::make_shared<fasttext::Dictionary>(args_);
    std::istringstream in(lines);
    dict_->readFromFile(in);
    const auto start = std::make_shared<fasttext::DenseMatrix>(dict_->nwords(), args.dim);
    std::mt19937 generator(seed);
    for (std::int64_t i = 0; i < start->size(0); ++i) {
      for (std::int64_t j = 0; j < start->size(1); ++j) {
        const double unit = static_cast<double>(generator()) * 0x1p-31 - 1;  // [-1, 1)
        start->at(i, j) = static_cast<float>(unit / args.dim);
      }
    }
    input_ = start;
    output_ = createTrainOutputMatrix();
    quant_ = false;
    auto loss = createLoss(output_);
    model_ = std::make_shared<fasttext::Model>(input_, output_, loss, false);
    startThreads();
  }
};

// The places of the words to keep: by falling count, then by appearance.
std::vector<std::size_t> kept_words(const Corpus& corpus, std::int64_t minimum_count) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < corpus.words.size(); ++i) {
    if (corpus.counts[i] >= minimum_count) kept.push_back(i);
  }
  // Wrong words are drawn until one differs from the right one, so one alone would never end.
  if (kept.size() < 2) {
    throw Error("skip_gram.sentences",
                "must hold at least two words that occur " + std::to_string(minimum_count) +
                    " times or more (minimum_count), got " + std::to_string(kept.size()));
  }
  std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
    return corpus.counts[a] > corpus.counts[b];
  });
  return kept;
}

}  // namespace

WordVectors WordVectors::train(std::span<const std::vector<std::string>> sentences,
                               const SkipGram& options) {
  check_fields("skip_gram", options);
  const Corpus corpus = read_corpus(sentences);
  const std::vector<std::size_t> kept = kept_words(corpus, options.minimum_count);
  std::unique_ptr<Trainer> trainer;
  {
    const TemporaryFile file(corpus.lines);
    try {
      trainer =
          std::make_unique<Trainer>(make_args(options, file.path()), corpus.lines, options.seed);
    } catch (const std::bad_alloc&) {
      throw Error("skip_gram.width", "must be small enough for the available memory");
    } catch (const std::exception& error) {
      throw Error(
          "skip_gram",
          std::string("the training failed, a smaller learning_rate may help: ") + error.what());
    }
  }
  std::vector<std::string> words;
  auto vectors =
      Tensor<float>::uninitialized({static_cast<std::int64_t>(kept.size()), options.width});
  fasttext::Vector vector(options.width);
  for (std::size_t row = 0; row < kept.size(); ++row) {
    words.push_back(corpus.words[kept[row]]);
    trainer->getWordVector(vector, std::to_string(kept[row]));
    for (std::int64_t i = 0; i < options.width; ++i) vectors(row, i) = vector[i];
  }
  return WordVectors(std::move(words), std::move(vectors));
}

}  // namespace sextant
