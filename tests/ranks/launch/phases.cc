// A program whose rank 1 kills itself in a phase of its work: mpirun -n R phases PHASE FOLDER.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "sextant/core/files.h"
#include "sextant/ranks.h"

namespace sextant::ranks {
namespace {

bool is_victim(const Communicator& comm) { return comm.rank() == 1; }

[[noreturn]] void die() {
  std::raise(SIGKILL);
  std::_Exit(1);
}

// Dies while the operator runs.
class Deadly final : public ScoreTerm {
 public:
  explicit Deadly(bool kills) : kills_(kills) {}
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>&) const noexcept override {
    if (kills_) die();
  }

 private:
  bool kills_;
};

void run(const Communicator& comm, const std::string& phase, const std::string& folder) {
  const ShardLayout layout(Sharding::zigzag, 4096, comm.size());
  const Tensor<float> x({1, 1, layout.count(comm.rank()), 64});
  Tensor<float> out(x.shape());
  const Deadly deadly(phase == "compute" && is_victim(comm));
  const AttentionOptions<float> options{.causal = Causal::top_left, .terms = {&deadly}};
  if (phase == "start" && is_victim(comm)) die();
  if (phase == "send") {
    std::vector<std::byte> mine(1 << 22), theirs(1 << 22);
    const int next = (comm.rank() + 1) % comm.size();
    const int last = (comm.rank() + comm.size() - 1) % comm.size();
    const Communicator::Outgoing sends[] = {{next, mine}};
    const Communicator::Incoming receives[] = {{last, theirs}};
    Exchange exchange = comm.start(sends, receives);
    if (is_victim(comm)) die();
    exchange.finish();
  }
  ranks::attention<float>(comm, x, x, x, out.view(), options,
                          {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag});
  if (phase == "reduce") {
    std::vector<double> values(1 << 20, 1.0);
    if (is_victim(comm)) die();
    comm.all_reduce(std::span(values));
  }
  if (phase == "write") {
    save_shards<float>(comm, folder + "/first.npy", out.view(), layout);
    if (is_victim(comm)) die();
    save_shards<float>(comm, folder + "/second.npy", out.view(), layout);
  }
  comm.barrier();
}

}  // namespace
}  // namespace sextant::ranks

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::signal(SIGTERM, [](int) {  // as programs do that write files
    sextant::remove_temporary_files();
    std::_Exit(1);
  });
  try {
    const sextant::ranks::Session session;
    sextant::ranks::run(session.world(), argv[1], argv[2]);
  } catch (const sextant::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
