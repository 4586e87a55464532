// Reading and writing open streams, whoever opened them and however.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sextant::app {

// Both wait where a stream was opened, by whoever shares it, for calls that do not.

// 0, or the system's reason why not all of it could be written.
int write_stream(int descriptor, std::string_view text) noexcept;
// The next bytes of stdin; 0 at the end. Throws Error when it cannot be read.
std::size_t read_some_stdin(std::span<char> buffer);

}  // namespace sextant::app
