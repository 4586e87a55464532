// Computes statistics of attention weights. The queries of a head are divided into a few runs,
// independent of the threads, each processed in order by one thread; the mass of a key is summed
// per run, then over the runs in order.
#include "sextant/attention/statistics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attention/call/arguments.h"
#include "attention/forward/fused.h"
#include "attention/inspect/score_task.h"
#include "attention/plain/each_row.h"
#include "attention/plain/row.h"
#include "core/arrays/each_dtype.h"
#include "core/threads/interruption.h"
#include "kernels/attention/score_tiles.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using kernels::kQueryBlock;

constexpr std::int64_t kMaxTop = 1024;
// More runs would be more threads for a single head, and more sums to keep.
constexpr std::int64_t kMaxRuns = 8;
constexpr std::int64_t kMinRunQueries = 256;
// Runs in a wave, per thread: enough to even out those of different length.
constexpr std::int64_t kWaveRuns = 8;

// Queries [begin, end) of a sequence, and which run of it they are.
struct Run {
  std::int64_t sequence, begin, end, number;
};

// The runs of one batch row; longest sequences have kMaxRuns.
std::vector<Run> runs_of(const attention_detail::AttentionCall& a) {
  std::vector<Run> runs;
  for (std::int64_t n = 0; n < a.segment_count(); ++n) {
    const std::int64_t length = a.segments.empty() ? a.q_len : a.sequence(n).q_len;
    const std::int64_t count = std::clamp<std::int64_t>(length / kMinRunQueries, 1, kMaxRuns);
    const std::int64_t blocks = (length + kQueryBlock - 1) / kQueryBlock;
    const std::int64_t run = (blocks + count - 1) / count * kQueryBlock;
    for (std::int64_t begin = 0; begin < length; begin += run) {
      runs.push_back({n, begin, std::min(begin + run, length), begin / run});
    }
  }
  return runs;
}

// One run of queries of one head, on one thread. `mass` is [k_len] or null.
class RunStatistics {
 public:
  RunStatistics(const attention_detail::AttentionCall& a, const Run& run, std::int64_t batch,
                std::int64_t head, WeightStatistics& all, double* mass)
      : a_(a),
        at_(a.sequence(batch * a.segment_count() + run.sequence)),
        head_(head),
        all_(all),
        mass_(mass) {
    const bool fused = attention_detail::takes_fused_path(a);
    for (std::int64_t query = run.begin; query < run.end; query += kQueryBlock) {
      start(query, std::min<std::int64_t>(kQueryBlock, run.end - query));
      const std::uint64_t nonfinite = fused ? fused_block() : ~std::uint64_t{0};
      for (std::int64_t i = 0; i < queries_; ++i) {
        if ((nonfinite >> i & 1) != 0) plain_row(i);
      }
    }
  }

 private:
  // Queries [first, first + count) are next.
  void start(std::int64_t first, std::int64_t count) {
    first_ = first;
    queries_ = count;
    row_ = (at_.batch * a_.heads_q + head_) * a_.q_len + at_.q_begin + first;
    top_keys_ = {};
    top_keys_.top = all_.top_keys.count() == 0 ? 0 : all_.top_keys.size(3);
    if (top_keys_.top == 0) return;
    top_keys_.keys = all_.top_keys.data() + row_ * top_keys_.top;
    top_keys_.weights = all_.top_weights.data() + row_ * top_keys_.top;
    std::fill_n(top_keys_.keys, count * top_keys_.top, -1);
    std::fill_n(top_keys_.weights, count * top_keys_.top, 0.0F);
  }

  static void take(void* context, std::int64_t first_key, std::int64_t keys, const float* tile) {
    auto& run = *static_cast<RunStatistics*>(context);
    const std::int64_t key = run.at_.k_begin + first_key;
    if (run.mass_ != nullptr) kernels::add_tile(tile, keys, run.mass_ + key);
    if (run.top_keys_.top > 0) kernels::keep_top_keys(tile, key, keys, run.top_keys_);
  }

  std::uint64_t fused_block() {
    std::int64_t queries[kQueryBlock];
    std::iota(queries, queries + queries_, first_);
    attention_detail::ScoreTask task(a_, at_, head_, {queries, static_cast<std::size_t>(queries_)},
                                     Stage::probabilities);
    const bool tiles = mass_ != nullptr || top_keys_.top > 0;
    const bool wants_entropy = all_.entropy.count() > 0;
    double entropy[kQueryBlock];
    const std::uint64_t nonfinite =
        task.run(tiles ? kernels::ScoreTiles{take, this} : kernels::ScoreTiles{},
                 all_.log_sum_exp.count() == 0 ? nullptr : all_.log_sum_exp.data() + row_,
                 wants_entropy ? entropy : nullptr);
    for (std::int64_t i = 0; wants_entropy && i < queries_; ++i) {
      all_.entropy.data()[row_ + i] = static_cast<float>(entropy[i]);
    }
    return nonfinite;
  }

  void plain_row(std::int64_t i) {
    memory_.resize(static_cast<std::size_t>(attention_detail::row_scratch_size(a_)));
    const auto scratch = attention_detail::row_scratch(memory_.data(), a_);
    const attention_detail::KeyRange range =
        attention_detail::biased_scores(a_, {at_, head_, first_ + i}, scratch);
    const double log_sum = attention_detail::softmax(scratch.scores + range.begin,
                                                     range.end - range.begin, a_.sink(head_));
    double entropy = 0;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const double weight = scratch.scores[j];
      if (weight == 0) continue;
      entropy -= weight * std::log(weight);
      if (mass_ != nullptr) mass_[at_.k_begin + j] += weight;
      if (top_keys_.top > 0) top_keys_.add(i, at_.k_begin + j, static_cast<float>(weight));
    }
    if (all_.entropy.count() > 0) all_.entropy.data()[row_ + i] = static_cast<float>(entropy);
    if (all_.log_sum_exp.count() > 0) {
      all_.log_sum_exp.data()[row_ + i] = static_cast<float>(log_sum);
    }
    if (std::isnan(entropy) && top_keys_.top > 0) {
      std::fill_n(top_keys_.weights + i * top_keys_.top, top_keys_.top,
                  std::numeric_limits<float>::quiet_NaN());
    }
  }

  const attention_detail::AttentionCall& a_;
  const attention_detail::Sequence at_;
  const std::int64_t head_;
  WeightStatistics& all_;
  double* mass_;
  std::int64_t first_ = 0, queries_ = 0;  // of the block at work, in the sequence
  std::int64_t row_ = 0;                  // its first row among those of all heads
  kernels::TopKeys top_keys_;
  std::vector<double> memory_;  // of a plain row
};

void fill(const attention_detail::AttentionCall& a, WeightStatistics& all) {
  const std::vector<Run> runs = runs_of(a);
  const auto run_count = static_cast<std::int64_t>(runs.size());
  const std::int64_t pairs = a.batch * a.heads_q;  // of a batch row and a head
  if (pairs == 0) return;
  const bool sums = all.mass.count() > 0;
  std::int64_t max_runs = 0;  // of any sequence
  for (const Run& run : runs) max_runs = std::max(max_runs, run.number + 1);
  const int threads = allowed_threads(a.threads);
  // Heads in waves, so that the sums of runs are for some heads at a time.
  const std::int64_t wave =
      sums ? std::min(pairs, 1 + kWaveRuns * threads / std::max<std::int64_t>(run_count, 1))
           : pairs;
  auto mass = Tensor<double>(Shape{sums ? wave : 0, max_runs, a.k_len});
  for (std::int64_t first = 0; first < pairs; first += wave) {
    const std::int64_t count = std::min(wave, pairs - first), tasks = count * run_count;
    if (first > 0) std::fill_n(mass.data(), mass.count(), 0.0);
    const std::int64_t work = a.q_len * a.k_len / std::max<std::int64_t>(run_count, 1) * a.head_dim;
    const std::int64_t workers = attention_detail::row_grid(tasks, work, threads).workers;
    std::atomic<std::int64_t> next{0};
    parallel_for(workers, static_cast<int>(workers), [&](std::int64_t) {
      for (std::int64_t task = next++; task < tasks; task = next++) {
        check_interruption();
        const std::int64_t at = task / run_count, pair = first + at;
        const Run& run = runs[static_cast<std::size_t>(task % run_count)];
        double* to = sums ? mass.data() + (at * max_runs + run.number) * a.k_len : nullptr;
        RunStatistics(a, run, pair / a.heads_q, pair % a.heads_q, all, to);
      }
    });
    for (std::int64_t at = 0; sums && at < count; ++at) {
      for (std::int64_t j = 0; j < a.k_len; ++j) {
        double sum = 0;
        for (std::int64_t r = 0; r < max_runs; ++r) sum += mass(at, r, j);
        all.mass.data()[(first + at) * a.k_len + j] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace

template <AttentionElement T>
WeightStatistics attention_statistics(View<const T> q, std::type_identity_t<View<const T>> k,
                                      const AttentionOptions<std::type_identity_t<T>>& options,
                                      const StatisticsOptions& wanted) {
  const auto a = attention_detail::check_scores("attention_statistics", q, k, options);
  attention_detail::check_no_dropout("attention_statistics", a,
                                     "the weights are those before dropout");
  if (wanted.top < 0 || wanted.top > kMaxTop) {
    throw Error("attention_statistics.top", "must be in 0 .. " + std::to_string(kMaxTop) +
                                                ", got " + std::to_string(wanted.top));
  }
  WeightStatistics all;
  const Shape rows{a.batch, a.heads_q, a.q_len};
  if (wanted.entropy) all.entropy = Tensor<float>::uninitialized(rows);
  if (wanted.log_sum_exp) all.log_sum_exp = Tensor<float>::uninitialized(rows);
  if (wanted.top > 0) {
    const Shape lists{a.batch, a.heads_q, a.q_len, wanted.top};
    all.top_keys = Tensor<std::int64_t>::uninitialized(lists);
    all.top_weights = Tensor<float>::uninitialized(lists);
  }
  if (wanted.mass) all.mass = Tensor<float>::uninitialized(Shape{a.batch, a.heads_q, a.k_len});
  fill(a, all);
  return all;
}

#define SEXTANT_INSTANTIATE(T)                    \
  template WeightStatistics attention_statistics( \
      View<const T>, View<const T>, const AttentionOptions<T>&, const StatisticsOptions&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
