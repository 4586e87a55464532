// Runs Python's signal handlers and a callback after each step of a training.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "interpreter_lock.h"
#include "models/models.h"
#include "sextant/training/metrics.h"

namespace sextant::python {

// An exception that is kept until the run is saved.
class KeptError {
 public:
  bool has_value() const noexcept { return error_.is_valid(); }
  const nb::object& object() const noexcept { return error_; }

  // Calls f() under the interpreter's lock; false where it raised, which is kept.
  template <class F>
  bool run(const F& f) {
    const Locked held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      f();
      return true;
    } catch (nb::python_error& error) {
      error_ = nb::borrow(error.value());
      if (error.traceback().is_valid()) {
        PyException_SetTraceback(error_.ptr(), error.traceback().ptr());
      }
      return false;
    }
  }

 private:
  nb::object error_;
};

// Returns whether a callback stops: False, or NumPy's, which a comparison of its numbers returns.
// None and everything else continue.
inline bool is_false(nb::handle returned) { return bool_of(returned) == false; }

// Calls on_step(metrics), if it is there: true where the training is to stop, as it returned False
// or raised.
class StepWatch {
 public:
  explicit StepWatch(nb::handle on_step) : on_step_(nb::borrow(on_step)) {}

  template <class... Arguments>
  bool stops(const Arguments&... arguments) {
    bool stop = false;
    const bool fine = error_.run([&] {
      if (!on_step_.is_none()) stop = is_false(on_step_(nb::cast(arguments)...));
    });
    return stop || !fine;
  }
  nb::object error() const { return error_.has_value() ? error_.object() : nb::none(); }

 private:
  nb::object on_step_;
  KeptError error_;
};

// "rotary", or a list of names with their parameters [("rotary", {"base": 500000.0})].
SchemeSpecs read_positions(const Argument& argument);
// A list of tuples: numbers of layers, and a list as for read_positions().
std::vector<LayerSchemes> read_layers(const Argument& argument);

}  // namespace sextant::python
