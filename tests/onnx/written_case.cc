// Cases in the form of ONNX's, made up (see written_case.h).
#include "onnx/written_case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "reference/attention.h"
#include "reference/round16.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/random.h"

namespace sextant::onnx {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

template <class T>
void save(const std::string& path, const Tensor<double>& values) {
  Tensor<T> typed(values.shape());
  for (std::int64_t n = 0; n < values.count(); ++n) {
    if constexpr (std::same_as<T, bool>) {
      typed.data()[n] = values.data()[n] != 0;
    } else {
      typed.data()[n] = static_cast<T>(values.data()[n]);
    }
  }
  save_npy(path, typed);
}

void save(const std::string& path, DType type, const Tensor<double>& values) {
  switch (type) {
    case DType::boolean:
      return save<bool>(path, values);
    case DType::int64:
      return save<std::int64_t>(path, values);
    case DType::float16:
      return save<float16>(path, values);
    case DType::bfloat16:
      return save<bfloat16>(path, values);
    case DType::float32:
      return save<float>(path, values);
    default:
      return save<double>(path, values);
  }
}

Tensor<double> drawn(const Shape& shape, const std::function<double()>& draw) {
  Tensor<double> values(shape);
  for (double& value : values.span()) value = draw();
  return values;
}

// [batch, heads, length, dim] as [batch, length, heads * dim].
Tensor<double> joined(const Tensor<double>& x) {
  const auto rows = copy_of(x.view().transpose(1, 2));
  Tensor<double> result(Shape{rows.size(0), rows.size(1), rows.size(2) * rows.size(3)});
  std::copy_n(rows.data(), rows.count(), result.data());
  return result;
}

Tensor<double> in_layout(bool rank3, const Tensor<double>& x) {
  return rank3 ? joined(x) : x.clone();
}

Tensor<double> appended(const Tensor<double>& past, const Tensor<double>& x) {
  Tensor<double> both(Shape{x.size(0), x.size(1), past.size(2) + x.size(2), x.size(3)});
  for (std::int64_t b = 0; b < both.size(0); ++b)
    for (std::int64_t h = 0; h < both.size(1); ++h)
      for (std::int64_t j = 0; j < both.size(2); ++j)
        for (std::int64_t d = 0; d < both.size(3); ++d)
          both(b, h, j, d) = j < past.size(2) ? past(b, h, j, d) : x(b, h, j - past.size(2), d);
  return both;
}

// What a mask says about a pair, from the rules: aligned at the last axis, sizes of 1 repeat, keys
// that the last axis lacks are excluded.
double mask_at(const Tensor<double>& mask, bool allows, const std::int64_t (&index)[4]) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < mask.rank(); ++axis) {
    const bool last = axis == mask.rank() - 1;
    const std::int64_t at = index[4 - mask.rank() + axis];
    if (last && at >= mask.size(axis)) return kHidden;
    offset = offset * mask.size(axis) + (mask.size(axis) == 1 && !last ? 0 : at);
  }
  const double value = mask.data()[offset];
  return allows ? value != 0 ? 0 : kHidden : value;
}

// The softmax of a row, every step rounded to 16 bits.
void narrow_softmax(double* row, std::int64_t count, int exponent_bits) {
  const auto rounded = [&](double x) {
    return reference::value_of_16_bits(reference::round_to_16_bits(x, exponent_bits),
                                       exponent_bits);
  };
  double most = kHidden, sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    row[j] = rounded(row[j]);
    most = std::max(most, row[j]);
  }
  for (std::int64_t j = 0; j < count; ++j) {
    row[j] = most == kHidden ? 0 : rounded(std::exp(rounded(row[j] - most)));
    sum += row[j];
  }
  for (std::int64_t j = 0; j < count && sum > 0; ++j) row[j] = rounded(row[j] / rounded(sum));
}

// Probabilities and output again from the biased scores, with few digits.
void narrow(reference::AttentionResult& result, const Tensor<double>& v, int exponent_bits) {
  auto& p = result.probabilities;
  p = result.biased.clone();
  const std::int64_t keys = p.size(3), group = p.size(1) / v.size(1);
  for (std::int64_t n = 0; n < p.count(); n += keys) {
    narrow_softmax(p.data() + n, keys, exponent_bits);
  }
  for (std::int64_t b = 0; b < p.size(0); ++b)
    for (std::int64_t h = 0; h < p.size(1); ++h)
      for (std::int64_t i = 0; i < p.size(2); ++i)
        for (std::int64_t c = 0; c < v.size(3); ++c) {
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) sum += p(b, h, i, j) * v(b, h / group, j, c);
          result.output(b, h, i, c) = sum;
        }
}

}  // namespace

WrittenCase::WrittenCase(const std::string& folder, const std::string& op) : folder_(folder) {
  std::filesystem::create_directory(folder);
  const bool attends = op == "Attention";
  about = {{"name", std::filesystem::path(folder).filename().string()},
           {"op", op},
           {"opset", 25},
           {"origin", "generated"},
           {"attributes", Json::object()},
           {"features", Json::array()},
           {"tolerance", {{"rtol", 1e-3}, {"atol", 1e-7}}}};
  for (int n = 0; n < (attends ? 7 : 4); ++n) about["inputs"].push_back(nullptr);
  for (int n = 0; n < (attends ? 4 : 1); ++n) about["outputs"].push_back(nullptr);
}

Tensor<double> WrittenCase::add(const char* list, std::size_t position, const std::string& name,
                                DType type, Tensor<double> values) {
  const std::string path = folder_ + "/" + name + ".npy";
  save(path, type, values);
  about[list][position] = {
      {"name", name},
      {"dtype", dtype_name(type)},
      {"shape", std::vector<std::int64_t>(values.shape().begin(), values.shape().end())},
      {"file", name + ".npy"}};
  Array read = load_npy(path);
  if (type == DType::bfloat16) read.dtype = type;
  return read.to<double>();
}

Tensor<double> WrittenCase::input(std::size_t position, const std::string& name, DType type,
                                  Tensor<double> values) {
  return add("inputs", position, name, type, std::move(values));
}

Tensor<double> WrittenCase::output(std::size_t position, const std::string& name, DType type,
                                   Tensor<double> values) {
  return add("outputs", position, name, type, std::move(values));
}

void WrittenCase::write() const { write_file(folder_ + "/case.json", about.dump(1)); }

void WrittenCase::edit(const std::string& folder, const std::function<void(Json&)>& change) {
  const std::string path = folder + "/case.json";
  auto about = Json::parse(read_file(path));
  change(about);
  write_file(path, about.dump(1));
}

std::string write_attention(const std::string& folder, const AttentionCase& w) {
  WrittenCase c(folder, "Attention");
  c.about["attributes"] = w.attributes;
  if (w.rank3) {
    c.about["attributes"]["q_num_heads"] = w.heads_q;
    c.about["attributes"]["kv_num_heads"] = w.kv_heads;
  }
  c.about["tolerance"] = {{"rtol", w.rtol}, {"atol", w.type == DType::float64 ? 1e-14 : 1e-7}};
  NumpyRandom random(23);
  // Whole 64ths are exact in every type, and so are scores of them with a scale of a power of two:
  // that rounds to 16 bits in one way only.
  const auto grid = [&] { return std::floor(random.uniform() * 256 - 128) / 64; };
  // Sums of positive values have small relative errors.
  const auto positive = [&] { return 0.125 + random.uniform(); };
  const DType v_type = w.v_type.value_or(w.type);
  const std::int64_t keys = w.past + w.k_len;

  reference::Attention call;
  call.q = drawn(Shape{w.batch, w.heads_q, w.q_len, w.head_dim}, grid);
  c.input(0, "Q", w.type, in_layout(w.rank3, call.q));
  call.k = drawn(Shape{w.batch, w.kv_heads, w.k_len, w.head_dim}, grid);
  c.input(1, "K", w.type, in_layout(w.rank3, call.k));
  call.v = c.input(2, "V", v_type, drawn(Shape{w.batch, w.kv_heads, w.k_len, w.v_dim}, positive));
  if (w.rank3) c.input(2, "V", v_type, joined(call.v));
  if (w.past > 0) {
    const auto past_k =
        c.input(4, "past_key", w.type, drawn(Shape{w.batch, w.kv_heads, w.past, w.head_dim}, grid));
    const auto past_v = c.input(5, "past_value", v_type,
                                drawn(Shape{w.batch, w.kv_heads, w.past, w.v_dim}, positive));
    call.k = appended(past_k, call.k);
    call.v = appended(past_v, call.v);
  }

  Tensor<double> mask;
  if (!w.mask.empty()) {
    mask = w.bool_mask
               ? drawn(Shape(w.mask), [&] { return random.uniform() < 0.7 ? 1.0 : 0.0; })
               : drawn(Shape(w.mask), [&] { return random.uniform() < 0.8 ? grid() : kHidden; });
    c.input(3, "attn_mask", w.bool_mask ? DType::boolean : w.type, mask.clone());
  }
  if (!w.key_lengths.empty()) {
    Tensor<double> lengths(Shape{w.batch});
    std::copy(w.key_lengths.begin(), w.key_lengths.end(), lengths.data());
    c.input(6, "nonpad_kv_seqlen", DType::int64, std::move(lengths));
  }

  const auto attribute = [&](const char* name, double otherwise) {
    return w.attributes.value(name, otherwise);
  };
  const auto in_float32 = [&](const char* name, double otherwise) {
    return static_cast<double>(static_cast<float>(attribute(name, otherwise)));
  };
  call.scale = w.attributes.contains("scale") ? in_float32("scale", 0)
                                              : 1 / std::sqrt(static_cast<double>(w.head_dim));
  call.softcap = in_float32("softcap", 0);
  const double left = attribute("left_window_size", -1), right = attribute("right_window_size", -1);
  call.sees = [&](std::int64_t b, std::int64_t, std::int64_t i, std::int64_t j) {
    const bool buffer = !w.key_lengths.empty();
    const std::int64_t valid = buffer ? w.key_lengths[static_cast<std::size_t>(b)] : keys;
    const std::int64_t own = i + (buffer ? valid - w.q_len : w.past);
    const auto distance = static_cast<double>(j - own);
    return j < valid && !(attribute("is_causal", 0) != 0 && j > own) &&
           !(left >= 0 && distance < -left) && !(right >= 0 && distance > right);
  };
  call.added = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return w.mask.empty() ? 0 : mask_at(mask, w.bool_mask, {b, h, i, j});
  };
  auto result = reference::attend(call);
  const double precision = attribute("softmax_precision", 1);
  if (precision == 10) narrow(result, call.v, 5);
  if (precision == 16) narrow(result, call.v, 8);

  c.output(0, "Y", w.type, in_layout(w.rank3, result.output));
  if (w.presents) {
    c.output(1, "present_key", w.type, call.k.clone());
    c.output(2, "present_value", v_type, call.v.clone());
  }
  if (w.scores) {
    Tensor<double>* stages[] = {&result.scores, &result.capped, &result.biased,
                                &result.probabilities};
    c.output(3, "qk_matmul_output", w.type,
             stages[w.attributes.value("qk_matmul_output_mode", 0)]->clone());
  }
  c.write();
  return folder;
}

std::string write_rotary(const std::string& folder, const RotaryCase& w) {
  WrittenCase c(folder, "RotaryEmbedding");
  auto& attributes = c.about["attributes"];
  if (w.rank3) attributes["num_heads"] = w.heads;
  if (w.interleaved) attributes["interleaved"] = 1;
  if (w.rotary_dim > 0) attributes["rotary_embedding_dim"] = w.rotary_dim;
  if (w.type == DType::bfloat16) c.about["tolerance"]["rtol"] = 0x1p-7;
  NumpyRandom random(7);
  const auto grid = [&] { return std::floor(random.uniform() * 64) / 64; };
  const std::int64_t turned = w.rotary_dim > 0 ? w.rotary_dim : w.head_dim, pairs = turned / 2;
  constexpr std::int64_t kRows = 9;
  const Shape cache = w.positions ? Shape{kRows, pairs} : Shape{w.batch, w.length, pairs};

  const auto x = drawn(Shape{w.batch, w.heads, w.length, w.head_dim}, grid);
  c.input(0, "input", w.type, in_layout(w.rank3, x));
  const auto cosines = c.input(1, "cos_cache", w.type, drawn(cache, grid));
  const auto sines = c.input(2, "sin_cache", w.type, drawn(cache, grid));
  Tensor<double> ids;
  if (w.positions) {
    ids = c.input(3, "position_ids", DType::int64, drawn(Shape{w.batch, w.length}, [&] {
                    return std::floor(random.uniform() * static_cast<double>(kRows));
                  }));
  }

  auto turned_x = x.clone();
  for (std::int64_t b = 0; b < w.batch; ++b)
    for (std::int64_t h = 0; h < w.heads; ++h)
      for (std::int64_t s = 0; s < w.length; ++s)
        for (std::int64_t k = 0; k < pairs; ++k) {
          const std::int64_t row =
              w.positions ? static_cast<std::int64_t>(ids(b, s)) : b * w.length + s;
          const double cosine = cosines.data()[row * pairs + k];
          const double sine = sines.data()[row * pairs + k];
          const std::int64_t first = w.interleaved ? 2 * k : k;
          const std::int64_t second = w.interleaved ? 2 * k + 1 : k + pairs;
          const double x1 = x(b, h, s, first), x2 = x(b, h, s, second);
          turned_x(b, h, s, first) = cosine * x1 - sine * x2;
          turned_x(b, h, s, second) = sine * x1 + cosine * x2;
        }
  c.output(0, "output", w.type, in_layout(w.rank3, turned_x));
  c.write();
  return folder;
}

}  // namespace sextant::onnx
