// Options that several commands share.
#include "options.h"

#include <algorithm>
#include <cmath>

#include "console.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/text/segment.h"

namespace sextant::app {
namespace {

constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30;

std::string described(const SchemeParameter& parameter) {
  std::string text = std::string(parameter.meaning) + " (" + std::string(parameter.range);
  if (!parameter.default_text.empty()) text += "; default " + std::string(parameter.default_text);
  return text + ")";
}

// "rotary: ...\nsinusoidal: ...": one line per meaning.
std::string lines_of(const std::vector<std::pair<std::string, std::string>>& meanings) {
  std::string text;
  for (const auto& [meaning, schemes_of_it] : meanings) {
    text += (text.empty() ? "" : "\n") + schemes_of_it + ": " + meaning;
  }
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string checked(std::string text, const std::string& source) {
  check_utf8(text, source);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark is no text
  if (split_spaces(text).empty()) throw Error(source, "must hold some text, got none");
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

std::vector<std::string> split_bars(std::string_view range) {
  constexpr std::string_view kBar = " | ";
  std::vector<std::string> names;
  while (true) {
    const auto bar = range.find(kBar);
    names.emplace_back(range.substr(0, bar));
    if (bar == std::string_view::npos) return names;
    range.remove_prefix(bar + kBar.size());
  }
}

// What a range says of the text alone: one of its names, a whole number, a real one. Bounds that
// depend on sizes are the scheme's own matter.
void check_value(const SchemeParameter& parameter, const std::string& value,
                 const std::string& where) {
  const std::string_view range = parameter.range;
  if (range.find(" | ") != std::string_view::npos) {
    const auto names = split_bars(range);
    if (std::find(names.begin(), names.end(), value) != names.end()) return;
    throw Error(where, "must be one of " + joined(names) + ", got '" + value + "'");
  }
  if (range.find("..") != std::string_view::npos) {
    parse_integer(value, where, -kMostInteger, kMostInteger);
  } else if (range == "finite" || range.starts_with(">")) {
    const double number = parse_double(value, where);
    if (std::isfinite(number) && (range != "> 0" || number > 0)) return;
    throw Error(where, "must be " + std::string(range) + (range == "finite" ? "" : " and finite") +
                           ", got " + value);
  }
}

}  // namespace

std::string option_name(std::string_view parameter) {
  std::string name(parameter == "file" ? "scheme-file" : parameter);  // --file is a text's
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string read_text(const std::string& text, const std::string& where) {
  return text == "-" ? checked(read_stdin(kLongestText), "stdin") : checked(text, where);
}

void TextInput::add_to(CLI::App& command, const std::string& what) {
  argument = command.add_option("TEXT", text, what + "; - reads stdin");
  command.add_option("--file", file, "read the text from this file")->type_name("F");
}

void TextInput::check(const std::string& where, bool required) const {
  if (argument->count() > 0 && !file.empty()) {
    throw Error(where, "must be given as an argument or with --file, got both");
  }
  if (required && !is_given()) throw CLI::RequiredError("TEXT or --file");
}

std::string TextInput::read(const std::string& where) const {
  if (file.empty() || file == "-") return read_text(is_stdin() ? "-" : text, where);
  return checked(read_file(file, kLongestText), file);
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

void add_model(CLI::App& command, SentenceAttentionOptions& options) {
  add_integer(command, "--heads", options.heads, 1, kMostInteger, "how many heads (default 4)");
  add_integer(command, "--width", options.width, 1, kMostInteger,
              "of the model, a multiple of the heads (default 64)");
  add_integer(command, "--seed", options.seed, 0, kMostSeed,
              "of the weights, 0 .. 2^32 - 1 (default 7)");
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
    wanted_.emplace_back(candidate->name);
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
  where_ = command.get_name() + ".scheme";
  option_ = command.add_option("--scheme", scheme, names + " (default " + default_scheme + ")")
                ->type_name("NAME");
  for (const std::string& name : order) {
    std::string option = option_name(name);
    if (command.get_option_no_throw(option) != nullptr) option = "--scheme-" + option.substr(2);
    if (name == "file" && command.get_option_no_throw("--file") == nullptr) option += ",--file";
    command
        .add_option_function<std::string>(
            option, [this, name](const std::string& value) { parameters[name] = value; },
            lines_of(meanings[name]))
        ->type_name("X")
        ->group("Parameters of the scheme");
  }
  command
      .add_flag_function(
          "--doubled-exponent", [this](std::int64_t) { parameters["exponent"] = "doubled"; },
          "the book chapter's slip: --exponent doubled, every wavelength exponent twice as large")
      ->excludes(command.get_option("--exponent"))
      ->group("Parameters of the scheme");
}

void SchemeChoice::check() const {
  if (std::find(wanted_.begin(), wanted_.end(), scheme) == wanted_.end()) {
    throw Error(where_, "must be one of " + joined(wanted_) + ", got '" + scheme + "'");
  }
  std::vector<std::string> known;
  for (const SchemeParameter& parameter : descriptor().parameters) {
    known.push_back(option_name(parameter.name));
    const auto given = parameters.find(std::string(parameter.name));
    if (given != parameters.end()) {
      check_value(parameter, given->second, scheme + "." + std::string(parameter.name));
    } else if (parameter.default_text.empty()) {
      throw Error(scheme + "." + std::string(parameter.name),
                  "must be given with " + known.back() + ": " + std::string(parameter.meaning));
    }
  }
  for (const auto& [name, value] : parameters) {
    const std::string option = option_name(name);
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    throw Error(where_, scheme + " has " + (known.empty() ? "no parameters" : joined(known)) +
                            ", got " + option);
  }
}

std::string SchemeChoice::title() const {
  return descriptor().kind == SchemeKind::none ? "no positions" : scheme + " positions";
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
  if ((format == Format::npy || format == Format::png) && stdout_is_terminal()) {
    throw Error("output", "must be a file or a pipe for " + std::string(name_of(format)) +
                              ", which is no text: add -o FILE." + std::string(name_of(format)));
  }
  print(bytes);
}

}  // namespace sextant::app
