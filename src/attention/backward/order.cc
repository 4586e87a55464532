// Assigning tasks to threads, and waiting for the tasks before.
#include "attention/backward/order.h"

#include <algorithm>

namespace sextant::attention_detail {

bool BackwardOrder::TaskCursor::take_from(std::int64_t slice, Task& task) noexcept {
  const std::int64_t count = order_.tasks_of(slice);
  auto& counter = order_.next_[at(slice)];
  if (counter.load(std::memory_order_relaxed) >= count) return false;
  const std::int64_t number = counter.fetch_add(1, std::memory_order_relaxed);
  task = {slice, number};
  return number < count;
}

bool BackwardOrder::TaskCursor::next(Task& task) noexcept {
  if (order_.one_chain_) {
    // All slices in order, a slice's tasks before the next one's.
    for (; slice_ < order_.slices_; ++slice_) {
      if (take_from(slice_, task)) return true;
    }
    return false;
  }
  while (!stealing_) {
    for (; slice_ < end_; ++slice_) {
      if (take_from(slice_, task)) return true;
    }
    slice_ = order_.slice_.fetch_add(chunk_, std::memory_order_relaxed);
    end_ = std::min(slice_ + chunk_, order_.slices_);
    if (slice_ >= order_.slices_) {
      stealing_ = true;
      slice_ = 0;
    }
  }
  for (; slice_ < order_.slices_; ++slice_) {
    if (take_from(slice_, task)) return true;
  }
  return false;
}

std::atomic<std::int32_t>* BackwardOrder::before(const TaskCursor::Task& task) const noexcept {
  const std::int64_t number = first_[at(task.slice)] + task.number;
  if (task.number == 0 && !(one_chain_ && number > 0)) return nullptr;
  return &progress_[at(number - 1)];
}

void BackwardOrder::set(const TaskCursor::Task& task, std::int32_t value) noexcept {
  if (is_last(task) && !one_chain_) return;  // no task comes after it
  auto& progress = progress_[at(first_[at(task.slice)] + task.number)];
  // Sequentially consistent, not just a release: notify_all() of libstdc++ 12 loads the number of
  // waiters and wakes nobody if it is zero, and that load must not come before this store is seen.
  progress.store(value, std::memory_order_seq_cst);
  progress.notify_all();
}

void BackwardOrder::wait_for(const TaskCursor::Task& task, std::int64_t key) const noexcept {
  const auto* progress = before(task);
  if (progress == nullptr) return;
  for (std::int32_t seen; (seen = progress->load(std::memory_order_acquire)) <= key;) {
    progress->wait(seen, std::memory_order_acquire);
  }
}

BackwardOrder::TurnGuard::~TurnGuard() {
  wait_for_all();
  order_.set(task_, kFinished);
}

}  // namespace sextant::attention_detail
