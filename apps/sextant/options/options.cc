// Options that several commands share.
#include "options/options.h"

#include <algorithm>
#include <cmath>

#include "lessons/sentence_fields.h"
#include "options/choices.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"
#include "sextant/core/printable.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/text/segment.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

std::string checked(std::string text, const std::string& source, std::uint64_t longest) {
  if (text.size() > longest) {
    throw Error(source, "must be at most " + std::to_string(longest) + " bytes long, got " +
                            std::to_string(text.size()));
  }
  check_utf8(text, source);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark is no text
  if (split_spaces(text).empty()) throw Error(source, "must hold some text, got none");
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace

CLI::Validator one_of(const std::string& where, const std::vector<std::string>& names) {
  const CLI::Validator check(
      [where, names](const std::string& value) {
        find_name(std::vector<std::string_view>(names.begin(), names.end()), value, where);
        return std::string();
      },
      "");
  return named(check, {names.begin(), names.end()});
}

void add_threads(CLI::App& command, int& threads) {
  add_integer(command, "--threads", threads, 0, kMaxThreads,
              "0 .. " + std::to_string(kMaxThreads) +
                  "; 0: all cores (default 0); results have the same bits for any number");
}

std::string read_text(const std::string& text, const std::string& where, std::uint64_t longest) {
  return text == "-" ? checked(read_stdin(longest), "stdin", longest)
                     : checked(text, where, longest);
}

void TextInput::add_to(CLI::App& command, const std::string& what) {
  argument = text_or_stdin(command.add_option("TEXT", text, what + "; - reads stdin"));
  input_file(command.add_option("--file", file, "read the text from this file"), "F");
}

void TextInput::check(const std::string& where, bool required) const {
  if (argument->count() > 0 && !file.empty()) {
    throw Error(where, "must be given as an argument or with --file, got both");
  }
  if (required && !is_given()) throw CLI::RequiredError("TEXT or --file");
}

std::string TextInput::read(const std::string& where, std::uint64_t longest) const {
  if (file.empty() || file == "-") return read_text(is_stdin() ? "-" : text, where, longest);
  return checked(read_file(file, longest), file, longest);
}

void Splitting::add_to(CLI::App& command) {
  command
      .add_option("--split", split,
                  "words: Unicode words and punctuation marks; spaces: at white space only "
                  "(default words)")
      ->type_name("HOW")
      ->check(one_of(command.get_name() + ".split", {"words", "spaces"}));
  command.add_flag("--lower-case", lower_case, "lower-case the text first");
}

std::vector<std::string> Splitting::tokens(const std::string& text,
                                           const std::string& where) const {
  return figures::tokens_to_draw(text, {.at_spaces = split == "spaces", .lower_case = lower_case},
                                 where);
}

void add_model(CLI::App& command, SentenceAttentionOptions& options) {
  add_fields(
      command, options, "",
      only<SentenceAttentionOptions>({{.field = "heads"}, {.field = "width"}, {.field = "seed"}}));
}

std::string encode_command(const Sinusoidal& options, DType dtype) {
  const Sinusoidal standard;
  std::string command = "sextant encode --length " + std::to_string(options.length) + " --width " +
                        std::to_string(options.width);
  const auto add = [&](bool differs, std::string_view name, std::string_view value) {
    if (differs) command += " --" + std::string(name) + " " + std::string(value);
  };
  add(options.base != standard.base, "base", shortest(options.base));
  add(options.first != standard.first, "first", std::to_string(options.first));
  add(options.layout != standard.layout, "layout", name_of(options.layout));
  add(options.ladder != standard.ladder, "ladder", name_of(options.ladder));
  add(options.exponent != standard.exponent, "exponent", name_of(options.exponent));
  if (options.odd_width && options.width % 2 == 1) {
    add(true, "odd-width", name_of(*options.odd_width));
  }
  add(options.scale != standard.scale, "scale", shortest(options.scale));
  add(options.precision != standard.precision, "precision", name_of(options.precision));
  add(dtype != DType::float32, "dtype", dtype_name(dtype));
  return command;
}

void Output::add_to(CLI::App& command, std::span<const Format> allowed,
                    const std::string& meaning) {
  output_file(command.add_option("-o,--output", path, meaning));
  add_formats(command, allowed);
  if (std::ranges::find(allowed, Format::svg) == allowed.end()) return;
  add_integer(command, "--max-width", max_width, 280, 4000,
              "largest width of the picture in pixels; 350 suits a phone");
}

void Output::add_formats(CLI::App& command, std::span<const Format> allowed) {
  std::string formats;
  std::vector<std::string> names;
  for (const Format format : allowed) {
    formats += (formats.empty() ? "" : " | ") + std::string(name_of(format));
    names.emplace_back(name_of(format));
  }
  command
      .add_option("--format", format_name, formats + ": for stdout, or to override the extension")
      ->type_name("NAME")
      ->check(one_of(command.get_name() + ".format", names));
  if (std::find(allowed.begin(), allowed.end(), Format::json) != allowed.end()) {
    command.add_flag("--json", json, "the same as --format json");
  }
}

std::optional<Format> Output::format(std::span<const Format> allowed,
                                     const std::string& where) const {
  const std::optional<Format> asked = asked_format(allowed, where);
  if (max_width && !(asked && is_picture(*asked))) {
    throw Error(where + ".max-width", "must be given with svg, png, pdf or html, got it " +
                                          (asked ? "with " + std::string(name_of(*asked))
                                                 : std::string("without -o and --format")));
  }
  return asked;
}

std::optional<Format> Output::asked_format(std::span<const Format> allowed,
                                           const std::string& where) const {
  if (json && !format_name.empty() && format_name != "json") {
    throw Error(where + ".format",
                "must be json together with --json, got " + printable_quote(format_name));
  }
  if (json) {
    for (const Format other : allowed) {
      const std::string ending = "." + std::string(name_of(other));
      if (other == Format::json || other == Format::text || !path.ends_with(ending)) continue;
      throw Error(where + ".format", "must be " + ending + " or json, got --json and " + path);
    }
    return Format::json;
  }
  if (!format_name.empty()) return parse_format(format_name, allowed, where + ".format");
  if (to_file()) return format_of_path(path, allowed, where + ".output");
  return std::nullopt;
}

void write_result(const Output& output, Format format, std::string_view bytes) {
  if (output.to_file()) return write_file(output.path, bytes);
  if ((format == Format::npy || format == Format::png || format == Format::pdf) &&
      stdout_is_terminal()) {
    throw Error("output", "must be a file or a pipe for " + std::string(name_of(format)) +
                              ", which is not text: add -o FILE." + std::string(name_of(format)));
  }
  print(bytes);
}

}  // namespace sextant::app
