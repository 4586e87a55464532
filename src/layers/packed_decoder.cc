// Decoding of several sequences: packed products, and attention sequence by sequence.
#include "layers/packed_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/options/enum_names.h"
#include "core/threads/useful_threads.h"
#include "layers/forward_layers.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant::layers {
namespace {

constexpr std::size_t kMaxTables = 16;  // more are kept only while they are in use
constexpr double kAttentionWork = 2e5;  // multiply-adds that are worth a thread
constexpr double kCallWork = 2e4;       // the cost of a call, in multiply-adds

// Returns the number of threads that the attention of one layer keeps busy.
int attention_threads(std::span<const PackedDecoder::Part> parts, const AttentionLayerOptions& o,
                      int threads) {
  double work = 0;
  for (const auto& [sequence, count] : parts) {
    work += kCallWork + 2.0 * static_cast<double>(count * o.heads * o.head_dim) *
                            static_cast<double>(sequence->length + count);
  }
  return useful_threads(threads, work, kAttentionWork);
}

}  // namespace

DecodedSequence DecodedSequence::fork() const {
  DecodedSequence other{.length = length};
  for (const AnyKvCache& cache : caches) {
    other.caches.push_back(std::visit([](const auto& of) { return AnyKvCache(of.fork()); }, cache));
  }
  return other;
}

void DecodedSequence::clear() noexcept {
  for (AnyKvCache& cache : caches) {
    std::visit([](auto& of) { of.clear(); }, cache);
  }
  length = 0;
}

PackedDecoder::PackedDecoder(const TransformerStack<float>& stack,
                             const PositionModule<float>& positions, std::int64_t longest,
                             CacheType cache_type)
    : stack_(stack), positions_(positions), longest_(longest), cache_type_(cache_type) {
  check_named("decoder.cache_type", cache_type);
  tables_.push_back(positions.tables(longest));
}

DecodedSequence PackedDecoder::sequence() const {
  DecodedSequence made;
  for (const auto& layer : stack_.layers) {
    made.caches.push_back(empty_cache(layer.self.options, cache_type_, 1));
  }
  return made;
}

std::int64_t PackedDecoder::prepare(DecodedSequence& sequence, std::int64_t length) const {
  const bool same =
      sequence.length == 0 || positions_.table_key(length) == positions_.table_key(sequence.length);
  if (!same) sequence.clear();
  return sequence.length;
}

std::vector<const PositionTables<float>*> PackedDecoder::tables_for(std::span<const Part> parts) {
  const auto is_for = [](const Part& part) {
    return [length = part.sequence->length + part.count](const PositionTables<float>& tables) {
      return tables.has(length);
    };
  };
  if (tables_.size() > kMaxTables) {
    std::erase_if(tables_, [&](const PositionTables<float>& tables) {
      return std::ranges::none_of(parts, [&](const Part& part) { return is_for(part)(tables); });
    });
  }
  for (const Part& part : parts) {
    if (std::ranges::any_of(tables_, is_for(part))) continue;
    const std::int64_t length = part.sequence->length + part.count;
    tables_.push_back(positions_.tables(reach_of_tables(positions_, length, longest_)));
  }
  std::vector<const PositionTables<float>*> found;
  for (const Part& part : parts) found.push_back(&*std::ranges::find_if(tables_, is_for(part)));
  return found;
}

View<const float> PackedDecoder::read(std::span<const Part> parts, View<const float> x,
                                      Pass& pass) {
  const auto tables = tables_for(parts);
  const std::int64_t width = x.size(1);
  std::vector<std::int64_t> first;  // row of each part's first token
  std::int64_t rows = 0;
  for (const Part& part : parts) {
    first.push_back(rows);
    rows += part.count;
  }
  View<const float> from = x;
  if (positions_.has(SchemeKind::added)) {
    const View<float> placed = pass.memory.take<float>(x.shape());
    std::copy_n(x.data(), x.count(), placed.data());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int64_t begin = parts[p].sequence->length, end = begin + parts[p].count;
      for (std::int64_t i = begin; i < end; ++i) {
        tables[p]->add_row(i, end, placed.data() + (first[p] + i - begin) * width);
      }
    }
    from = placed;
  }

  using Saved = AttentionLayer<float>::Saved;
  const auto self = [&](std::size_t i, View<const float> in, View<float> to) {
    const AttentionLayer<float>& layer = stack_.layers[i].self;
    const AttentionLayerOptions& o = layer.options;
    const View<float> all = layer.project(in, pass);
    const View<float> mixed = pass.memory.take<float>({in.size(0), o.heads * o.head_dim});
    const int threads = attention_threads(parts, o, pass.threads);
    const bool apart = threads <= std::ssize(parts);  // else threads share each sequence
    const auto attend = [&](std::int64_t at) {
      const auto p = static_cast<std::size_t>(at);
      const auto [sequence, count] = parts[p];
      AttentionOptions<float> options = layer.operator_options();
      options.threads = apart ? 1 : pass.threads;
      tables[p]->set(options, sequence->length + count, stack_.kind_of(i));
      attend_cached(o, all.narrow(0, first[p], count), 1, options, sequence->caches[i],
                    mixed.narrow(0, first[p], count));
    };
    parallel_for(std::ssize(parts), apart ? threads : 1, attend);
    layer.out.forward(mixed, to, pass);
    return Saved{};
  };
  const auto cross = [](std::size_t, View<const float>, View<float>) { return Saved{}; };
  const View<const float> y = forward_layers(
      stack_, from, nullptr, self, cross, [](View<const float>) {}, pass);
  const View<float> last = pass.memory.take<float>({std::ssize(parts), width});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].sequence->length += parts[p].count;
    std::copy_n(y.data() + (first[p] + parts[p].count - 1) * width, width,
                last.data() + static_cast<std::int64_t>(p) * width);
  }
  return last;
}

}  // namespace sextant::layers
