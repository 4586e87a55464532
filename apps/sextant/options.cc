// Options that several commands share.
#include "options.h"

#include <algorithm>

#include "console.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/text/segment.h"

namespace sextant::app {
namespace {

constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30;

std::string option_name(std::string_view parameter) {
  std::string name(parameter);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string described(const SchemeParameter& parameter) {
  std::string text = std::string(parameter.meaning) + " (" + std::string(parameter.range);
  if (!parameter.default_text.empty()) text += "; default " + std::string(parameter.default_text);
  return text + ")";
}

// "rotary: ...\nsinusoidal: ...": one line per meaning.
std::string joined(const std::vector<std::pair<std::string, std::string>>& meanings) {
  std::string text;
  for (const auto& [meaning, schemes_of_it] : meanings) {
    text += (text.empty() ? "" : "\n") + schemes_of_it + ": " + meaning;
  }
  return text;
}

}  // namespace

void TextInput::add_to(CLI::App& command, const std::string& what) {
  argument = command.add_option("TEXT", text, what + "; - reads stdin");
  command.add_option("--file", file, "read the text from this file")->type_name("F");
}

std::string TextInput::read(const std::string& where) const {
  if (argument->count() > 0 && !file.empty()) {
    throw Error(where, "must be given as an argument or with --file, got both");
  }
  if (!is_given()) throw CLI::RequiredError("TEXT or --file");
  std::string source = where;
  std::string result;
  if (!file.empty() && file != "-") {
    source = file;
    result = read_file(file, kLongestText);
  } else if (text == "-" || file == "-") {
    source = "stdin";
    result = read_stdin(kLongestText);
  } else {
    result = text;
  }
  check_utf8(result, source);
  if (result.starts_with("\xEF\xBB\xBF")) result.erase(0, 3);  // a byte order mark is no text
  if (split_spaces(result).empty()) throw Error(source, "must hold some text, got none");
  return result;
}

void Splitting::add_to(CLI::App& command) {
  command
      .add_option("--split", split,
                  "words: Unicode words and punctuation marks; spaces: at white space only "
                  "(default words)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"words", "spaces"}));
  command.add_flag("--lower", lower, "lower-case the text first");
}

std::vector<std::string> Splitting::tokens(const std::string& text,
                                           const std::string& where) const {
  check_utf8(text, where);
  const std::string cased = lower ? lower_case(text) : text;
  auto tokens = split == "spaces" ? split_spaces(cased) : split_words(cased);
  if (tokens.empty()) throw Error(where, "must hold at least one word, got none");
  return tokens;
}

void SchemeChoice::add_to(CLI::App& command, const std::string& default_scheme,
                          bool (*wanted)(const Scheme&)) {
  scheme = default_scheme;
  std::string names;
  std::vector<std::string> order;
  // Of each name: what it means, and to which schemes, in their order.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> meanings;
  for (const Scheme* candidate : schemes()) {
    if (wanted != nullptr && !wanted(*candidate)) continue;
    names += (names.empty() ? "" : " | ") + std::string(candidate->name);
    for (const SchemeParameter& parameter : candidate->parameters) {
      const std::string name(parameter.name);
      if (!meanings.contains(name)) order.push_back(name);
      auto& known = meanings[name];
      const std::string meaning = described(parameter);
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const auto& entry) { return entry.first == meaning; });
      if (same == known.end()) {
        known.emplace_back(meaning, candidate->name);
      } else {
        same->second += ", " + std::string(candidate->name);
      }
    }
  }
  command.add_option("--scheme", scheme, names + " (default " + default_scheme + ")")
      ->type_name("NAME");
  for (const std::string& name : order) {
    const bool taken = command.get_option_no_throw("--" + option_name(name)) != nullptr;
    command
        .add_option_function<std::string>(
            "--" + std::string(taken ? "scheme-" : "") + option_name(name),
            [this, name](const std::string& value) { parameters[name] = value; },
            joined(meanings[name]))
        ->type_name("X")
        ->group("Parameters of the scheme");
  }
  command
      .add_flag_function(
          "--doubled-exponent",
          [this](std::int64_t) { parameters.try_emplace("exponent", "doubled"); },
          "the book chapter's slip: --exponent doubled, every wavelength exponent twice as large")
      ->group("Parameters of the scheme");
}

Sinusoidal sinusoidal_options(const SchemeChoice& choice) {
  Sinusoidal options;
  for (const auto& [name, value] : choice.parameters) {
    const std::string where = "sinusoidal." + name;
    if (name == "base") {
      options.base = parse_double(value, where);
    } else if (name == "layout") {
      options.layout = parse_name<SinusoidalLayout>(value, where);
    } else if (name == "ladder") {
      options.ladder = parse_name<Ladder>(value, where);
    } else if (name == "exponent") {
      options.exponent = parse_name<Exponent>(value, where);
    } else if (name == "odd_width") {
      if (value != "auto") options.odd_width = parse_name<OddWidth>(value, where);
    } else if (name == "scale") {
      options.scale = parse_double(value, where);
    } else if (name == "precision") {
      options.precision = parse_name<Precision>(value, where);
    } else {
      throw Error("sinusoidal", "has no parameter '" + name + "'");
    }
  }
  return options;
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
  std::string formats;
  std::vector<std::string> names;
  for (const Format format : allowed) {
    formats += (formats.empty() ? "" : " | ") + std::string(name_of(format));
    names.emplace_back(name_of(format));
  }
  command.add_option("-o,--output", path, meaning)->type_name("FILE");
  command.add_option("--format", format_name, formats + ": for stdout, or instead of the ending")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  if (std::find(allowed.begin(), allowed.end(), Format::json) != allowed.end()) {
    command.add_flag("--json", json, "the same as --format json");
  }
}

std::optional<Format> Output::format(std::span<const Format> allowed,
                                     const std::string& where) const {
  if (json && !format_name.empty() && format_name != "json") {
    throw Error(where + ".format", "must be json together with --json, got '" + format_name + "'");
  }
  if (json) return Format::json;
  if (!format_name.empty()) return parse_format(format_name, allowed, where + ".format");
  if (to_file()) return format_of_path(path, allowed, where + ".output");
  return std::nullopt;
}

void write_result(const Output& output, Format format, std::string_view bytes) {
  if (output.to_file()) return write_file(output.path, bytes);
  if ((format == Format::npy || format == Format::png) && stdout_is_terminal()) {
    throw Error("output", "must be a file or a pipe for " + std::string(name_of(format)) +
                              ", which is no text: add -o FILE." + std::string(name_of(format)));
  }
  print(bytes);
}

}  // namespace sextant::app
