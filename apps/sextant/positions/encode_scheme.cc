// `sextant encode` for any scheme by name: its table in float64, rounded once.
#include <numeric>
#include <span>
#include <string>
#include <type_traits>

#include "core/arrays/converted.h"
#include "core/text/strings.h"
#include "positions/encode_command.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

RowIds ids_of_file(const std::string& path, bool takes_times) {
  const Array array = path == "-" ? parse_npy(read_stdin(), "stdin") : load_npy(path);
  const bool real = takes_times && (array.dtype == DType::float32 || array.dtype == DType::float64);
  if (array.dtype != DType::int32 && array.dtype != DType::int64 && !real) {
    throw Error(path, std::string("must hold int32 or int64") +
                          (takes_times ? ", float32 or float64" : "") + ", got " +
                          std::string(dtype_name(array.dtype)));
  }
  const int rank = array.shape.rank();
  if (rank < 1 || rank > 2 || (rank == 2 && array.shape[1] < 1)) {
    throw Error(path, "must hold ids [rows] or [rows, axes], got " + array.shape.to_string());
  }
  const std::int64_t axes = rank == 2 ? array.shape[1] : 1;
  if (real) {
    const Tensor<double> times = array.to<double>();
    return {{}, axes, {times.span().begin(), times.span().end()}};
  }
  const Tensor<std::int64_t> values = array.to<std::int64_t>();
  return {{values.span().begin(), values.span().end()}, axes};
}

// The sizes for the scheme's kind must be given; the others have no effect.
SchemeRequest request_of(const Encode& encode, const RowIds& rows) {
  const Scheme& scheme = encode.choice.descriptor();
  SchemeRequest request;
  request.width = encode.width.value_or(0);
  request.head_dim = encode.head_dim.value_or(request.width);
  request.heads = encode.heads;
  request.positions = rows.ids;
  request.times = rows.times;
  request.axes = rows.axes;
  request.parameters = encode.choice.parameters;
  if (scheme.kind == SchemeKind::distance_bias && !encode.length) {
    throw Error("encode.positions", "must be --length for the scheme " + encode.choice.scheme +
                                        ", whose table goes by distance");
  }
  return request;
}

std::string sizes(const Shape& shape) {
  return joined(shape, " x ", [](std::int64_t size) { return std::to_string(size); });
}

// The ids of a row.
template <class Id>
std::span<const Id> row_of(const std::vector<Id>& ids, std::int64_t row, std::int64_t axes) {
  return std::span(ids).subspan(static_cast<std::size_t>(row * axes),
                                static_cast<std::size_t>(axes));
}

// Adds the ids next to the rows, and in JSON.
template <class Id>
void name_rows(const Encode& encode, const std::vector<Id>& ids, std::int64_t axes,
               std::int64_t per_head, TableNames& names) {
  if (encode.output.format(kTableFormats, "encode") == Format::json) {
    Json list = Json::array();
    for (std::int64_t row = 0; row < std::ssize(ids) / axes; ++row) {
      const auto own = row_of(ids, row, axes);
      if (axes == 1) {
        list.push_back(own[0]);
      } else {
        list.push_back(std::vector<Id>(own.begin(), own.end()));
      }
    }
    names.about["positions"] = std::move(list);
  }
  const auto id = [&ids, axes](std::int64_t row) {
    std::string text;
    for (const Id number : row_of(ids, row, axes)) {
      if (!text.empty()) text += ",";
      if constexpr (std::is_same_v<Id, double>) {
        text += shortest(number);
      } else {
        text += std::to_string(number);
      }
    }
    return text;
  };
  if (per_head == 0) {
    names.row_label = id;
    if (axes == 1 && encode.length) names.first_row = encode.first;
  } else {
    names.row_label = [id, per_head](std::int64_t row) {
      return std::to_string(row / per_head) + ":" + id(row % per_head);
    };
  }
}

}  // namespace

RowIds row_ids(const Encode& encode) {
  if (!encode.ids_file.empty())
    return ids_of_file(encode.ids_file, encode.choice.descriptor().real_positions);
  if (encode.ids.is_given()) return ids_of(encode.ids);
  if (encode.length) {
    constexpr std::int64_t kMaxRows = std::int64_t{1} << 28;
    if (*encode.length > kMaxRows) {
      throw Error("encode.length", "must be at most 2^28 for the scheme " + encode.choice.scheme +
                                       ", got " + std::to_string(*encode.length));
    }
    std::vector<std::int64_t> positions(static_cast<std::size_t>(*encode.length));
    std::iota(positions.begin(), positions.end(), encode.first);
    return {std::move(positions), 1};
  }
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&*encode.positions)) {
    return {*whole, 1};
  }
  if (!encode.choice.descriptor().real_positions) {
    throw Error("encode.positions", "must be whole numbers for the scheme " + encode.choice.scheme);
  }
  return {{}, 1, std::get<std::vector<double>>(*encode.positions)};
}

template <class T>
void finish_table(View<const T> table, const TableNames& names, const Encode& encode) {
  if (const auto format = encode.output.format(kTableFormats, "encode")) {
    return write_table(table, names, encode.output, *format);
  }
  if (!stdout_is_terminal()) return write_table(table, names, encode.output, Format::csv);
  print(names.title + ", " + encode.dtype + "\n");
  if (table.count() > 0) print(blocks_of(widen(table), names), Colors::drawn);
  print("numbers: --format text or csv; save: -o P.npy, .csv, .json, .svg, .png, .pdf or .html\n");
}

template void finish_table(View<const double>, const TableNames&, const Encode&);
template void finish_table(View<const float>, const TableNames&, const Encode&);
template void finish_table(View<const bfloat16>, const TableNames&, const Encode&);
template void finish_table(View<const float16>, const TableNames&, const Encode&);

void encode_scheme(const Encode& encode) {
  const Scheme& scheme = encode.choice.descriptor();
  const RowIds rows = row_ids(encode);
  const std::optional<SchemeWeights> weights = encode.choice.weights();
  SchemeRequest request = request_of(encode, rows);
  if (weights) request.weights = &*weights;
  figures::SchemeArray array =
      figures::scheme_array(scheme, request,
                            {.side = encode.side.value_or(figures::Side::queries),
                             .factor = encode.layer ? encode.layer->bias_factor : 1});
  array.labels.title = figures::capital(encode.choice.title()) + ", " + sizes(array.values.shape());
  TableNames names{array.labels, {}, {}};
  if (array.rows_per_head > 0) {
    names.draw = [&array, width = encode.output.max_width] { return picture_of(array, width); };
  }
  names.about["scheme"] = scheme.name;
  names.about["kind"] = name_of(scheme.kind);
  names.about["parameters"] = encode.choice.resolved_parameters();
  if (scheme.frequencies != nullptr) {
    const RotationFrequencies made_of = scheme.frequencies(request);
    names.about["inv_freq"] = made_of.inv_freq;
    names.about["attention_factor"] = made_of.attention_factor;
  }
  if (encode.layer) names.about["model"] = about_layer(*encode.layer);
  if (scheme.kind != SchemeKind::distance_bias) {
    if (rows.times.empty()) {
      name_rows(encode, rows.ids, rows.axes, array.rows_per_head, names);
    } else {
      name_rows(encode, rows.times, rows.axes, array.rows_per_head, names);
    }
  }
  const auto format = encode.output.format(kTableFormats, "encode");
  const bool exact = format == Format::npy || format == Format::json;
  const auto write = [&]<class T>(T) {
    const Tensor<T> table = converted<T>(exact ? array.values : array.rows);
    finish_table<T>(table.view(), names, encode);
  };
  if (encode.dtype == "float64") return write(double{});
  if (encode.dtype == "bfloat16") return write(bfloat16{});
  if (encode.dtype == "float16") return write(float16{});
  write(float{});
}

}  // namespace sextant::app
