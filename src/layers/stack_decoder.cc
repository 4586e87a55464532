// Decoding with caches: the layers of inference, with attention that reads from the caches.
#include "sextant/layers/stack_decoder.h"

#include <algorithm>
#include <string>

#include "layers/forward_layers.h"
#include "layers/ops.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

KvCache<float> empty_cache(const AttentionLayerOptions& o, std::int64_t rows,
                           std::int64_t capacity) {
  return KvCache<float>(rows, o.kv_heads, o.head_dim, o.head_dim, capacity);
}

// [rows * count, columns] as [rows, heads, count, head_dim].
View<float> by_row(View<float> x, std::int64_t rows, std::int64_t heads) {
  return x.split(0, rows).split(2, heads).transpose(1, 2);
}

// The capacity.
std::int64_t checked(std::int64_t rows, std::int64_t capacity) {
  if (rows < 1) throw Error("decoder.rows", "must be at least 1, got " + std::to_string(rows));
  if (capacity >= 1) return capacity;
  throw Error("decoder.capacity", "must be at least 1, got " + std::to_string(capacity));
}

}  // namespace

StackDecoder::StackDecoder(const TransformerStack<float>& stack,
                           const PositionModule<float>& positions, std::int64_t rows,
                           std::int64_t capacity)
    : stack_(stack),
      positions_(positions),
      tables_(positions.tables(checked(rows, capacity))),
      capacity_(capacity) {
  if (positions.table_key(1) != positions.table_key(capacity)) {
    inputs_ = Tensor<float>::uninitialized({rows, capacity, stack.options.attention.width});
  }
  for (const auto& layer : stack.layers) {
    caches_.push_back(empty_cache(layer.self.options, rows, capacity));
  }
  for (std::int64_t row = 0; row < rows; ++row) sources_.push_back(row);
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
  for (KvCache<float>& cache : caches_) cache.clear();
  length_ = 0;
}

// Makes tables that reach as far as those of this length serve, so that few are made.
void StackDecoder::make_tables(std::int64_t length) {
  if (tables_.has(length)) return;
  std::int64_t least = length, most = capacity_;
  while (least < most) {
    const std::int64_t middle = least + (most - least + 1) / 2;
    if (positions_.table_key(middle) == positions_.table_key(length)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  tables_ = positions_.tables(least);
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
    const std::int64_t heads = layer.options.heads, kv_heads = layer.options.kv_heads,
                       head_dim = layer.options.head_dim;
    const View<float> all = layer.project(from, pass);
    const View<float> mixed = pass.memory.take<float>({from.size(0), heads * head_dim});
    const auto part = [&](std::int64_t first, std::int64_t of) {
      return by_row(all.narrow(1, first * head_dim, of * head_dim), rows(), of);
    };
    caches_[i].append(View<const float>(part(heads, kv_heads)),
                      View<const float>(part(heads + kv_heads, kv_heads)));
    AttentionOptions<float> options = layer.operator_options();
    options.threads = pass.threads;
    tables_.set(options, length, stack_.kind_of(i));
    caches_[i].attend(View<const float>(part(0, heads)), by_row(mixed, rows(), heads), options);
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
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    const AttentionLayerOptions& o = stack_.layers[i].self.options;
    KvCache<float> next = empty_cache(o, count, capacity_);
    if (length_ > 0) {
      const View<const float> keys = caches_[i].keys(), values = caches_[i].values();
      auto k = Tensor<float>::uninitialized({count, o.kv_heads, length_, o.head_dim});
      auto v = Tensor<float>::uninitialized(k.shape());
      const std::int64_t size = length_ * o.head_dim;
      for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t from = parents[static_cast<std::size_t>(row)];
        for (std::int64_t head = 0; head < o.kv_heads; ++head) {
          const std::int64_t to = (row * o.kv_heads + head) * size;
          std::copy_n(&keys(from, head, 0, 0), size, k.data() + to);
          std::copy_n(&values(from, head, 0, 0), size, v.data() + to);
        }
      }
      next.append(View<const float>(k.view()), View<const float>(v.view()));
    }
    caches_[i] = std::move(next);
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
