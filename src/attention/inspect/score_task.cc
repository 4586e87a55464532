// Up to 64 chosen queries of one head, on one thread.
#include "attention/inspect/score_task.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "attention/forward/query_block.h"
#include "core/threads/scratch_lease.h"
#include "kernels/attention/score_tiles.h"

namespace sextant::attention_detail {

using kernels::kQueryBlock, kernels::kKeyBlock;

ScoreTask::ScoreTask(const AttentionCall& a, const Sequence& sequence, std::int64_t head,
                     std::span<const std::int64_t> queries, Stage stage)
    : biases_{a, sequence, head}, queries_(queries) {
  const bool softmax = stage == Stage::probabilities;
  // The softmax is computed in powers of two; stages before it are in natural units.
  const double factor = softmax ? kernels::kLog2E : 1;
  block_.rows = queries.data();
  block_.probabilities = softmax;
  kernels::AttentionBlock& b = block_.scores;
  describe_rows(a, sequence, head, 0, factor, b);
  if (stage == Stage::scores) b.numbers = b.numbers.without_steps();
  b.v = {{nullptr, 0, 1, kernels::Storage::float32}};
  b.queries = static_cast<std::int64_t>(queries.size());
  b.key_begin = key_begin_;
  b.key_end = key_end_;
  for (std::int64_t i = 0; i < b.queries; ++i) {
    const KeyRange range = hides(stage) ? a.visible(sequence, queries[static_cast<std::size_t>(i)])
                                        : KeyRange{0, sequence.k_len};
    key_begin_[i] = static_cast<std::int32_t>(range.begin);
    key_end_[i] = static_cast<std::int32_t>(range.end);
  }
  if (!hides(stage) || (!biases_.by_pair() && !biases_.by_distance())) return;
  b.tiles = {fill_tile, this};
  for (std::int64_t lane = 0; lane < b.queries; ++lane) {
    const auto query = [&](std::int64_t n) { return queries[static_cast<std::size_t>(n)]; };
    if (lane == 0 || query(lane) != query(lane - 1) + 1) runs_.push_back({lane, 0});
    ++runs_.back().count;
  }
}

std::int64_t ScoreTask::distance_count() const {
  if (block_.scores.tiles.fill == nullptr || !biases_.by_distance()) return 0;
  const std::int64_t first_key = key_begin_[0] / kKeyBlock * kKeyBlock;
  return std::max<std::int64_t>(key_end_[queries_.size() - 1] - first_key, 0) + queries_.back() -
         queries_.front();
}

std::uint64_t ScoreTask::run(kernels::ScoreTiles tiles, float* log_sum_exp, double* entropy) {
  block_.tiles = tiles;
  block_.scores.log_sum_exp = log_sum_exp;
  block_.scores.log_sum_exp_stride = 1;
  block_.entropy = entropy;
  const std::int64_t distances = distance_count();
  const AttentionCall& a = biases_.call;
  const DividedLease scratch([&](ScratchDivider<float>& arrays) {
    const bool tiles_of_biases = block_.scores.tiles.fill != nullptr;
    return std::array{arrays.take(kernels::score_block_scratch(block_)),
                      arrays.take_if(tiles_of_biases, kQueryBlock * kKeyBlock),
                      arrays.take_if(distances > 0, distances), arrays.take(term_floats(a))};
  });
  const auto& [kernel, rows, distance_floats, term_memory] = scratch.arrays;
  rows_ = rows;
  distances_ = distance_floats;
  term_memory_ = term_memory;
  if (distances > 0) {
    first_distance_ =
        key_begin_[0] / kKeyBlock * kKeyBlock - a.diagonal_key(biases_.sequence, queries_.back());
    // In the units of the forward kernel, and rounded as there, where nothing else will be added.
    const bool in_log2 = block_.probabilities && !biases_.by_pair();
    biases_.fill_distances(first_distance_, distances, in_log2 ? kernels::kLog2E : 1, distances_);
  }
  if (!a.uses_term_rows()) return kernels::score_block(block_, kernel);
  // Runs share all arrays but those of their numbers, and the keys.
  const KeyRange keys{key_begin_[0], std::max(key_begin_[0], key_end_[queries_.size() - 1])};
  const std::int64_t count = keys.end - keys.begin;
  std::int64_t most = 0;
  for (const LaneRun& run : runs_) most = std::max(most, run.count);
  const std::int64_t row = TermRows::stride_of(count);
  const DividedLease term_scratch([&](ScratchDivider<float>& arrays) {
    return std::tuple(TermRows::divide(arrays, a, most, count), arrays.take(kQueryBlock * row),
                      arrays.take(TermRows::key_floats(a, count)));
  });
  auto [arrays, numbers, key_memory] = term_scratch.arrays;
  const TermRows::Keys loaded = TermRows::load_keys(biases_, keys, key_memory);
  for (LaneRun& run : runs_) {
    arrays.numbers = numbers + run.lane * row;
    run.term_rows.compute(biases_, queries_[static_cast<std::size_t>(run.lane)], run.count,
                          distances_, first_distance_, loaded, arrays, term_memory_);
  }
  return kernels::score_block(block_, kernel);
}

kernels::TileBias ScoreTask::fill_tile(const void* context, std::int64_t, std::int64_t lanes,
                                       std::int64_t first_key, std::int64_t keys, float* tile) {
  const auto& task = *static_cast<const ScoreTask*>(context);
  const bool by_pair = task.biases_.by_pair();
  if (lanes < kQueryBlock) std::fill_n(tile, keys * kQueryBlock, 0.0F);
  for (const LaneRun& run : task.runs_) {
    const std::int64_t query = task.queries_[static_cast<std::size_t>(run.lane)];
    float* row = task.rows_ + run.lane * kKeyBlock;
    if (by_pair) {
      HeadBiases biases = task.biases_;
      if (biases.call.uses_term_rows()) biases.term_rows = &run.term_rows;
      biases.fill_rows(query, run.count, first_key, keys, task.distances_, task.first_distance_,
                       row, kKeyBlock, task.term_memory_);
      continue;
    }
    for (std::int64_t i = 0; i < run.count; ++i, row += kKeyBlock) {
      const std::int64_t diagonal =
          task.biases_.call.diagonal_key(task.biases_.sequence, query + i);
      std::copy_n(task.distances_ + (first_key - diagonal - task.first_distance_), keys, row);
    }
  }
  if (by_pair && task.block_.probabilities) {
    kernels::biases_to_lanes(task.rows_, kKeyBlock, lanes, keys, tile);
  } else {
    kernels::transpose_tile(task.rows_, kKeyBlock, lanes, keys, tile, kQueryBlock);
  }
  return kernels::TileBias::numbers;
}

}  // namespace sextant::attention_detail
