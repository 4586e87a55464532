// The assignment of a backward call's tasks to threads, and the order in which tasks add to the
// sums they share.
//
// A slice is a sequence and key head; its tasks, blocks of queries of its heads, all add to the
// same gradients of k and v. They do so in the order of their numbers, block of keys by block of
// keys: a task may add to a block as soon as the task before it has. So they run as a pipeline over
// the keys, on any number of threads, with the bits of one thread. A thread takes whole slices
// while there are any, several consecutive ones where they are short, and then helps with others.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace sextant::attention_detail {

class BackwardOrder {
 public:
  // tasks_of(slice) says how many a slice has. With `global_order` the order goes through all
  // slices, because they share more than their keys' gradients.
  template <class TasksOf>
  BackwardOrder(std::int64_t slices, bool global_order, const TasksOf& tasks_of)
      : slices_(slices),
        one_chain_(global_order),
        first_(std::make_unique<std::int64_t[]>(static_cast<std::size_t>(slices + 1))),
        next_(std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(slices))) {
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      first_[at(slice + 1)] = first_[at(slice)] + tasks_of(slice);
    }
    const auto tasks = static_cast<std::size_t>(first_[at(slices)]);
    progress_ = std::make_unique<std::atomic<std::int32_t>[]>(tasks);
  }

  std::int64_t tasks() const noexcept { return first_[at(slices_)]; }

  // The iteration of one thread over tasks.
  class TaskCursor {
   public:
    // chunk: how many slices the thread takes at once.
    TaskCursor(BackwardOrder& order, std::int64_t chunk) noexcept : order_(order), chunk_(chunk) {}

    struct Task {
      std::int64_t slice, number;  // the number counts in the slice
    };
    // False when every task has been taken. A task's predecessors have been taken before it, and
    // are running or done.
    bool next(Task& task) noexcept;

   private:
    bool take_from(std::int64_t slice, Task& task) noexcept;

    BackwardOrder& order_;
    std::int64_t chunk_;
    std::int64_t slice_ = 0, end_ = 0;
    bool stealing_ = false;
  };

  // Holds the position of a task in the order, from its start to its end. In every case, also after
  // an exception, it first waits for the tasks before it and then releases the next one: no task
  // waits forever, or adds before its predecessors.
  class TurnGuard {
   public:
    TurnGuard(BackwardOrder& order, const TaskCursor::Task& task) noexcept
        : order_(order), task_(task) {}
    ~TurnGuard();
    TurnGuard(const TurnGuard&) = delete;
    TurnGuard& operator=(const TurnGuard&) = delete;

    // Waits until the task before has added to keys up to `key`; reports that keys below next_key
    // are done.
    void wait_for(std::int64_t key) const noexcept { order_.wait_for(task_, key); }
    void report(std::int64_t next_key) const noexcept {
      order_.set(task_, static_cast<std::int32_t>(next_key));
    }
    // Waits until the tasks before are finished.
    void wait_for_all() const noexcept { order_.wait_for(task_, kFinished - 1); }

   private:
    BackwardOrder& order_;
    const TaskCursor::Task task_;
  };

  bool is_last(const TaskCursor::Task& task) const noexcept {
    return task.number == tasks_of(task.slice) - 1;
  }
  std::int64_t tasks_of(std::int64_t slice) const noexcept {
    return first_[at(slice + 1)] - first_[at(slice)];
  }

 private:
  static constexpr std::int32_t kFinished = std::numeric_limits<std::int32_t>::max();

  static std::size_t at(std::int64_t index) noexcept { return static_cast<std::size_t>(index); }
  std::atomic<std::int32_t>* before(const TaskCursor::Task& task) const noexcept;
  void wait_for(const TaskCursor::Task& task, std::int64_t key) const noexcept;
  void set(const TaskCursor::Task& task, std::int32_t value) noexcept;

  std::int64_t slices_;
  bool one_chain_;
  std::unique_ptr<std::int64_t[]> first_;                  // of each slice, in all tasks
  std::unique_ptr<std::atomic<std::int64_t>[]> next_;      // of each slice, to be taken
  std::unique_ptr<std::atomic<std::int32_t>[]> progress_;  // of each task: keys below are done
  std::atomic<std::int64_t> slice_{0};                     // the next one not begun
};

}  // namespace sextant::attention_detail
