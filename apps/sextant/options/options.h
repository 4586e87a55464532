// Options that several commands share: the text, the scheme with its parameters, the output file.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/command_line.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app {

inline constexpr std::int64_t kMaxSize = 1 << 20;  // of a model, a batch or a length

// An option that takes a whole number in [least, most]; its Error names the command and the option.
template <class T>
CLI::Option* add_integer(CLI::App& command, const std::string& name, T& value, std::int64_t least,
                         std::int64_t most, const std::string& meaning) {
  const std::string where = command.get_name() + "." + name.substr(name.find_first_not_of('-'));
  return command
      .add_option_function<std::string>(
          name,
          [&value, where, least, most](const std::string& text) {
            value = static_cast<T>(parse_integer(text, where, least, most));
          },
          meaning)
      ->type_name("N");
}
// A check of an option that takes one of these names; its Error names `where`, "attend.part".
CLI::Validator one_of(const std::string& where, const std::vector<std::string>& names);
// --threads, of commands whose results do not depend on it.
void add_threads(CLI::App& command, int& threads);
inline constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kFarthestPosition = std::int64_t{1}
                                                  << 53;  // position that a table can have
inline constexpr std::int64_t kMaxSeed = (std::int64_t{1} << 32) - 1;

// Bytes of a text that is read as a whole, and of one whose every token is drawn.
inline constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kLongestShownText = std::uint64_t{1} << 20;

// `text`, or all of stdin for "-": UTF-8 with at least one visible character, without a byte order
// mark and without line breaks at its end. Throws Error otherwise, and for more than `longest`
// bytes, naming `where` or stdin.
std::string read_text(const std::string& text, const std::string& where,
                      std::uint64_t longest = kLongestText);

// A text given as an argument, as "-" (stdin) or with --file.
struct TextInput {
  std::string text;
  std::string file;
  const CLI::Option* argument = nullptr;  // TEXT: given and empty is not the same as not given

  void add_to(CLI::App& command, const std::string& what);
  bool is_given() const { return argument->count() > 0 || !file.empty(); }
  bool is_stdin() const { return text == "-" || file == "-"; }
  // Throws Error when it is given twice, and CLI::RequiredError when it is needed and not given.
  void check(const std::string& where, bool required = true) const;
  // As read_text.
  std::string read(const std::string& where, std::uint64_t longest = kLongestText) const;
};

// How a text becomes tokens, of which every one is drawn, or looks at every other.
struct Splitting {
  std::string split = "words";
  bool lower_case = false;

  void add_to(CLI::App& command);
  // Throws Error as figures::tokens_to_draw().
  std::vector<std::string> tokens(const std::string& text, const std::string& where) const;
};

// --heads, --width and --seed of the small model that attends to sentences.
void add_model(CLI::App& command, SentenceAttentionOptions& options);

// The command that makes a table again: "sextant encode --length 4 --width 4 --base 100".
std::string encode_command(const Sinusoidal& options, DType dtype);

// -o FILE, --format NAME, --json.
struct Output {
  std::string path;
  std::string format_name;
  bool json = false;
  std::optional<double> max_width;  // of pictures, in CSS pixels

  // Adds --output, --format, --json, and --max-width for pictures.
  void add_to(CLI::App& command, std::span<const Format> allowed, const std::string& meaning);
  // Adds only --format and --json, for output that always goes to stdout.
  void add_formats(CLI::App& command, std::span<const Format> allowed);
  // Returns the format of a result and its place; if nothing was given, the command decides. Throws
  // Error for an ending that is none of `allowed`, and for two different requests.
  std::optional<Format> format(std::span<const Format> allowed, const std::string& where) const;
  bool to_file() const { return !path.empty() && path != "-"; }

 private:
  std::optional<Format> asked_format(std::span<const Format> allowed,
                                     const std::string& where) const;
};

// Text, JSON or .npy bytes to the file of `output`, or to stdout. Throws Error instead of sending
// binary data to a terminal.
void write_result(const Output& output, Format format, std::string_view bytes);

}  // namespace sextant::app
