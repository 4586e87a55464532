// `sextant encode`: the table of a scheme, printed, saved or drawn.
#include <memory>
#include <numeric>
#include <optional>

#include "commands.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "table_output.h"

namespace sextant::app {
namespace {

struct Encode {
  std::optional<std::int64_t> length;
  std::int64_t width = 0;
  std::int64_t heads = 8;
  std::int64_t first = 0;
  std::optional<Positions> positions;
  std::string dtype = "float32";
  int threads = 0;
  SchemeChoice choice;
  Output output;
};

// Of schemes that are asked for a list: 2^24 ids as for --positions, and as many as their tables
// can be drawn or saved from.
std::vector<std::int64_t> whole_positions(const Encode& encode) {
  if (encode.length) {
    constexpr std::int64_t kMost = std::int64_t{1} << 28;
    if (*encode.length > kMost) {
      throw Error("encode.length", "must be at most 2^28 for the scheme " + encode.choice.scheme +
                                       ", got " + std::to_string(*encode.length));
    }
    std::vector<std::int64_t> positions(static_cast<std::size_t>(*encode.length));
    std::iota(positions.begin(), positions.end(), encode.first);
    return positions;
  }
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&*encode.positions)) return *whole;
  throw Error("encode.positions", "must be whole numbers for the scheme " + encode.choice.scheme +
                                      "; only sinusoidal positions can be real");
}

TableNames names_of(const Encode& encode, std::int64_t rows, std::int64_t columns) {
  TableNames names;
  names.title = capital(encode.choice.title()) + ", " + std::to_string(rows) + " x " +
                std::to_string(columns);
  names.low = -1;
  names.high = 1;
  names.about["scheme"] = encode.choice.scheme;
  names.about["parameters"] = encode.choice.parameters;
  return names;
}

// The ids of the rows beside each, and in JSON; `ids` has to outlive `names`.
template <class T>
void name_rows(const Encode& encode, const std::vector<T>& ids, TableNames& names) {
  names.row_label = [&ids](std::int64_t row) {
    return shortest(static_cast<double>(ids[static_cast<std::size_t>(row)]));
  };
  if (encode.output.format(kTableFormats, "encode") == Format::json) names.about["positions"] = ids;
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
  Sinusoidal options = sinusoidal_from(encode.choice.parameters);
  options.length = encode.length.value_or(0);
  options.width = encode.width;
  options.first = encode.first;
  options.threads = encode.threads;
  if (encode.length) {
    const Tensor<T> table = sinusoidal<T>(options);
    TableNames names = names_of(encode, table.size(0), table.size(1));
    names.about["first"] = options.first;
    names.first_row = options.first;
    return finish<T>(table, std::move(names), encode);
  }
  const auto make = [&](const auto& ids) {
    const Tensor<T> table = sinusoidal<T>(options, std::span(ids));
    TableNames names = names_of(encode, table.size(0), table.size(1));
    names.row_name = "Row";
    name_rows(encode, ids, names);
    finish<T>(table, std::move(names), encode);
  };
  std::visit(make, *encode.positions);
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

// Whatever table any other scheme makes: in float64, and that rounded to T.
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
  std::string column_name = "Dimension";
  std::string row_name = "Position";
  if (auto* added = std::get_if<Tensor<double>>(&made)) {
    table = std::move(*added);
  } else if (const auto* rotation = std::get_if<RotationTable<double>>(&made)) {
    table = side_by_side(*rotation);
    column_name = "Cosine of each pair, then sine of each pair";
  } else if (const auto* bias = std::get_if<DistanceBias>(&made)) {
    table = widen(bias->values.view());
    row_name = "Head";
    column_name = "Distance + " + std::to_string(bias->origin);
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
  if (scheme.kind != SchemeKind::distance_bias) name_rows(encode, positions, names);
  finish<T>(rounded, std::move(names), encode);
}

template <Floating T>
void encode_as(const Encode& encode) {
  // The one scheme with a function of its own: four types, each rounded once, and real positions.
  if (encode.choice.is_sinusoidal()) return encode_sinusoidal<T>(encode);
  encode_scheme<T>(encode);
}

void run(const Encode& encode) {
  if (encode.dtype == "float64") return encode_as<double>(encode);
  if (encode.dtype == "bfloat16") return encode_as<bfloat16>(encode);
  if (encode.dtype == "float16") return encode_as<float16>(encode);
  encode_as<float>(encode);
}

}  // namespace

void add_encode(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "encode",
      "the table of a scheme: print, save or draw it\n"
      "Makes the table of a positional encoding, [positions, width]. Sinusoidal tables are exact: "
      "every value is the true one rounded once, within 0.5001 units in the last place (float64: "
      "0.51), at any position up to 2^53.");
  auto encode = std::make_shared<Encode>();
  auto* length = add_integer(command, "--length", encode->length, 0, kMostInteger,
                             "rows: positions first, first + 1, ...");
  add_integer(command, "--width", encode->width, 1, kMostInteger,
              "columns (channels of a head for rotary)")
      ->required();
  auto* first =
      add_integer(command, "--first", encode->first, -kFarthestPosition, kFarthestPosition,
                  "position of the first row, -2^53 .. 2^53 (default 0)");
  command
      .add_option_function<std::string>(
          "--positions",
          [encode = encode.get()](const std::string& list) {
            encode->positions = parse_positions(list, "encode.positions");
          },
          "instead of --length: 0,5,1000000 or 0..100..10, or real values such as 10.5,20")
      ->type_name("LIST")
      ->excludes(length)
      ->excludes(first);
  command
      .add_option("--dtype", encode->dtype,
                  "float64 | float32 | bfloat16 | float16 (default float32)")
      ->type_name("T")
      ->check(CLI::IsMember({"float64", "float32", "bfloat16", "float16"}));
  constexpr std::int64_t kMostHeads = 1 << 20;
  constexpr std::int64_t kMostThreads = 1 << 16;
  add_integer(command, "--heads", encode->heads, 1, kMostHeads,
              "for schemes that are biases per head (default 8)");
  add_integer(command, "--threads", encode->threads, 0, kMostThreads,
              "0: all cores (default 0); never changes a bit");
  encode->output.add_to(command, kTableFormats,
                        "save as .npy .csv .json .svg .png or .html, by the ending");
  encode->choice.add_to(command, "sinusoidal");
  command.footer(
      "Examples:\n"
      "  sextant encode --length 4 --width 4 --base 100 --dtype float64 --format csv\n"
      "  sextant encode --length 100 --width 512 -o P.npy\n"
      "  sextant encode --positions 0,5,1000000 --width 8 --layout half_split --ladder d/2-1\n"
      "Without -o and --format: colour blocks in a terminal, csv in a pipe.");
  command.callback([encode, &job] {
    if (!encode->length && !encode->positions) {
      throw CLI::RequiredError("--length or --positions");
    }
    encode->choice.check();
    encode->output.format(kTableFormats, "encode");
    job = [encode] { run(*encode); };
  });
}

}  // namespace sextant::app
