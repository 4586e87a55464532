// Checks whether a folder has the requested settings.
#pragma once

#include <string>

#include "core/json/json.h"

namespace sextant {

// Throws Error(path, "must have the same schedule.peak to continue: ...") for the first value of
// `found` that differs from `wanted`. purpose: "to continue"; name: the name of `found`, empty for
// the whole file. A key that a file lacks has its default.
void check_same_json(const std::string& path, const std::string& purpose, const std::string& name,
                     const Json& found, const Json& wanted, const Json& defaults = {});

}  // namespace sextant
