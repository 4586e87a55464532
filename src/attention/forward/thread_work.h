// How calls distribute tasks over threads.
#pragma once

#include <cstdint>

#include "attention/call/arguments.h"
#include "core/threads/useful_threads.h"

namespace sextant::attention_detail {

// Multiply-adds that justify a second thread, some ten microseconds of each path.
inline constexpr double kThreadWork = 1 << 20;
inline constexpr double kDecodeThreadWork = 1 << 18;
inline constexpr std::int64_t kRowThreadWork = 1 << 14;

// Threads take short tasks in chunks, but at least this many chunks each: an atomic operation on
// the shared counter waits for earlier stores.
inline constexpr std::int64_t kMinChunks = 8;

// Tasks of a call, numbered by sequence: the place of tasks that are asked for in ascending order.
template <class CountOf>  // std::int64_t(const Sequence&): the tasks of a sequence
class TaskWalk {
 public:
  TaskWalk(const AttentionCall& call, CountOf count_of)
      : call_(call),
        count_of_(count_of),
        sequence_(call.sequence(0)),
        count_(count_of(sequence_)) {}

  struct Place {
    Sequence sequence;
    std::int64_t number;  // of the task in the sequence
  };
  Place find(std::int64_t task) {
    while (task >= begin_ + count_) {
      begin_ += count_;
      sequence_ = call_.sequence(++sequence_number_);
      count_ = count_of_(sequence_);
    }
    return {sequence_, task - begin_};
  }

 private:
  const AttentionCall& call_;
  CountOf count_of_;
  std::int64_t sequence_number_ = 0, begin_ = 0;
  Sequence sequence_;
  std::int64_t count_;
};

}  // namespace sextant::attention_detail
