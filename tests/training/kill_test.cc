// kill -9 at any moment, and again: what comes out is the run that nobody disturbed.
#include <gtest/gtest.h>

#ifndef SEXTANT_SANITIZED  // their run-time does not survive fork() everywhere

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>

#include "sextant/core/random.h"
#include "training/file_operations.h"
#include "training/run_folders.h"
#include "training/runs/state_file.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class Kill : public RunFolders {
 protected:
  Kill() {
    ToyTask task(1);
    train(task, options_for("straight"));
  }

  TrainerOptions options_for(const std::string& name) const {
    TrainerOptions options = toy_options(path(name));
    options.ema_decay = 0.9;  // the most tensors that a checkpoint has
    options.steps = 4;
    options.validate_every = 2;
    options.checkpoint_every = 1;
    return options;
  }

  void check_named_checkpoints(const std::string& name) const;

  // Trains in a process of its own, from what it finds, as a person would type it again. 0: it came
  // to the end.
  int sit(const std::string& name, const std::function<void()>& before,
          const TrainingObserver& observer = {}, useconds_t kill_after = 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        TrainerOptions options = options_for(name);
        options.resume = fs::exists(path(name + "/run.json"));
        ToyTask task(1);
        before();
        train(task, options, observer);
        ::_exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
    }
    if (kill_after > 0) {
      ::usleep(kill_after);
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    return WEXITSTATUS(status);
  }
};

// Whatever has its final name is complete.
void Kill::check_named_checkpoints(const std::string& name) const {
  if (!fs::exists(path(name))) return;
  for (const auto& entry : fs::directory_iterator(path(name))) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("checkpoint-") && !file.ends_with(".tmp")) {
      check_files(entry.path().string());
    }
  }
}

TEST_F(Kill, AtEveryFileOperationChangesNothing) {
  const auto train_here = [&](const std::string& name) {
    ToyTask task(1);
    TrainerOptions options = options_for(name);
    options.resume = fs::exists(path(name + "/run.json"));
    train(task, options);
  };
  kill_at_operation(0, false);
  train_here("counted");
  const long operations = operations_done();
  ASSERT_GT(operations, 100);
  ASSERT_EQ(differences(path("counted"), path("straight")), "");
  for (long n = 1; n <= operations; ++n) {
    const bool half = n % 2 == 0;
    ASSERT_EQ(sit("run", [&] { kill_at_operation(n, half); }), SIGKILL) << n;
    ASSERT_NO_THROW(check_named_checkpoints("run")) << n;
    train_here("run");
    ASSERT_EQ(differences(path("run"), path("straight")), "") << n;
    fs::remove_all(path("run"));
  }
}

TEST_F(Kill, AgainAndAgainChangesNothing) {
  NumpyRandom random(7);
  int kills = 0;
  for (int run = 0; run < 10; ++run) {
    const std::string name = "run" + std::to_string(run);
    int status = SIGKILL;
    while (status == SIGKILL) {
      // A sitting needs some 30 operations for a checkpoint: many get nowhere.
      const auto n = static_cast<long>(1 + random.bits() % 50);
      const bool half = random.bits() % 2 == 0;
      status = sit(name, [&] { kill_at_operation(n, half); });
      kills += status == SIGKILL ? 1 : 0;
      ASSERT_LT(kills, 1000);
    }
    ASSERT_EQ(status, 0) << "run " << run;
    EXPECT_EQ(differences(path(name), path("straight")), "") << "run " << run;
  }
  EXPECT_GT(kills, 20);
}

TEST_F(Kill, FromOutsideAtAnyTimeChangesNothing) {
  NumpyRandom random(8);
  int kills = 0, status = SIGKILL;
  for (useconds_t most = 2000; status == SIGKILL; most += 100) {  // microseconds
    status = sit(
        "run", [] { kill_at_operation(0, false); }, [](const TrainingProgress&) { ::usleep(500); },
        1 + random.bits() % most);
    kills += status == SIGKILL ? 1 : 0;
  }
  EXPECT_EQ(status, 0) << "after " << kills << " kills";
  EXPECT_EQ(differences(path("run"), path("straight")), "") << "after " << kills << " kills";
}

}  // namespace
}  // namespace sextant

#endif
