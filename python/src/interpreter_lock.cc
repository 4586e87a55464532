// Looking at signals while the library computes.
#include "interpreter_lock.h"

#include <pthread.h>

namespace nb = nanobind;

namespace sextant::python {
namespace {

// Python's handlers run on its main thread alone: others need not ask for the lock.
enum class Role { unknown, main, other };
thread_local Role role = Role::unknown;

Role role_of_this_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  const nb::object main = threading.attr("main_thread")().attr("ident");
  return main.equal(threading.attr("get_ident")()) ? Role::main : Role::other;
}

}  // namespace

void check_signals() {
  if (role == Role::other) return;
  const Locked held;
  if (role == Role::unknown) {
    role = role_of_this_thread();
    // The thread that forks is the main one of the child.
    static const int once = pthread_atfork(nullptr, nullptr, [] { role = Role::unknown; });
    static_cast<void>(once);
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace sextant::python
