// `sextant encode`: the table of a scheme, printed, saved or drawn.
#include <memory>
#include <optional>

#include "calls/calls.h"
#include "commands.h"
#include "options/file_arguments.h"
#include "positions/encode_command.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

TableNames names_of_table(const Encode& encode, std::int64_t rows, std::int64_t columns) {
  TableNames names;
  names.title = figures::capital(encode.choice.title()) + ", " + std::to_string(rows) + " x " +
                std::to_string(columns);
  names.low = -1;
  names.high = 1;
  names.about["scheme"] = encode.choice.scheme;
  names.about["kind"] = name_of(encode.choice.descriptor().kind);
  names.about["parameters"] = encode.choice.resolved_parameters();
  return names;
}

// Adds the ids of the rows next to them and in JSON; `ids` must outlive `names`.
template <class T>
void name_rows(const Encode& encode, const std::vector<T>& ids, TableNames& names) {
  names.row_label = [&ids](std::int64_t row) {
    return shortest(static_cast<double>(ids[static_cast<std::size_t>(row)]));
  };
  if (encode.output.format(kTableFormats, "encode") == Format::json) names.about["positions"] = ids;
}

// The exact table in its own type, any positions.
template <Floating T>
void encode_sinusoidal(const Encode& encode) {
  Sinusoidal options = sinusoidal_from(encode.choice.parameters);
  options.length = encode.length.value_or(0);
  options.width = *encode.width;
  options.first = encode.first;
  options.threads = encode.threads;
  if (encode.length) {
    const Tensor<T> table = sinusoidal<T>(options);
    TableNames names = names_of_table(encode, table.size(0), table.size(1));
    names.about["first"] = options.first;
    names.first_row = options.first;
    return finish_table<T>(table, names, encode);
  }
  const auto make = [&](const auto& ids) {
    const Tensor<T> table = sinusoidal<T>(options, std::span(ids));
    TableNames names = names_of_table(encode, table.size(0), table.size(1));
    names.row_name = "Row";
    name_rows(encode, ids, names);
    finish_table<T>(table, names, encode);
  };
  std::visit(make, *encode.positions);
}

// The width is for added tables, the head dim for rotations.
void check_sizes(const Encode& encode) {
  const SchemeKind kind = encode.choice.descriptor().kind;
  check_has_table(encode.choice, "encode.scheme");
  if (kind == SchemeKind::added && !encode.width) throw CLI::RequiredError("--width");
  if (kind == SchemeKind::rotated && !encode.width && !encode.head_dim) {
    throw CLI::RequiredError("--head-dim");
  }
  if (encode.head_dim && kind == SchemeKind::added) {
    throw Error("encode.head-dim", "must be --width for the scheme " + encode.choice.scheme);
  }
  if (encode.head_dim && encode.width && encode.head_dim != encode.width) {
    throw Error("encode.head-dim", "must not be combined with another --width, got " +
                                       std::to_string(*encode.head_dim) + " and " +
                                       std::to_string(*encode.width));
  }
  if (encode.side && kind != SchemeKind::rotated) {
    throw Error("encode.side", "must be given with rotations only, got it with the scheme " +
                                   encode.choice.scheme);
  }
}

void run(const Encode& encode) {
  // The one scheme with a separate function: four types, each rounded once.
  if (!encode.choice.is_sinusoidal() || !encode.ids_file.empty() || encode.ids.is_given()) {
    return encode_scheme(encode);
  }
  if (encode.dtype == "float64") return encode_sinusoidal<double>(encode);
  if (encode.dtype == "bfloat16") return encode_sinusoidal<bfloat16>(encode);
  if (encode.dtype == "float16") return encode_sinusoidal<float16>(encode);
  encode_sinusoidal<float>(encode);
}

}  // namespace

void add_encode(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "encode",
      "the table of a scheme: print, save or draw it\n"
      "Computes the table of a scheme: [length, width] for rows that are added to embeddings, "
      "[length, pairs, 2] for cosines and sines of rotations, [heads, 2 length - 1] for biases by "
      "distance (index = key - query + length - 1), [heads, length, length] for biases by query "
      "and key; -inf hides a key. Sinusoidal tables are exact: every value is rounded once, within "
      "0.5001 units in the last place (float64: 0.51), at any position up to 2^53.");
  auto encode = std::make_shared<Encode>();
  auto* length = add_integer(command, "--length", encode->length, 0, kMaxInteger,
                             "rows: positions first, first + 1, ...");
  add_integer(command, "--width", encode->width, 1, kMaxInteger,
              "columns of an added table; required for one");
  add_integer(command, "--head-dim", encode->head_dim, 1, kMaxInteger,
              "channels of a head; required for a rotation (or --width)");
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
  input_file(command.add_option("--ids-file", encode->ids_file,
                                "instead of --length: ids of several axes, a .npy file [rows, "
                                "axes] of int32 or int64; - reads stdin"))
      ->excludes(length)
      ->excludes(first)
      ->excludes(command.get_option("--positions"));
  rule_with_file(
      command.add_option_function<std::string>(
          "--ids",
          [encode = encode.get()](const std::string& text) {
            encode->ids = parse_ids_rule(text, "encode.ids");
          },
          "instead of --length: ids by a rule: packed:0,5,9 (the start of each sequence, then the "
          "length), padded:mask.npy or fairseq:mask.npy (a mask [batch, length], nonzero for "
          "tokens), grid:4x6 (rows x columns), patches:224x224/16 (height x width / side), "
          "video:2x4x6, mrope:text=5,image=2x3,video=2x4x6,padding=1"),
      "RULE")
      ->excludes(length)
      ->excludes(first)
      ->excludes(command.get_option("--positions"))
      ->excludes(command.get_option("--ids-file"));
  command
      .add_option_function<std::string>(
          "--side",
          [encode = encode.get()](const std::string& side) {
            encode->side = side == "keys" ? figures::Side::keys : figures::Side::queries;
          },
          "queries | keys: the table to compute, of a rotation with separate tables (default "
          "queries)")
      ->type_name("S")
      ->check(one_of("encode.side", {"queries", "keys"}));
  command
      .add_option("--dtype", encode->dtype,
                  "float64 | float32 | bfloat16 | float16 (default float32)")
      ->type_name("T")
      ->check(one_of("encode.dtype", {"float64", "float32", "bfloat16", "float16"}));
  constexpr std::int64_t kMaxHeads = 1 << 20;
  add_integer(command, "--heads", encode->heads, 1, kMaxHeads,
              "number of heads, for biases and rotations per head (default 8)");
  add_threads(command, encode->threads);
  encode->output.add_to(command, kTableFormats,
                        "save as .npy .csv .json .svg .png or .html, by the extension");
  encode->choice.add_to(command, "sinusoidal");
  encode->model.add_to(command);
  encode->call.add_to(command);
  for (const char* other : {"--scheme", "--width", "--head-dim", "--heads"}) {
    command.get_option("--config")->excludes(command.get_option(other));
  }
  command.footer(
      "Examples:\n"
      "  sextant encode --length 4 --width 4 --base 100 --dtype float64 --format csv\n"
      "  sextant encode --length 100 --width 512 -o P.npy\n"
      "  sextant encode --positions 0,5,1000000 --width 8 --layout half_split --ladder d/2-1\n"
      "  sextant encode --scheme rotary --length 64 --head-dim 128 -o rotations.npy\n"
      "  sextant encode --config config.json --layer 0 --length 64 -o t.npy\n"
      "Without -o and --format: colour blocks in a terminal, csv in a pipe.");
  command.callback([encode, &job] {
    if (!encode->length && !encode->positions && encode->ids_file.empty() &&
        !encode->ids.is_given()) {
      throw CLI::RequiredError("--length, --positions, --ids or --ids-file");
    }
    encode->output.format(kTableFormats, "encode");
    if (encode->call.is_given()) {
      if (!encode->model.is_given()) {
        encode->choice.check();
        check_sizes(*encode);
      }
      job = [encode] { encode->call.print(call_of(*encode)); };
      return;
    }
    if (encode->model.is_given()) {
      job = [encode] {
        take_model(*encode);
        if (tell_model(*encode)) return;
        encode->choice.check();
        check_sizes(*encode);
        encode_scheme(*encode);
      };
      return;
    }
    encode->choice.check();
    check_sizes(*encode);
    job = [encode] { run(*encode); };
  });
}

}  // namespace sextant::app
