// Implements a training's group with messages of a communicator.
#include <cstdio>
#include <string>
#include <utility>

#include "ranks/training/context_parallel.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/session.h"
#include "sextant/ranks/training.h"

namespace sextant::ranks {
namespace {

// Ranks with the same part of sequences one after the other: `together` of them and their rank
// among those, in an order in which rank 0 stays rank 0.
Communicator in_order_of_parts(const Communicator& comm, int context_parallel_size) {
  same_everywhere(comm, "ranks.context_parallel",
                  std::as_bytes(std::span(&context_parallel_size, 1)));
  if (context_parallel_size < 1 || comm.size() % context_parallel_size != 0) {
    throw SharedError("ranks.context_parallel", "must divide the number of ranks, " +
                                                    std::to_string(comm.size()) + ", got " +
                                                    std::to_string(context_parallel_size));
  }
  const int batches = comm.size() / context_parallel_size;
  return comm.split(
      0, comm.rank() % context_parallel_size * batches + comm.rank() / context_parallel_size);
}

class UnderWay final : public TrainingGroup::Messages {
 public:
  explicit UnderWay(Exchange exchange) : exchange_(std::move(exchange)) {}
  bool done() override { return exchange_.done(); }
  void finish() override { exchange_.finish(); }

 private:
  Exchange exchange_;
};

}  // namespace

TrainingRanks::TrainingRanks(const Communicator& comm, int context_parallel_size)
    : comm_(in_order_of_parts(comm, context_parallel_size)),
      work_comm_(comm_.duplicate()),
      context_parallel_size_(context_parallel_size) {
  if (context_parallel_size == 1) return;
  const int batches = size() / context_parallel_size;
  context_parallel_ =
      std::make_unique<RanksContextParallel>(comm_.split(rank() % batches, rank() / batches));
}

TrainingRanks::~TrainingRanks() = default;

std::unique_ptr<TrainingGroup::Messages> TrainingRanks::start(std::span<const Outgoing> sends,
                                                              std::span<const Incoming> receives) {
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (const auto& [to, bytes, tag] : sends) out.push_back({to, bytes, tag});
  for (const auto& [from, bytes, tag] : receives) in.push_back({from, bytes, tag});
  return std::make_unique<UnderWay>(comm_.start(out, in));
}

bool TrainingRanks::any(bool value) { return comm_.largest(std::int64_t{value}) != 0; }

void TrainingRanks::run_or_fail_on_all(const std::function<void()>& work) {
  ranks::run_or_fail_on_all(comm_, work);
}

void TrainingRanks::run_collective(const std::function<void()>& work) {
  if (context_parallel_ == nullptr) return run_or_fail_on_all(work);
  run_or_fail_on_all([&] {
    try {
      work();
    } catch (const SharedError&) {
      throw;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", rank(), error.what());
      Session::abort();
    }
  });
}

void TrainingRanks::check_same(const std::vector<std::pair<std::string, std::string>>& values) {
  Agreement agreement;
  for (const auto& [name, value] : values) agreement.add(name, value);
  agreement.check(comm_);
}

}  // namespace sextant::ranks
