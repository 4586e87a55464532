// What charts draw as dicts of Python, and back from a pickle.
#pragma once

#include <nanobind/nanobind.h>

#include "sextant/pictures/chart_numbers.h"

namespace sextant::python {

// A dict per chart; its arrays are read-only views that keep the numbers alive.
nanobind::list chart_dicts(const PictureNumbers& charts);
// Throws TypeError and ValueError for what chart_dicts() does not give.
PictureNumbers charts_from(nanobind::handle dicts);

}  // namespace sextant::python
