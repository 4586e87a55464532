// Who does which task of a backward call, and in which order tasks add to the sums they share.
//
// A unit is a sequence and key head; its tasks, blocks of queries of its heads, all add to the same
// gradients of k and v. They do so in the order of their numbers, block of keys by block of keys: a
// task may add to a block as soon as the task before it has. So they run one behind the other over
// the keys, on as many threads as there are, and the bits are those of one thread. A thread takes
// units of its own while there are any, several side by side where they are short, and then helps
// others.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace sextant::detail {

class BackwardOrder {
 public:
  // tasks_of(unit) says how many a unit has. With `one_chain` the order goes through all units,
  // because they share more than their keys' gradients.
  template <class TasksOf>
  BackwardOrder(std::int64_t units, bool one_chain, const TasksOf& tasks_of)
      : units_(units),
        one_chain_(one_chain),
        first_(std::make_unique<std::int64_t[]>(static_cast<std::size_t>(units + 1))),
        next_(std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(units))) {
    for (std::int64_t unit = 0; unit < units; ++unit) {
      first_[at(unit + 1)] = first_[at(unit)] + tasks_of(unit);
    }
    const auto tasks = static_cast<std::size_t>(first_[at(units)]);
    progress_ = std::make_unique<std::atomic<std::int32_t>[]>(tasks);
  }

  std::int64_t tasks() const noexcept { return first_[at(units_)]; }

  // One thread's way through the units.
  class Walk {
   public:
    // together: how many units the thread takes at once.
    Walk(BackwardOrder& order, std::int64_t together) noexcept
        : order_(order), together_(together) {}

    struct Task {
      std::int64_t unit, number;  // the number counts in the unit
    };
    // False when every task has been taken. A task's predecessors have been taken before it, and
    // are running or done.
    bool next(Task& task) noexcept;

   private:
    bool take_from(std::int64_t unit, Task& task) noexcept;

    BackwardOrder& order_;
    std::int64_t together_;
    std::int64_t unit_ = 0, end_ = 0;
    bool helps_ = false;
  };

  // The place of a task in the order, from when it is taken to its end. However it ends, also by an
  // exception, it first waits for the tasks before it and then lets the next one go on: nobody
  // waits for ever, and no task's sums are touched before it by one that is behind.
  class Turn {
   public:
    Turn(BackwardOrder& order, const Walk::Task& task) noexcept : order_(order), task_(task) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Waits until the task before has added to keys below and at `key`; says that keys below
    // next_key are done.
    void wait_for(std::int64_t key) const noexcept { order_.wait_for(task_, key); }
    void report(std::int64_t next_key) const noexcept {
      order_.set(task_, static_cast<std::int32_t>(next_key));
    }
    // Waits until the tasks before are finished.
    void wait_for_all() const noexcept { order_.wait_for(task_, kFinished - 1); }

   private:
    BackwardOrder& order_;
    const Walk::Task task_;
  };

  bool is_last(const Walk::Task& task) const noexcept {
    return task.number == tasks_of(task.unit) - 1;
  }
  // Whether several threads may be at work for a unit.
  bool is_shared(std::int64_t unit) const noexcept { return tasks_of(unit) > 1; }

 private:
  static constexpr std::int32_t kFinished = std::numeric_limits<std::int32_t>::max();

  static std::size_t at(std::int64_t index) noexcept { return static_cast<std::size_t>(index); }
  std::int64_t tasks_of(std::int64_t unit) const noexcept {
    return first_[at(unit + 1)] - first_[at(unit)];
  }
  std::atomic<std::int32_t>* before(const Walk::Task& task) const noexcept;
  void wait_for(const Walk::Task& task, std::int64_t key) const noexcept;
  void set(const Walk::Task& task, std::int32_t value) noexcept;

  std::int64_t units_;
  bool one_chain_;
  std::unique_ptr<std::int64_t[]> first_;                  // of each unit, in all tasks
  std::unique_ptr<std::atomic<std::int64_t>[]> next_;      // of each unit, to be taken
  std::unique_ptr<std::atomic<std::int32_t>[]> progress_;  // of each task: keys below are done
  std::atomic<std::int64_t> unit_{0};                      // next that nobody has begun
};

}  // namespace sextant::detail
