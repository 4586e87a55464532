// Options that several commands share: the text, the scheme with its parameters, the output file.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.h"
#include "sextant/schemes/scheme.h"
#include "sextant/schemes/sinusoidal.h"

namespace sextant::app {

// A text given as an argument, as "-" (stdin) or with --file.
struct TextInput {
  std::string text;
  std::string file;
  const CLI::Option* argument = nullptr;  // TEXT: given and empty is not the same as not given

  void add_to(CLI::App& command, const std::string& what);
  bool is_given() const { return argument->count() > 0 || !file.empty(); }
  // UTF-8 with at least one visible character. Throws Error otherwise, naming `where`; a command
  // line
  // without any text is a wrong one.
  std::string read(const std::string& where) const;
};

// How a text becomes tokens.
struct Splitting {
  std::string split = "words";
  bool lower = false;

  void add_to(CLI::App& command);
  std::vector<std::string> tokens(const std::string& text, const std::string& where) const;
};

// --scheme and whatever parameters the descriptors of the schemes name.
struct SchemeChoice {
  std::string scheme;
  std::map<std::string, std::string> parameters;

  // Every parameter of every scheme that passes `wanted` becomes an option; a name that the command
  // has already is prefixed by "scheme-".
  void add_to(CLI::App& command, const std::string& default_scheme,
              bool (*wanted)(const Scheme&) = nullptr);
  const Scheme& descriptor() const { return find_scheme(scheme); }
};

// The options of sinusoidal() for a choice of the scheme "sinusoidal", length and width left open.
// Throws Error for a name that the scheme does not have.
Sinusoidal sinusoidal_options(const SchemeChoice& choice);

// The command that makes a table again: "sextant encode --length 4 --width 4 --base 100".
std::string encode_command(const Sinusoidal& options, DType dtype);

// -o FILE, --format NAME, --json.
struct Output {
  std::string path;
  std::string format_name;
  bool json = false;

  void add_to(CLI::App& command, std::span<const Format> allowed, const std::string& meaning);
  // Where a result goes and how; nothing was asked for: none, and the command decides.
  std::optional<Format> format(std::span<const Format> allowed, const std::string& where) const;
  bool to_file() const { return !path.empty() && path != "-"; }
};

// Text, JSON or .npy bytes to the file of `output`, or to stdout. Throws Error instead of sending
// binary data to a terminal.
void write_result(const Output& output, Format format, std::string_view bytes);

}  // namespace sextant::app
