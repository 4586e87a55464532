// Decoding with caches: the layers of inference, with attention that reads from the caches.
#include "sextant/layers/stack_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/options/enum_names.h"
#include "layers/cached_attention.h"
#include "layers/forward_layers.h"
#include "layers/ops.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// The capacity.
std::int64_t checked(std::int64_t rows, std::int64_t capacity) {
  if (rows < 1) throw Error("decoder.rows", "must be at least 1, got " + std::to_string(rows));
  if (capacity >= 1) return capacity;
  throw Error("decoder.capacity", "must be at least 1, got " + std::to_string(capacity));
}

}  // namespace

std::string_view name_of(CacheType type) noexcept {
  return enum_name(type, {"float32", "bfloat16", "float16", "int8"});
}

StackDecoder::StackDecoder(const TransformerStack<float>& stack,
                           const PositionModule<float>& positions, std::int64_t rows,
                           std::int64_t capacity, CacheType cache_type)
    : stack_(stack),
      positions_(positions),
      tables_(positions.tables(checked(rows, capacity))),
      capacity_(capacity) {
  check_named("decoder.cache_type", cache_type);
  if (positions.table_key(1) != positions.table_key(capacity)) {
    inputs_ = Tensor<float>::uninitialized({rows, capacity, stack.options.attention.width});
  }
  for (const auto& layer : stack.layers) {
    caches_.push_back(layers::empty_cache(layer.self.options, cache_type, rows));
  }
  for (std::int64_t row = 0; row < rows; ++row) sources_.push_back(row);
}

std::int64_t StackDecoder::cache_bytes() const {
  std::int64_t bytes = 0;
  for (const Cache& cache : caches_) {
    bytes += std::visit([](const auto& of) { return of.bytes(); }, cache);
  }
  return bytes;
}

void StackDecoder::set_context(View<const float> context, std::span<const std::int64_t> segments,
                               Pass& pass) {
  if (static_cast<std::int64_t>(segments.size()) != rows() + 1) {
    throw Error("decoder.segments", "must be one more than rows = " + std::to_string(rows()) +
                                        ", got " + std::to_string(segments.size()));
  }
  context_segments_.assign(segments.begin(), segments.end());
  cross_keys_.clear();
  for (const auto& layer : stack_.layers) {
    const Workspace::Scope scope(pass.memory);
    cross_keys_.push_back(copy_of(layer.cross->project_context(context, pass)));
  }
}

View<const float> StackDecoder::read(View<const float> x, Pass& pass) {
  const std::int64_t count = x.size(0) / rows(), length = length_ + count;
  if (count > capacity_ - length_) {
    throw Error("decoder.capacity", "must hold " + std::to_string(length) + " tokens, got " +
                                        std::to_string(capacity_));
  }
  if (count == 0) return x;
  make_tables(length);
  if (inputs_.count() > 0) {
    const std::int64_t size = count * x.size(1);
    for (std::int64_t row = 0; row < rows(); ++row) {
      std::copy_n(x.data() + row * size, size, &inputs_(row, length_, 0));
    }
    if (length_ > 0 && positions_.table_key(length) != positions_.table_key(length_)) {
      return recompute(length, count, pass);
    }
  }
  return append(x, pass);
}

void StackDecoder::clear() noexcept {
  for (Cache& cache : caches_) {
    std::visit([](auto& of) { of.clear(); }, cache);
  }
  length_ = 0;
}

void StackDecoder::make_tables(std::int64_t length) {
  if (tables_.has(length)) return;
  tables_ = positions_.tables(layers::reach_of_tables(positions_, length, capacity_));
}

// Everything up to `length` with the tables of now; the results of the last `count` tokens.
View<const float> StackDecoder::recompute(std::int64_t length, std::int64_t count, Pass& pass) {
  const std::int64_t width = inputs_.size(2);
  const View<float> x = pass.memory.take<float>({rows() * length, width});
  for (std::int64_t row = 0; row < rows(); ++row) {
    std::copy_n(&inputs_(row, 0, 0), length * width, x.data() + row * length * width);
  }
  clear();
  const View<const float> y = append(x, pass);
  const View<float> last = pass.memory.take<float>({rows() * count, width});
  for (std::int64_t row = 0; row < rows(); ++row) {
    std::copy_n(y.data() + ((row + 1) * length - count) * width, count * width,
                last.data() + row * count * width);
  }
  return last;
}

View<const float> StackDecoder::with_positions(View<const float> x, Pass& pass) const {
  if (!positions_.has(SchemeKind::added)) return x;
  const std::int64_t count = x.size(0) / rows(), width = x.size(1);
  const View<float> y = pass.memory.take<float>(x.shape());
  std::copy_n(x.data(), x.count(), y.data());
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    tables_.add_row(length_ + i % count, length_ + count, y.data() + i * width);
  }
  return y;
}

View<const float> StackDecoder::append(View<const float> x, Pass& pass) {
  const std::int64_t count = x.size(0) / rows(), length = length_ + count;
  // The rows of each source, as segments of the queries.
  std::vector<std::int64_t> segments(context_segments_.size(), 0);
  for (const std::int64_t source : sources_) {
    if (!segments.empty()) segments[static_cast<std::size_t>(source) + 1] += count;
  }
  for (std::size_t s = 1; s < segments.size(); ++s) segments[s] += segments[s - 1];

  using Saved = AttentionLayer<float>::Saved;
  const auto self = [&](std::size_t i, View<const float> from, View<float> to) {
    const AttentionLayer<float>& layer = stack_.layers[i].self;
    const View<float> all = layer.project(from, pass);
    const View<float> mixed =
        pass.memory.take<float>({from.size(0), layer.options.heads * layer.options.head_dim});
    AttentionOptions<float> options = layer.operator_options();
    options.threads = pass.threads;
    tables_.set(options, length, stack_.kind_of(i));
    layers::attend_cached(layer.options, all, rows(), options, caches_[i], mixed);
    layer.out.forward(mixed, to, pass);
    return Saved{};
  };
  const auto cross = [&](std::size_t i, View<const float> from, View<float> to) {
    stack_.layers[i].cross->attend_context(
        from, cross_keys_[i].view(), {.segments = segments, .key_segments = context_segments_}, to,
        pass);
    return Saved{};
  };
  const View<const float> y = layers::forward_layers(
      stack_, with_positions(x, pass), nullptr, self, cross, [](View<const float>) {}, pass);
  length_ = length;
  return y;
}

void StackDecoder::reorder(std::span<const std::int64_t> parents) {
  std::vector<std::int64_t> sources;
  bool same = static_cast<std::int64_t>(parents.size()) == rows();
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] < 0 || parents[i] >= rows()) {
      throw Error("decoder.parents", "must be 0 .. " + std::to_string(rows() - 1) + ", got " +
                                         std::to_string(parents[i]));
    }
    same = same && parents[i] == static_cast<std::int64_t>(i);
    sources.push_back(sources_[static_cast<std::size_t>(parents[i])]);
  }
  if (same || parents.empty()) return;
  if (!std::is_sorted(sources.begin(), sources.end())) {
    throw Error("decoder.parents", "must keep the rows of a source together, sources in order");
  }
  const auto count = static_cast<std::int64_t>(parents.size());
  for (Cache& cache : caches_) {
    std::visit([&](auto& of) { of.select(parents); }, cache);
  }
  if (inputs_.count() > 0) {
    auto next = Tensor<float>::uninitialized({count, capacity_, inputs_.size(2)});
    for (std::int64_t row = 0; row < count && length_ > 0; ++row) {
      std::copy_n(&inputs_(parents[static_cast<std::size_t>(row)], 0, 0), length_ * inputs_.size(2),
                  &next(row, 0, 0));
    }
    inputs_ = std::move(next);
  }
  sources_ = std::move(sources);
}

}  // namespace sextant
