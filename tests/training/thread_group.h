// Ranks that are threads of the test: the same calls as ranks of MPI make, without it.
#pragma once

#include <atomic>
#include <barrier>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/training/group.h"

namespace sextant {

// What all of them see.
struct ThreadRanks {
  explicit ThreadRanks(int count) : size(count), arrived(count), texts(count), messages(count) {}
  int size;
  std::barrier<> arrived;
  std::vector<std::string> texts;  // one of each rank
  std::atomic<std::int64_t> next_piece = 0, taken = 0;
  std::atomic<bool> stopped = false;
  std::mutex taking;
  const TrainingGroup::Work* of_first = nullptr;
  std::vector<std::vector<TrainingGroup::Outgoing>> messages;  // that each sends
};

class ThreadGroup final : public TrainingGroup {
 public:
  ThreadGroup(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return all_.size; }

  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) override {
    auto& mine = all_.messages[static_cast<std::size_t>(rank_)];
    mine.assign(sends.begin(), sends.end());
    all_.arrived.arrive_and_wait();
    std::string problem;
    for (const Incoming& in : receives) {
      const Outgoing* found = nullptr;
      for (const Outgoing& out : all_.messages[static_cast<std::size_t>(in.from)]) {
        if (out.to == rank_ && out.tag == in.tag && out.bytes.size() == in.bytes.size()) {
          found = &out;
        }
      }
      if (found == nullptr) {
        problem = "a message that was not sent: tag " + std::to_string(in.tag);
      } else {
        std::memcpy(in.bytes.data(), found->bytes.data(), in.bytes.size());
      }
    }
    all_.arrived.arrive_and_wait();
    if (!problem.empty()) throw Error("ranks", problem);
  }

  void broadcast(std::span<std::byte> bytes) override {
    const auto all = gather(rank_ == 0 ? std::string(as_text(bytes)) : "");
    if (all[0].size() != bytes.size()) throw Error("ranks", "another length than rank 0");
    std::memcpy(bytes.data(), all[0].data(), bytes.size());
  }

  bool any(bool value) override {
    for (const std::string& text : gather(value ? "yes" : "no")) {
      if (text == "yes") return true;
    }
    return false;
  }

  void together(const std::function<void()>& work) override {
    std::string problem;
    try {
      work();
    } catch (const Error& error) {
      problem = error.where() + "|" + std::string(error.what()).substr(error.where().size() + 3);
    }
    for (const std::string& text : gather(problem)) {
      const auto at = text.find('|');
      if (at != text.npos) throw Error(text.substr(0, at), text.substr(at + 1));
    }
  }

  void check_same(const std::vector<std::pair<std::string, std::string>>& values) override {
    for (const auto& [name, value] : values) {
      const auto all = gather(value);
      for (const std::string& other : all) {
        if (other != all[0]) throw Error(name, "must be the same, got " + all[0] + ", " + other);
      }
    }
  }

  bool hand_out(std::int64_t count, const Work& work) override {
    if (rank_ == 0) {
      all_.next_piece = all_.taken = 0;
      all_.stopped = false;
      all_.of_first = &work;
    }
    all_.arrived.arrive_and_wait();
    together([&] {
      while (!all_.stopped) {
        const std::int64_t piece = all_.next_piece++;
        if (piece >= count) return;
        try {
          const auto made = work.make(piece);
          if (!made) all_.stopped = true;
          if (!made) return;
          const std::lock_guard lock(all_.taking);
          all_.of_first->take(piece, *made);
          ++all_.taken;
        } catch (const Error&) {
          all_.stopped = true;
          throw;
        }
      }
    });
    return all_.taken == count;
  }
  bool others_stop() override { return all_.stopped; }

 private:
  static std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::vector<std::string> gather(std::string text) {
    all_.texts[static_cast<std::size_t>(rank_)] = std::move(text);
    all_.arrived.arrive_and_wait();
    std::vector<std::string> all = all_.texts;
    all_.arrived.arrive_and_wait();
    return all;
  }

  ThreadRanks& all_;
  int rank_;
};

// Runs `work` as each of `count` ranks. What each threw, "" for nothing.
inline std::vector<std::string> on_thread_ranks(int count,
                                                const std::function<void(TrainingGroup&)>& work) {
  ThreadRanks all(count);
  std::vector<std::string> problems(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadGroup group(all, rank);
      try {
        work(group);
      } catch (const Error& error) {
        problems[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return problems;
}

}  // namespace sextant
