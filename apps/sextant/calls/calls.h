// Writes the calls of commands in Python and C++. They read no file except for their text.
#pragma once

#include "attention/attend_command.h"
#include "attention/attention_command.h"
#include "calls/printed_call.h"
#include "positions/encode_command.h"
#include "positions/plot_command.h"

namespace sextant::app {

PrintedCall call_of(const Encode& encode);
PrintedCall call_of(const Attend& attend, const std::vector<std::string>& first,
                    const std::vector<std::string>& second);
PrintedCall call_of(const AttentionCommand& attention);
PrintedCall call_of(const PlotOptions& plot, std::string_view function,
                    const std::vector<std::string>& words);
// Returns the call of `sextant compare`.
PrintedCall call_of(const SentenceAttentionOptions& options, const std::vector<std::string>& first,
                    const std::vector<std::string>& second);

}  // namespace sextant::app
