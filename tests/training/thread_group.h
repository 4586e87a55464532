// Ranks that are threads of the test: the same calls as ranks of MPI make, without it.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sextant/core/error.h"
#include "sextant/training/group.h"

namespace sextant {

// Messages that were sent and not yet received, by sender, receiver and tag.
class Mailbox {
 public:
  using Address = std::tuple<int, int, int>;

  void put(const Address& to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[to].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }
  // The oldest one, which must have this length; false: there is none after `wait`.
  bool take(const Address& from, std::span<std::byte> bytes, std::chrono::seconds wait) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[from];
    if (!changed_.wait_for(lock, wait, [&] { return !box.empty(); })) return false;
    if (box.front().size() != bytes.size()) throw Error("ranks", "a message of another length");
    std::memcpy(bytes.data(), box.front().data(), bytes.size());
    box.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Address, std::deque<std::vector<std::byte>>> boxes_;
};

// What all of them see.
struct ThreadRanks {
  explicit ThreadRanks(int count) : size(count), arrived(count), texts(count) {}
  int size;
  std::barrier<> arrived;
  std::vector<std::string> texts;  // one of each rank
  std::atomic<std::int64_t> next_piece = 0, taken = 0;
  std::atomic<bool> stopped = false;
  std::mutex taking;
  const TrainingGroup::Work* of_first = nullptr;
  Mailbox messages;
};

class ThreadGroup final : public TrainingGroup {
 public:
  ThreadGroup(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return all_.size; }

  std::unique_ptr<Messages> start(std::span<const Outgoing> sends,
                                  std::span<const Incoming> receives) override {
    for (const auto& [to, bytes, tag] : sends) all_.messages.put({rank_, to, tag}, bytes);
    return std::make_unique<UnderWay>(all_.messages, rank_,
                                      std::vector<Incoming>(receives.begin(), receives.end()));
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

  void run_or_fail_on_all(const std::function<void()>& work) override {
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

  bool distribute(std::int64_t count, const Work& work) override {
    if (rank_ == 0) {
      all_.next_piece = all_.taken = 0;
      all_.stopped = false;
      all_.of_first = &work;
    }
    all_.arrived.arrive_and_wait();
    run_or_fail_on_all([&] {
      while (!all_.stopped) {
        const std::int64_t piece = all_.next_piece++;
        if (piece >= count) return;
        try {
          const auto made = work.run(piece);
          if (!made) all_.stopped = true;
          if (!made) return;
          const std::lock_guard lock(all_.taking);
          all_.of_first->on_result(piece, *made);
          ++all_.taken;
        } catch (const Error&) {
          all_.stopped = true;
          throw;
        }
      }
    });
    return all_.taken == count;
  }
  bool cancelled() override { return all_.stopped; }

 private:
  class UnderWay final : public Messages {
   public:
    UnderWay(Mailbox& mailbox, int rank, std::vector<Incoming> receives)
        : mailbox_(mailbox), rank_(rank), receives_(std::move(receives)) {}
    ~UnderWay() override { EXPECT_TRUE(receives_.empty()) << "nobody waited for a message"; }
    bool done() override { return take_all(std::chrono::seconds(0)); }
    void finish() override {
      if (!take_all(std::chrono::seconds(20))) throw Error("ranks", "a message that was not sent");
    }

   private:
    bool take_all(std::chrono::seconds wait) {
      while (!receives_.empty()) {
        const auto& [from, bytes, tag] = receives_.front();
        if (!mailbox_.take({from, rank_, tag}, bytes, wait)) return false;
        receives_.erase(receives_.begin());
      }
      return true;
    }

    Mailbox& mailbox_;
    int rank_;
    std::vector<Incoming> receives_;
  };

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
