// The lock of an object that several threads of Python may use at once and that calls change.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "interpreter_lock.h"
#include "sextant/core/error.h"

namespace sextant::python {

// No Python code runs under this lock, except signal handlers. If one of these uses the object that
// its own thread computes with, it would wait for itself: this is an Error.
class ObjectLock {
 public:
  explicit ObjectLock(std::string_view name) : name_(name) {}
  // For a copy of the object: nobody has that one yet.
  ObjectLock(ObjectLock&& other) noexcept : name_(other.name_) {}

  // f() while no other thread changes the object, or while none uses it, without the interpreter's
  // lock. The object's lock is let go first: who waits for the interpreter's keeps nobody up.
  template <class F>
  auto read(const F& f) const {
    return with<std::shared_lock<std::shared_mutex>>(f);
  }
  template <class F>
  auto change(const F& f) const {
    return with<std::unique_lock<std::shared_mutex>>(f);
  }

 private:
  // The locks that a thread is inside of, the last one first.
  class Inside {
   public:
    explicit Inside(const ObjectLock& lock) : lock_(lock), outer_(top_) {
      for (const Inside* each = outer_; each != nullptr; each = each->outer_) {
        if (&each->lock_ != &lock) continue;
        throw Error(lock.name_, "must not be used by a signal handler during its own call");
      }
      top_ = this;
    }
    ~Inside() { top_ = outer_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    static inline thread_local const Inside* top_ = nullptr;
    const ObjectLock& lock_;
    const Inside* outer_;
  };

  template <class Lock, class F>
  auto with(const F& f) const {
    const Unlocked released;
    const Inside inside(*this);
    const Lock lock(mutex_);
    return f();
  }

  std::string_view name_;
  mutable std::shared_mutex mutex_;
};

}  // namespace sextant::python
