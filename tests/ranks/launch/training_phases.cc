// A training of which a rank kills itself in a phase of step 6, after a checkpoint of step 4:
// mpirun -n R training_phases PHASE FOLDER. PHASE may also be "none" and "resume"; and "alone", in
// which a rank of two that share sequences throws what the other does not.
#include <csignal>
#include <cstdio>
#include <string>

#include "sextant/ranks.h"
#include "sextant/training/trainer.h"
#include "training/toy_task.h"

namespace sextant::ranks {
namespace {

[[noreturn]] void die() {
  std::raise(SIGKILL);
  std::_Exit(1);
}

// Dies when it is to send its gradients.
class Deadly final : public TrainingGroup {
 public:
  Deadly(const Communicator& comm, int context_parallel_size)
      : ranks_(comm, context_parallel_size) {}
  bool kills = false;

  int rank() const noexcept override { return ranks_.rank(); }
  int size() const noexcept override { return ranks_.size(); }
  std::unique_ptr<Messages> start(std::span<const Outgoing> sends,
                                  std::span<const Incoming> receives) override {
    if (kills) die();
    return ranks_.start(sends, receives);
  }
  void broadcast(std::span<std::byte> bytes) override { ranks_.broadcast(bytes); }
  bool any(bool value) override { return ranks_.any(value); }
  int context_parallel_size() const noexcept override { return ranks_.context_parallel_size(); }
  ContextParallel* context_parallel() noexcept override { return ranks_.context_parallel(); }
  void run_or_fail_on_all(const std::function<void()>& work) override {
    ranks_.run_or_fail_on_all(work);
  }
  void run_collective(const std::function<void()>& work) override { ranks_.run_collective(work); }
  void check_same(const std::vector<std::pair<std::string, std::string>>& values) override {
    ranks_.check_same(values);
  }
  bool distribute(std::int64_t count, const Work& work) override {
    return ranks_.distribute(count, work);
  }
  bool cancelled() override { return ranks_.cancelled(); }

 private:
  TrainingRanks ranks_;
};

// "step", "reduce": rank 1; "checkpoint": rank 0, which writes it.
void run(const Communicator& comm, const std::string& phase, const std::string& folder) {
  Deadly group(comm, phase == "alone" ? comm.size() : 1);
  ToyTask task(1, 6);
  task.on_accumulate = [&](std::int64_t step, LossSum&) {
    if (phase == "alone" && comm.rank() == 1) throw Error("task", "must have memory");
    if (comm.rank() != 1 || step != 5) return;
    if (phase == "step") die();
    group.kills = phase == "reduce";
  };
  task.on_save = [&](const std::string& checkpoint) {
    if (phase == "checkpoint" && checkpoint.find("000000006") != std::string::npos) die();
  };
  TrainerOptions options{.steps = 12, .folder = folder, .resume = phase == "resume"};
  options.schedule = {.peak = 0.05};
  options.checkpoint_every = 2;
  options.group = &group;
  train(task, options);
}

}  // namespace
}  // namespace sextant::ranks

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const sextant::ranks::Session session;
    sextant::ranks::run(session.world(), argv[1], argv[2]);
  } catch (const sextant::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
