// The tables of schemes as scripts get them.
#include "attention/scheme_forms.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"

namespace sextant::app {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 28;  // 2 GiB of float64
constexpr std::int64_t kMostPanels = 8;

[[noreturn]] void refuse(const Scheme& scheme, const std::string& where, const std::string& why) {
  throw Error(where + ".scheme",
              "must be a scheme that has a table, got '" + std::string(scheme.name) + "', " + why);
}

// An exact form, from what a scheme made of a request.
struct Former {
  const Scheme& scheme;
  const SchemeRequest& request;
  Side side;
  const std::string& where;

  void check_size(double numbers) const {
    if (numbers <= static_cast<double>(kMostNumbers)) return;
    throw Error(where + ".length", "must give at most 2^28 numbers for the scheme " +
                                       std::string(scheme.name) + ", got " +
                                       std::to_string(request.rows()) + " positions");
  }

  SchemeForm operator()(std::monostate) const { refuse(scheme, where, "which adds nothing"); }
  SchemeForm operator()(const std::shared_ptr<const ContentTerm>&) const {
    refuse_content(scheme, where);
  }

  SchemeForm operator()(Tensor<double>&& table) const {
    SchemeForm form;
    form.rows = std::move(table);
    return form;
  }

  SchemeForm operator()(const RotationTable<double>& rotation) const {
    const RotationTable<double>& table = side == Side::keys ? rotation.for_keys() : rotation;
    const bool by_head = table.cos.rank() == 3;
    const std::int64_t heads = by_head ? table.cos.size(0) : 1;
    const std::int64_t length = table.cos.size(by_head ? 1 : 0);
    const std::int64_t pairs = table.cos.size(by_head ? 2 : 1);
    SchemeForm form;
    form.values =
        Tensor<double>(by_head ? Shape{heads, length, pairs, 2} : Shape{length, pairs, 2});
    form.rows = Tensor<double>({heads * length, 2 * pairs});
    for (std::int64_t row = 0; row < heads * length; ++row) {
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const std::int64_t at = row * pairs + pair;
        form.values.data()[2 * at] = form.rows(row, pair) = table.cos.data()[at];
        form.values.data()[2 * at + 1] = form.rows(row, pairs + pair) = table.sin.data()[at];
      }
    }
    if (by_head) {
      form.rows_per_head = length;
      form.row_name = "Head and position";
    }
    form.column_name = "Cosine of each pair, then sine of each pair";
    return form;
  }

  SchemeForm operator()(const DistanceBias& bias) const {
    const std::int64_t length = request.rows(), heads = request.heads;
    const std::int64_t distances = std::max<std::int64_t>(0, 2 * length - 1);
    check_size(static_cast<double>(heads) * static_cast<double>(distances));
    SchemeForm form;
    form.rows = Tensor<double>({heads, distances});
    const std::int64_t first = bias.origin - (length - 1);
    if (distances > 0 && (first < 0 || first + distances > bias.values.size(1))) {
      throw Error(where + ".scheme", std::string(scheme.name) + " must have a bias for each of " +
                                         std::to_string(distances) + " distances, got " +
                                         std::to_string(bias.values.size(1)));
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < distances; ++i) {
        form.rows(head, i) =
            static_cast<double>(bias.values(bias.values.size(0) == 1 ? 0 : head, first + i));
      }
    }
    form.row_name = "Head";
    form.column_name = "Distance (key - query)";
    form.first_column = -std::max<std::int64_t>(0, length - 1);
    form.color_name = "Bias";
    form.biases = true;
    return form;
  }

  SchemeForm operator()(const std::shared_ptr<const IndexedBias>& bias) const {
    const std::int64_t length = request.rows(), heads = request.heads;
    check_size(static_cast<double>(heads) * static_cast<double>(length) *
               static_cast<double>(length));
    SchemeForm form;
    form.values = Tensor<double>({heads, length, length});
    form.rows = Tensor<double>({heads * length, length});
    std::vector<float> one(static_cast<std::size_t>(length * length));
    for (std::int64_t head = 0; head < heads && length > 0; ++head) {
      bias->fill({.sequence = 0,
                  .head = head,
                  .first_query = 0,
                  .queries = length,
                  .first_key = 0,
                  .keys = length},
                 one.data(), length);
      std::copy(one.begin(), one.end(), form.values.data() + head * length * length);
    }
    std::copy_n(form.values.data(), form.values.count(), form.rows.data());
    form.rows_per_head = length;
    form.row_name = "Query";
    form.column_name = "Key";
    form.color_name = "Bias";
    form.biases = true;
    return form;
  }
};

// Biases of one sign are magnitudes; else zero is white.
ColorMap map_of(const SchemeForm& form, double& largest) {
  bool below = false, above = false;
  for (const double value : form.rows.span()) {
    if (!std::isfinite(value)) continue;
    below = below || value < 0;
    above = above || value > 0;
    largest = std::max(largest, std::abs(value));
  }
  return form.biases && !(below && above) ? ColorMap::viridis : ColorMap::diverging;
}

}  // namespace

void refuse_content(const Scheme& scheme, const std::string& where) {
  const std::string name(scheme.name);
  refuse(scheme, where,
         "whose scores depend on q and k as well: see `sextant attend --scheme " + name +
             "` and `sextant attention --scheme " + name + "`");
}

SchemeForm form_of(const Scheme& scheme, const SchemeRequest& request, Side side,
                   const std::string& where) {
  SchemeForm form = std::visit(Former{scheme, request, side, where}, scheme.make(request));
  if (form.values.rank() < 2) form.values = form.rows.clone();
  return form;
}

TableNames names_of(const SchemeForm& form) {
  TableNames names;
  names.row_name = form.row_name;
  names.column_name = form.column_name;
  names.color_name = form.color_name;
  names.first_column = form.first_column;
  double largest = 0;
  names.map = map_of(form, largest);
  if (names.map == ColorMap::diverging) {
    names.high = largest > 0 ? largest : 1;
    names.low = -*names.high;
  }
  const std::int64_t per_head = form.rows_per_head;
  if (per_head == 0) return names;
  names.row_label = [per_head](std::int64_t row) {
    return std::to_string(row / per_head) + ":" + std::to_string(row % per_head);
  };
  const std::int64_t heads = std::min(kMostPanels, form.rows.size(0) / per_head);
  names.draw = [&form, names, heads, per_head](const std::string& title) {
    HeatmapPanels panels;
    panels.values = View<const double>(form.rows.data(), {heads, per_head, form.rows.size(1)});
    for (std::int64_t head = 0; head < heads; ++head) {
      panels.titles.push_back("Head " + std::to_string(head));
    }
    panels.title = title;
    panels.x_label = names.column_name;
    panels.y_label = form.values.rank() == 4 ? "Position" : names.row_name;
    panels.color_label = names.color_name;
    panels.map = names.map;
    panels.low = names.low;
    panels.high = names.high;
    return sextant::draw(panels);
  };
  return names;
}

template <class T>
void write_form(const SchemeForm& form, const TableNames& names, const Output& output,
                Format format) {
  const bool exact = format == Format::npy || format == Format::json;
  const Tensor<double>& from = exact ? form.values : form.rows;
  auto rounded = Tensor<T>::uninitialized(from.shape());
  for (std::int64_t i = 0; i < from.count(); ++i) {
    rounded.data()[i] = static_cast<T>(from.data()[i]);
  }
  write_table<T>(std::as_const(rounded).view(), names, output, format);
}

template void write_form<double>(const SchemeForm&, const TableNames&, const Output&, Format);
template void write_form<float>(const SchemeForm&, const TableNames&, const Output&, Format);
template void write_form<bfloat16>(const SchemeForm&, const TableNames&, const Output&, Format);
template void write_form<float16>(const SchemeForm&, const TableNames&, const Output&, Format);

Json resolved_parameters(const Scheme& scheme,
                         const std::map<std::string, std::string>& parameters) {
  Json json = Json::object();
  for (const Option& parameter : scheme.parameters()) {
    const std::string name(parameter.name);
    const auto given = parameters.find(name);
    json[name] = given == parameters.end() ? parameter.default_text : given->second;
  }
  return json;
}

}  // namespace sextant::app
