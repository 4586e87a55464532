// Up to 64 chosen queries of one head, on one thread, for attention_weights() and
// attention_statistics().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/call/arguments.h"
#include "attention/call/term_rows.h"
#include "kernels/attention/score_block.h"

namespace sextant::attention_detail {

// Whether a stage shows which pairs are hidden. Those before it show every pair of a sequence.
inline bool hides(Stage stage) { return stage == Stage::biased || stage == Stage::probabilities; }

class ScoreTask {
 public:
  // `queries` count in the sequence, ascend (repetitions allowed) and are borrowed.
  ScoreTask(const AttentionCall& call, const Sequence& sequence, std::int64_t head,
            std::span<const std::int64_t> queries, Stage stage);
  ScoreTask(const ScoreTask&) = delete;
  ScoreTask& operator=(const ScoreTask&) = delete;

  // Hands out tiles of the stage, keys counting in the sequence. log_sum_exp ([queries], float32)
  // and entropy ([kQueryBlock]) may be null, and are of probabilities only. Returns the queries
  // that the plain path has to do, because their weights are not finite.
  std::uint64_t run(kernels::ScoreTiles tiles, float* log_sum_exp, double* entropy);

 private:
  // Lanes with consecutive queries.
  struct LaneRun {
    std::int64_t lane, count;
    TermRows term_rows{};
  };
  static kernels::TileBias fill_tile(const void* context, std::int64_t first_lane,
                                     std::int64_t lanes, std::int64_t first_key, std::int64_t keys,
                                     float* tile);
  std::int64_t distance_count() const;

  HeadBiases biases_;
  std::span<const std::int64_t> queries_;
  kernels::ScoreBlock block_{};
  std::int32_t key_begin_[kernels::kQueryBlock], key_end_[kernels::kQueryBlock];
  float* rows_ = nullptr;         // [64][128]: biases of a tile before they become lanes
  float* term_memory_ = nullptr;  // scratch of terms
  float* distances_ = nullptr;    // biases by distance, from first_distance_ on
  std::int64_t first_distance_ = 0;
  std::vector<LaneRun> runs_{};
};

}  // namespace sextant::attention_detail
