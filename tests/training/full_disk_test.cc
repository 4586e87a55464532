// Disks that are full and folders that cannot be written: one clear line, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "sextant/core/error.h"
#include "support/ordinary_user.h"
#include "training/file_operations.h"
#include "training/run_folders.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class FullDisk : public RunFolders {
 protected:
  FullDisk() { train_straight(); }
  TrainerOptions options_for(const std::string& name) const {
    TrainerOptions options = toy_options(path(name));
    options.steps = steps_;
    return options;
  }
  void train_straight() {
    fs::remove_all(path("straight"));
    ToyTask task(1);
    train(task, options_for("straight"));
  }
  // Goes on, from what there is.
  void finish() {
    ToyTask task(1);
    TrainerOptions options = options_for("run");
    options.resume = fs::exists(path("run/run.json"));
    train(task, options);
    EXPECT_EQ(differences(path("run"), path("straight")), "");
    fs::remove_all(path("run"));
  }

  std::int64_t steps_ = 12;
};

// Stops writes half-way, as a full disk does.
class FileSizeLimit {
 public:
  FileSizeLimit() : handler_(std::signal(SIGXFSZ, SIG_IGN)) { ::getrlimit(RLIMIT_FSIZE, &before_); }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  void set(rlim_t bytes) const {
    struct rlimit small = before_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }

 private:
  struct rlimit before_ {};
  void (*handler_)(int);
};

TEST_F(FullDisk, WhileACheckpointIsWrittenKeepsTheOneBefore) {
  {
    const FileSizeLimit limit;
    ToyTask task(1);
    int saves = 0;
    task.on_save = [&](const std::string&) {
      if (++saves == 4) limit.set(400);  // the optimiser's file needs more
    };
    EXPECT_THAT([&] { train(task, toy_options(path("run"))); },
                ThrowsMessage<Error>(error_at("run/checkpoint-000000006.tmp/optimiser.safetensors",
                                              "cannot be written: File too large")));
  }
  EXPECT_EQ(fs::read_symlink(path("run/last")), "checkpoint-000000004");
  EXPECT_FALSE(fs::exists(path("run/checkpoint-000000006.tmp")));
  finish();
}

TEST_F(FullDisk, WhileMetricsAreWrittenKeepsTheCheckpoint) {
  {
    const FileSizeLimit limit;
    ToyTask task(1);
    task.on_accumulate = [&](std::int64_t step, LossSum&) {
      if (step == 6) limit.set(fs::file_size(path("run/metrics.jsonl")) + 20);
    };
    EXPECT_THAT(
        [&] { train(task, toy_options(path("run"))); },
        ThrowsMessage<Error>(error_at("run/metrics.jsonl", "cannot be written: File too large")));
  }
  finish();
}

#ifndef SEXTANT_SANITIZED
TEST_F(FullDisk, AtEveryFileOperationLosesNothing) {
  steps_ = 4;
  fail_from_operation(0);
  train_straight();
  const long operations = operations_done();
  ASSERT_GT(operations, 50);
  for (long n = 1; n <= operations; ++n) {
    ToyTask task(1);
    fail_from_operation(n);
    try {
      train(task, options_for("run"));
      fail_from_operation(0);  // the last operations are removals, which a full disk allows
      EXPECT_GT(n, operations - 20) << n;
    } catch (const Error& error) {
      fail_from_operation(0);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("[" + fs::path(path("run")).parent_path().string()),
                                      Not(HasSubstr("\n")), HasSubstr("No space left on device")));
    }
    finish();
    if (HasFailure()) FAIL() << "operation " << n;
  }
}
#endif

TEST_F(FullDisk, OrAFolderThatCannotBeMadeIsAnError) {
  write_file(path("file"), "x");
  ToyTask task(1);
  EXPECT_THAT([&] { train(task, toy_options(path("file/run"))); },
              ThrowsMessage<Error>("[" + path("file/run") + "] cannot be made: Not a directory"));
  EXPECT_THAT([&] { train(task, toy_options(path("file"))); },
              ThrowsMessage<Error>(HasSubstr("[" + path("file") + "]")));
  EXPECT_EQ(read_file(path("file")), "x");
}

TEST_F(FullDisk, OrAFolderThatMayNotBeWrittenIsAnError) {
  const tests::OrdinaryUser user(path(""));
  fs::create_directory(path("run"));
  fs::permissions(path("run"), fs::perms::owner_read | fs::perms::owner_exec);
  ToyTask task(1);
  EXPECT_THAT(
      [&] { train(task, toy_options(path("run"))); },
      ThrowsMessage<Error>("[" + path("run/run.json") + "] cannot be written: Permission denied"));
  fs::permissions(path("run"), fs::perms::owner_all);
}

}  // namespace
}  // namespace sextant
