// Implements `sextant attention --ranks` under mpirun: every process reads its part of q, k, v, the
// gradient and the mask, and the whole of small inputs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "attention/attention_operands.h"
#include "ranks/as_rank.h"
#include "sextant/core/safetensors.h"
#include "sextant/kernels.h"
#include "sextant/ranks.h"

namespace sextant::app {
namespace {

using ranks::Communicator, ranks::Sharding, ranks::ShardLayout, ranks::NpyFile;

constexpr const char* kInParts[] = {"q", "k", "v", "dout"};

// Files of which a rank reads a part, by the names of their options.
using PartFiles = std::map<std::string, NpyFile>;

// Parts are read from files, so striped ones can be zigzag from the start, which every algorithm
// takes.
ranks::Options options_of(const RanksChoice& choice) {
  const auto algorithm = parse_name<ranks::Algorithm>(choice.algorithm, "attention.ranks");
  auto sharding = parse_name<Sharding>(choice.divide, "attention.divide");
  if (sharding == Sharding::striped && algorithm != ranks::Algorithm::ulysses) {
    sharding = Sharding::zigzag;
  }
  return {.algorithm = algorithm,
          .sharding = sharding,
          .wire_type = parse_name<ranks::WireType>(choice.wire_type, "attention.wire-type"),
          .reproducible = choice.reproducible};
}

// Opens the divided inputs by their shapes, and reads the others.
AttentionArrays open_inputs(const AttentionCommand& command, PartFiles& files) {
  AttentionArrays arrays;
  for (const auto& [name, path] : command.inputs) {
    const bool in_parts =
        std::find(std::begin(kInParts), std::end(kInParts), name) != std::end(kInParts) ||
        name == "mask";
    if (!in_parts) {
      arrays.emplace(name, load_npy(path));
      continue;
    }
    NpyFile file = ranks::open_npy(path);
    Array shape;
    shape.dtype = file.dtype;
    shape.shape = file.shape;
    if (name != "mask") arrays.emplace(name, std::move(shape));
    files.emplace(name, std::move(file));
  }
  check_types(command, arrays);
  for (const char* name : kInParts) {
    const auto at = arrays.find(name);
    if (at == arrays.end()) continue;
    files.at(name).dtype = at->second.dtype;
    if (at->second.shape.rank() == 4) continue;
    throw Error(std::string("attention.") + name,
                "must be [batch, heads, length, head_dim], got " + at->second.shape.to_string());
  }
  return arrays;
}

// Everything of one element type on one rank.
template <Floating T>
class RanksRun {
 public:
  using Wide = typename AttentionOperands<T>::Wide;

  RanksRun(const Communicator& comm, const AttentionCommand& command)
      : comm_(comm), command_(command), choice_(options_of(command.ranks)) {}

  void run() {
    ranks::run_or_fail_on_all(comm_, [&] { read(); });
    const View<const T> q = q_.template as<T>(), k = k_.template as<T>(), v = v_.template as<T>();
    const AttentionOptions<T>& options = operands_->options;
    if (command_.explain) {
      const std::string text = ranks::plan<T>(comm_, q, k, v, options, choice_).explain();
      if (comm_.rank() == 0) print(text);
      if (command_.outputs.empty()) return;
    }
    Tensor<T> out({q.size(0), q.size(1), q.size(2), v.size(3)});
    Tensor<float> logs({q.size(0), q.size(1), q.size(2)});
    ranks::attention<T>(comm_, q, k, v, out.view(), options, choice_, logs.view());
    if (grad_.shape.rank() == 4) gradients(q, k, v, out, logs);
    if (command_.wants("log-sum-exp")) save<float>("log-sum-exp", logs, *q_layout_);
    if (command_.wants("output")) save<T>("output", out, *q_layout_);
    if (command_.json && comm_.rank() == 0) print(to_text(summary()) + "\n");
  }

 private:
  void read() {
    arrays_ = open_inputs(command_, files_);
    const auto length = [&](const char* name) { return files_.at(name).shape[2]; };
    q_layout_.emplace(choice_.sharding, length("q"), comm_.size());
    k_layout_.emplace(choice_.sharding, length("k"), comm_.size());
    if (files_.contains("mask")) arrays_["mask"] = read_mask();
    // Shapes of the whole call, as one process checks them; views of parts come after.
    operands_ = std::make_unique<AttentionOperands<T>>(command_, arrays_);
    if (length("v") != length("k")) {
      throw Error("attention.v", "must be as long as k, " + std::to_string(length("k")) + ", got " +
                                     std::to_string(length("v")));
    }
    q_ = part("q", *q_layout_);
    k_ = part("k", *k_layout_);
    v_ = part("v", *k_layout_);
    if (files_.contains("dout")) grad_ = part("dout", *q_layout_);
    if (!arrays_.contains("query-positions")) return;
    query_ids_ = ranks::shard_of<std::int64_t>(operands_->options.query_positions, *q_layout_,
                                               comm_.rank(), 1);
    key_ids_ = ranks::shard_of<std::int64_t>(operands_->options.key_positions, *k_layout_,
                                             comm_.rank(), 1);
    operands_->options.query_positions = std::as_const(query_ids_).view();
    operands_->options.key_positions = std::as_const(key_ids_).view();
  }

  Array part(const char* name, const ShardLayout& layout) const {
    return ranks::load_shard(files_.at(name), layout, comm_.rank());
  }

  // Rows of own queries, where the mask has rows.
  Array read_mask() {
    const NpyFile& file = files_.at("mask");
    const int axis = file.shape.rank() - 2;
    const std::int64_t q_len = q_layout_->length();
    mask_has_rows_ = axis >= 0 && (file.shape[axis] != 1 || q_len == 1);
    if (!mask_has_rows_) return load_npy(file.path);
    if (file.shape[axis] != q_len) {
      throw Error("attention.mask", "must have 1 or " + std::to_string(q_len) +
                                        " rows of queries, got " + file.shape.to_string());
    }
    return ranks::load_shard(file, *q_layout_, comm_.rank(), axis);
  }

  void gradients(View<const T> q, View<const T> k, View<const T> v, const Tensor<T>& out,
                 const Tensor<float>& logs) {
    AttentionGradients<T> wanted;
    Tensor<T> dq, dk, dv;
    Tensor<Wide> dbias, dmask, dslopes, dsinks;
    const auto want = [&](const char* name, auto& room, const Shape& shape, auto& to) {
      if (!command_.wants(name)) return;
      room = std::remove_cvref_t<decltype(room)>(shape);
      to = room.view();
    };
    want("dq", dq, q.shape(), wanted.q);
    want("dk", dk, k.shape(), wanted.k);
    want("dv", dv, v.shape(), wanted.v);
    want("dbias", dbias, operands_->bias_shape(), wanted.bias.values);
    want("dmask", dmask, operands_->mask_shape(), wanted.mask);
    const Shape heads{q.size(1)};
    want("dslopes", dslopes, heads, wanted.bias.slopes);
    want("dsinks", dsinks, heads, wanted.sinks);
    if (command_.wants("dscheme")) operands_->scheme()->want(wanted);
    ranks::attention_backward<T>(comm_, q, k, v, out, grad_.template as<T>(), wanted,
                                 operands_->options, choice_, logs);
    if (command_.wants("dq")) save<T>("dq", dq, *q_layout_);
    if (command_.wants("dk")) save<T>("dk", dk, *k_layout_);
    if (command_.wants("dv")) save<T>("dv", dv, *k_layout_);
    if (command_.wants("dmask") && mask_has_rows_) {
      save<Wide>("dmask", dmask, *q_layout_, dmask.rank() - 2);
    }
    ranks::run_or_fail_on_all(comm_, [&] {  // one rank writes data that all ranks have
      if (comm_.rank() != 0) return;
      const auto whole = [&](const char* name, const Tensor<Wide>& values) {
        if (command_.wants(name)) save_npy<Wide>(command_.outputs.at(name), values);
      };
      whole("dbias", dbias);
      whole("dslopes", dslopes);
      whole("dsinks", dsinks);
      if (!mask_has_rows_) whole("dmask", dmask);
      if (command_.wants("dscheme")) {
        write_scheme<T>(command_.outputs.at("dscheme"), operands_->scheme()->gradients());
      }
    });
  }

  template <class E>
  void save(const char* name, const Tensor<E>& values, const ShardLayout& layout, int axis = 2) {
    ranks::save_shards<E>(comm_, command_.outputs.at(name), values.view(), layout, axis);
    std::vector<std::int64_t> shape(values.shape().begin(), values.shape().end());
    shape[static_cast<std::size_t>(axis)] = layout.length();
    written_[name] = {
        {"file", command_.outputs.at(name)}, {"dtype", dtype_name(dtype_of<E>)}, {"shape", shape}};
  }

  Json summary() const {
    Json json = summary_of(command_, arrays_, written_);
    json["ranks"] = {{"count", comm_.size()},
                     {"algorithm", command_.ranks.algorithm},
                     {"divide", command_.ranks.divide},
                     {"wire_type", command_.ranks.wire_type},
                     {"reproducible", command_.ranks.reproducible}};
    return json;
  }

  const Communicator& comm_;
  const AttentionCommand& command_;
  ranks::Options choice_;
  PartFiles files_;
  AttentionArrays arrays_;
  std::optional<ShardLayout> q_layout_, k_layout_;
  std::unique_ptr<AttentionOperands<T>> operands_;
  Array q_, k_, v_, grad_{.dtype = DType::float32, .shape = Shape{0}, .bytes = {}};
  Tensor<std::int64_t> query_ids_, key_ids_;
  bool mask_has_rows_ = false;
  Json written_ = Json::object();
};

DType type_of(const Communicator& comm, const AttentionCommand& command) {
  DType dtype = DType::float32;
  ranks::run_or_fail_on_all(comm, [&] {
    AttentionArrays q;
    const NpyFile file = ranks::open_npy(command.inputs.at("q"));
    Array shape;
    shape.dtype = file.dtype;
    shape.shape = file.shape;
    q.emplace("q", std::move(shape));
    check_types(command, q);
    dtype = q.at("q").dtype;
  });
  return dtype;
}

// Returns a sample that distinguishes two files without reading all of them: the size, and all
// bytes or the first and last MiB.
std::string sample_of(const std::string& path) {
  constexpr std::uintmax_t kWhole = 16 << 20, kPart = 1 << 20;
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (none) return "";  // no regular file; its reader reports the error
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size <= kWhole ? size : 2 * kPart, '\0');
  const std::size_t first = size <= kWhole ? bytes.size() : kPart;
  file.read(bytes.data(), static_cast<std::streamsize>(first));
  if (first < bytes.size()) {
    file.seekg(-static_cast<std::streamoff>(kPart), std::ios::end);
    file.read(bytes.data() + first, static_cast<std::streamsize>(kPart));
  }
  return std::to_string(size) + " " + bytes;
}

// Files that ranks read, and for the bits of one process the instructions that they compute with.
void compare_inputs(const Communicator& comm, const AttentionCommand& command) {
  ranks::Agreement agreement;
  ranks::run_or_fail_on_all(comm, [&] {
    for (const auto& [name, path] : command.inputs) {
      const std::string sample = sample_of(path);
      agreement.add("attention." + name, std::as_bytes(std::span(sample.data(), sample.size())));
    }
  });
  if (command.ranks.reproducible) agreement.add("SEXTANT_TARGET", chosen_target());
  agreement.check(comm);
}

void run_by_type(const Communicator& comm, const AttentionCommand& command) {
  ranks::run_or_fail_on_all(comm, [&] { check_folders(command); });
  compare_inputs(comm, command);
  const DType dtype = type_of(comm, command);
  if (dtype == DType::float64) return RanksRun<double>(comm, command).run();
  if (dtype == DType::float16) return RanksRun<float16>(comm, command).run();
  if (dtype == DType::bfloat16) return RanksRun<bfloat16>(comm, command).run();
  RanksRun<float>(comm, command).run();
}

}  // namespace

void run_attention_on_ranks(const AttentionCommand& command, CLI::App& words) {
  const auto run = [&](const Communicator& comm) {
    run_by_type(comm, command);
    return 0;
  };
  as_rank(words, run, [&](const Error& error) {
    return std::string(as_option(error, command.choice.is_given()).what());
  });
}

}  // namespace sextant::app
