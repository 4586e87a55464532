// Distributes work to free ranks: rank 0 does this in a thread next to its own work.
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "sextant/ranks/agreement.h"
#include "sextant/ranks/training.h"

namespace sextant::ranks {
namespace {

enum Tag : int { kAnswer, kResult, kWork, kStop };  // kAnswer, kResult: to rank 0; the others: from
enum Status : std::int64_t { kNothingYet, kMade, kStopped, kThrew };
constexpr std::int64_t kNoMore = -1;

struct Answer {
  std::int64_t status = kNothingYet, piece = 0, bytes = 0;
};

template <class T>
std::span<std::byte> bytes_of_value(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// Rank 0. Its main thread makes pieces as the other ranks do; a second one answers those.
class Leader {
 public:
  Leader(const Communicator& comm, std::int64_t count, const TrainingGroup::Work& work,
         std::atomic<bool>& stopped)
      : comm_(comm), count_(count), work_(work), stopped_(stopped) {}

  bool run() {
    std::thread others([this] { guarded([this] { answer_others(); }); });
    guarded([this] {
      for (std::int64_t piece = next(); piece != kNoMore; piece = next()) {
        const std::optional<std::string> result = work_.run(piece);
        if (!result) {
          stopped_ = true;
        } else {
          take(piece, *result);
        }
      }
    });
    others.join();
    if (problem_) std::rethrow_exception(problem_);
    return taken_ == count_;
  }

 private:
  // An exception stops all.
  template <class Call>
  void guarded(const Call& call) {
    try {
      call();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      stopped_ = true;
    }
  }

  std::int64_t next() {
    const std::lock_guard lock(mutex_);
    return stopped_ || next_ == count_ ? kNoMore : next_++;
  }

  void take(std::int64_t piece, const std::string& result) {
    const std::lock_guard lock(mutex_);
    work_.on_result(piece, result);
    ++taken_;
  }

  void answer_others() {
    bool told = false;
    const auto tell = [&] {
      const std::byte stop{};
      for (int rank = 1; rank < comm_.size() && !told; ++rank) {
        comm_.send(rank, std::span(&stop, 1), kStop);
      }
      told = true;
    };
    for (int working = comm_.size() - 1; working > 0;) {
      if (stopped_) tell();
      const int rank = comm_.probe(kAnswer);
      if (rank < 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      if (!answer(rank)) --working;
    }
    tell();  // each of them waits for it
  }

  // Whether the rank has something to do now.
  bool answer(int rank) {
    Answer got;
    comm_.receive(rank, bytes_of_value(got), kAnswer);
    std::string result(static_cast<std::size_t>(got.bytes), ' ');
    comm_.receive(rank, std::as_writable_bytes(std::span(result)), kResult);
    if (got.status == kMade) guarded([&] { take(got.piece, result); });
    if (got.status == kStopped || got.status == kThrew) stopped_ = true;
    std::int64_t piece = next();
    comm_.send(rank, bytes_of_value(piece), kWork);
    return piece != kNoMore;
  }

  const Communicator& comm_;
  std::int64_t count_;
  const TrainingGroup::Work& work_;
  std::atomic<bool>& stopped_;
  std::mutex mutex_;
  std::int64_t next_ = 0, taken_ = 0;
  std::exception_ptr problem_;
};

// The other ranks.
void follow(const Communicator& comm, const TrainingGroup::Work& work) {
  std::exception_ptr problem;
  Answer answer;
  std::string result;
  while (true) {
    answer.bytes = static_cast<std::int64_t>(result.size());
    comm.send(0, bytes_of_value(answer), kAnswer);
    comm.send(0, std::as_bytes(std::span(result)), kResult);
    comm.receive(0, bytes_of_value(answer.piece), kWork);
    if (answer.piece == kNoMore) break;
    result.clear();
    try {
      std::optional<std::string> made = work.run(answer.piece);
      answer.status = made ? kMade : kStopped;
      if (made) result = std::move(*made);
    } catch (...) {
      problem = std::current_exception();
      answer.status = kThrew;
    }
  }
  std::byte stop{};
  comm.receive(0, std::span(&stop, 1), kStop);
  if (problem) std::rethrow_exception(problem);
}

}  // namespace

bool TrainingRanks::distribute(std::int64_t count, const Work& work) {
  stopped_ = false;
  bool all = false;
  ranks::run_or_fail_on_all(comm_, [&] {
    if (rank() == 0) {
      all = Leader(work_comm_, count, work, stopped_).run();
    } else {
      follow(work_comm_, work);
    }
  });
  broadcast(bytes_of_value(all));
  return all;
}

bool TrainingRanks::cancelled() {
  return rank() == 0 ? stopped_.load() : work_comm_.probe(kStop) >= 0;
}

}  // namespace sextant::ranks
