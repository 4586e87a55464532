// Values of options between Python and the texts that the library's lists of options read.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "arguments.h"
#include "sextant/core/options.h"

namespace sextant::python {

// Returns "yes" for True, "8" for 8.0, "1,2" for [1, 2], "auto" for None if the option allows it.
// Throws TypeError for a value of another kind; the scheme checks ranges.
std::string text_of(const Option& option, const Argument& argument);

// The default as Python's value: None where it is the word for "not given". Not for options that
// must be given.
nb::object default_of(const Option& option);

// Describes a range for help() and type annotations: {"type": "integer", "text": "0 .. 8"}.
nb::dict range_of(const OptionRange& range);

// All of an option: its range, "name", "required", "default", "unset", "meaning", "allowed".
nb::dict described(const Option& option);

}  // namespace sextant::python
