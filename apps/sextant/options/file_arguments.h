// Files that a command line names, looked at together before the command begins.
#pragma once

#include "options/command_line.h"

namespace sextant::app {

// Throws Error when a file that `command` would write is one that it reads, whatever the two are
// called: by device and inode, so links of both kinds are seen through. Standard streams and the
// files of a model's or a training's folder count. The same for two results in one file.
void check_files(const CLI::App& command);

}  // namespace sextant::app
