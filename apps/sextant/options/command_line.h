// The command-line library: the only place that includes it.
#pragma once

#include <CLI/CLI.hpp>
