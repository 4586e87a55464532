// Reads and writes run.json: the settings that the numbers of a run depend on.
#pragma once

#include <string>

#include "sextant/training/trainer.h"

namespace sextant {

// Throws Error("trainer.OPTION", ...) for values out of range.
void check_options(const TrainerOptions& options);

std::string describe_run(const TrainerOptions& options);
// Whether a text is a description of a run, of this format or another one.
bool is_description(const std::string& text) noexcept;
// Throws Error(path, ...) when a run that was described so cannot be resumed with these options.
void check_same_run(const std::string& path, const std::string& description,
                    const TrainerOptions& options);

}  // namespace sextant
