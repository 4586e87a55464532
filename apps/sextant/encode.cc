// `sextant encode`: the table of a scheme, printed, saved or drawn.
#include <memory>
#include <numeric>

#include "commands.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "table_output.h"

namespace sextant::app {
namespace {

struct Encode {
  std::int64_t length = 0;
  std::int64_t width = 0;
  std::int64_t heads = 8;
  std::int64_t first = 0;
  std::string positions;
  std::string dtype = "float32";
  int threads = 0;
  SchemeChoice choice;
  Output output;
};

std::vector<std::int64_t> whole_positions(const Encode& encode) {
  if (encode.positions.empty()) {
    if (encode.length < 0) {
      throw Error("encode.length", "must be >= 0, got " + std::to_string(encode.length));
    }
    std::vector<std::int64_t> positions(static_cast<std::size_t>(encode.length));
    std::iota(positions.begin(), positions.end(), encode.first);
    return positions;
  }
  auto parsed = parse_positions(encode.positions, "encode.positions");
  if (auto* whole = std::get_if<std::vector<std::int64_t>>(&parsed)) return std::move(*whole);
  throw Error("encode.positions", "must be whole numbers for the scheme " + encode.choice.scheme +
                                      "; only sinusoidal positions can be real");
}

TableNames names_of(const Encode& encode, std::int64_t rows, std::int64_t columns) {
  TableNames names;
  names.title = encode.choice.scheme + " positions, " + std::to_string(rows) + " x " +
                std::to_string(columns);
  names.low = -1;
  names.high = 1;
  names.about["scheme"] = encode.choice.scheme;
  names.about["parameters"] = encode.choice.parameters;
  return names;
}

// Colour blocks for a person, csv for a program, unless a format was asked for.
template <class T>
void finish(View<const T> table, TableNames names, const Encode& encode) {
  if (const auto format = encode.output.format(kTableFormats, "encode")) {
    return write_table(table, names, encode.output, *format);
  }
  if (!stdout_is_terminal()) return write_table(table, names, encode.output, Format::csv);
  std::string text = names.title + ", " + encode.dtype + "\n";
  if (table.count() > 0) text += blocks_of(widen(table).view(), names);
  text += "numbers: --format text or csv; save: -o P.npy, .csv, .json, .svg, .png or .html\n";
  print(text);
}

// The exact table in its own type, any positions.
template <Floating T>
void encode_sinusoidal(const Encode& encode) {
  Sinusoidal options = sinusoidal_options(encode.choice);
  options.length = encode.length;
  options.width = encode.width;
  options.first = encode.first;
  options.threads = encode.threads;
  if (encode.positions.empty()) {
    const Tensor<T> table = sinusoidal<T>(options);
    TableNames names = names_of(encode, table.size(0), table.size(1));
    names.about["first"] = options.first;
    names.first_row = static_cast<double>(options.first);
    for (std::int64_t row = 0; row < table.size(0); ++row) {
      names.row_labels.push_back(std::to_string(options.first + row));
    }
    return finish<T>(table, std::move(names), encode);
  }
  const Positions positions = parse_positions(encode.positions, "encode.positions");
  const auto make = [&](const auto& ids) {
    const Tensor<T> table = sinusoidal<T>(options, std::span(ids));
    TableNames names = names_of(encode, table.size(0), table.size(1));
    names.about["positions"] = ids;
    names.row_name = "row";
    for (const auto id : ids) names.row_labels.push_back(shortest(static_cast<double>(id)));
    finish<T>(table, std::move(names), encode);
  };
  std::visit(make, positions);
}

// A rotation table as one: the cosines of all pairs, then their sines.
Tensor<double> side_by_side(const RotationTable<double>& rotation) {
  const std::int64_t pairs = rotation.cos.size(1);
  Tensor<double> table({rotation.cos.size(0), 2 * pairs});
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      table(row, pair) = rotation.cos(row, pair);
      table(row, pairs + pair) = rotation.sin(row, pair);
    }
  }
  return table;
}

// Whatever table any other scheme makes, made in float64 and rounded once to T.
template <Floating T>
void encode_scheme(const Encode& encode) {
  const Scheme& scheme = encode.choice.descriptor();
  const auto positions = whole_positions(encode);
  SchemeRequest request;
  request.width = encode.width;
  request.head_dim = encode.width;
  request.heads = encode.heads;
  request.positions = positions;
  request.parameters = encode.choice.parameters;
  SchemeTable made = scheme.make(request);

  Tensor<double> table;
  std::string column_name = "dimension";
  std::string row_name = "position";
  if (auto* added = std::get_if<Tensor<double>>(&made)) {
    table = std::move(*added);
  } else if (const auto* rotation = std::get_if<RotationTable<double>>(&made)) {
    table = side_by_side(*rotation);
    column_name = "cosine of each pair, then sine of each pair";
  } else if (const auto* bias = std::get_if<DistanceBias>(&made)) {
    table = widen(bias->values.view());
    row_name = "head";
    column_name = "distance + " + std::to_string(bias->origin);
  } else {
    throw Error("encode.scheme", "must be a scheme that has a table, got '" +
                                     std::string(scheme.name) + "', which adds nothing");
  }
  auto rounded = Tensor<T>::uninitialized(table.shape());
  for (std::int64_t i = 0; i < table.count(); ++i) {
    rounded.data()[i] = static_cast<T>(table.data()[i]);
  }
  TableNames names = names_of(encode, table.size(0), table.size(1));
  if (scheme.kind != SchemeKind::rotated) names.low = names.high = std::nullopt;
  names.column_name = column_name;
  names.row_name = row_name;
  if (row_name == "position") {
    for (const std::int64_t id : positions) names.row_labels.push_back(std::to_string(id));
    names.about["positions"] = positions;
  }
  finish<T>(rounded, std::move(names), encode);
}

template <Floating T>
void encode_as(const Encode& encode) {
  // The one scheme with a function of its own: four types, each rounded once, and real positions.
  if (encode.choice.scheme == "sinusoidal") return encode_sinusoidal<T>(encode);
  encode_scheme<T>(encode);
}

void run(const Encode& encode) {
  if (encode.dtype == "float64") return encode_as<double>(encode);
  if (encode.dtype == "bfloat16") return encode_as<bfloat16>(encode);
  if (encode.dtype == "float16") return encode_as<float16>(encode);
  encode_as<float>(encode);
}

}  // namespace

void add_encode(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "encode",
      "the table of a scheme: print, save or draw it\n"
      "Makes the table of a positional encoding, [positions, width]. Sinusoidal tables are exact: "
      "every value is the true one rounded once, at any position up to 2^31.");
  auto encode = std::make_shared<Encode>();
  auto* length =
      command.add_option("--length", encode->length, "rows: positions first, first + 1, ...")
          ->type_name("N");
  command.add_option("--width", encode->width, "columns (channels of a head for rotary)")
      ->type_name("N")
      ->required();
  auto* first = command
                    .add_option("--first", encode->first,
                                "position of the first row, -2^31 .. 2^31 (default 0)")
                    ->type_name("P");
  command
      .add_option("--positions", encode->positions,
                  "instead of --length: 0,5,1000000 or 0..100..10, or real values such as 10.5,20")
      ->type_name("LIST")
      ->excludes(length)
      ->excludes(first);
  command
      .add_option("--dtype", encode->dtype,
                  "float64 | float32 | bfloat16 | float16 (default float32)")
      ->type_name("T")
      ->check(CLI::IsMember({"float64", "float32", "bfloat16", "float16"}));
  command.add_option("--heads", encode->heads, "for schemes that are biases per head (default 8)")
      ->type_name("H");
  command.add_option("--threads", encode->threads, "0: all cores (default 0); never changes a bit")
      ->type_name("N");
  encode->output.add_to(command, kTableFormats,
                        "save as .npy .csv .json .svg .png or .html, by the ending");
  encode->choice.add_to(command, "sinusoidal");
  command.footer(
      "Examples:\n"
      "  sextant encode --length 4 --width 4 --base 100 --dtype float64 --format csv\n"
      "  sextant encode --length 100 --width 512 -o P.npy\n"
      "  sextant encode --positions 0,5,1000000 --width 8 --layout half_split --ladder d/2-1\n"
      "Without -o and --format: colour blocks in a terminal, csv in a pipe.");
  command.callback([encode, length] {
    if (length->count() == 0 && encode->positions.empty()) {
      throw CLI::RequiredError("--length or --positions");
    }
    run(*encode);
  });
}

}  // namespace sextant::app
