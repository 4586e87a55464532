// Options that several commands share: the text, the scheme with its parameters, the output file.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.h"
#include "sextant/layers/sentence_attention.h"
#include "sextant/schemes/scheme.h"
#include "sextant/schemes/sinusoidal.h"

namespace sextant::app {

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
inline constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kFarthestPosition = std::int64_t{1}
                                                  << 53;  // position that a table can have
inline constexpr std::int64_t kMostSeed = (std::int64_t{1} << 32) - 1;

// `text`, or all of stdin for "-": UTF-8 with at least one visible character, without a byte order
// mark and without line breaks at its end. Throws Error otherwise, naming `where` or stdin.
std::string read_text(const std::string& text, const std::string& where);

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
  std::string read(const std::string& where) const;
};

// How a text becomes tokens.
struct Splitting {
  std::string split = "words";
  bool lower = false;

  void add_to(CLI::App& command);
  std::vector<std::string> tokens(const std::string& text, const std::string& where) const;
};

// The option of a scheme's parameter: "--odd-width", "--scheme-file".
std::string option_name(std::string_view parameter);

// --heads, --width and --seed of the small model that attends to sentences.
void add_model(CLI::App& command, SentenceAttentionOptions& options);

// --scheme and whatever parameters the descriptors of the schemes name.
struct SchemeChoice {
  std::string scheme;
  std::map<std::string, std::string> parameters;

  // Every parameter of every scheme that passes `wanted` becomes an option; "--scheme-file" is
  // "--file" too where the command has no text to read from one.
  void add_to(CLI::App& command, const std::string& default_scheme,
              bool (*wanted)(const Scheme&) = nullptr);
  // Throws Error for a scheme that the command does not take, for a parameter that the scheme does
  // not have, and for a value that does not read as its descriptor says.
  void check() const;
  bool is_given() const { return option_->count() > 0 || !parameters.empty(); }
  const Scheme& descriptor() const { return find_scheme(scheme); }
  // The one with functions of its own: every type rounded once, real-valued positions.
  bool is_sinusoidal() const { return scheme == "sinusoidal"; }
  std::string title() const;  // "rotary positions", "no positions"

 private:
  const CLI::Option* option_ = nullptr;
  std::string where_;                // "plot.scheme"
  std::vector<std::string> wanted_;  // names
};

// The command that makes a table again: "sextant encode --length 4 --width 4 --base 100".
std::string encode_command(const Sinusoidal& options, DType dtype);

// -o FILE, --format NAME, --json.
struct Output {
  std::string path;
  std::string format_name;
  bool json = false;

  void add_to(CLI::App& command, std::span<const Format> allowed, const std::string& meaning);
  // Where a result goes and how; nothing was asked for: none, and the command decides. Throws Error
  // for an ending that stands for none of `allowed`, and for two wishes at once.
  std::optional<Format> format(std::span<const Format> allowed, const std::string& where) const;
  bool to_file() const { return !path.empty() && path != "-"; }
};

// Text, JSON or .npy bytes to the file of `output`, or to stdout. Throws Error instead of sending
// binary data to a terminal.
void write_result(const Output& output, Format format, std::string_view bytes);

}  // namespace sextant::app
