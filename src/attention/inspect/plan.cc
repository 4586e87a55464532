// The plan of a call, from the numbers that the call itself uses.
#include "sextant/attention/plan.h"

#include <algorithm>
#include <concepts>
#include <cstddef>

#include "attention/call/arguments.h"
#include "attention/decode/decode.h"
#include "attention/forward/fused.h"
#include "attention/plain/each_row.h"
#include "attention/plain/plain.h"
#include "core/arrays/each_dtype.h"
#include "kernels/attention/block.h"
#include "kernels/decode/decode_block.h"
#include "sextant/kernels.h"

namespace sextant {
namespace {

constexpr const char* kDecodeKernel = "keys in lanes";

std::string in_bytes(std::int64_t bytes) {
  if (bytes < 1 << 20) return std::to_string((bytes + 1023) / 1024) + " KiB";
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

// The costs of arrays and options besides the products.
std::vector<std::string> notes_on(const attention_detail::AttentionCall& a, const AnyView& v,
                                  bool decode, std::int64_t rotated_floats) {
  std::vector<std::string> notes;
  const bool rounds = a.rounded != nullptr && !decode;
  const auto copied = [&](const char* name, const AnyView& view) {
    if (decode && view.stride(3) == 1) {
      if (view.size(3) % kernels::kQueryGroup == 0) return;
      notes.push_back(std::string(name) + " is copied one block of keys at a time: its " +
                      std::to_string(view.size(3)) + " channels are not a multiple of " +
                      std::to_string(kernels::kQueryGroup));
    } else if (view.stride(3) != 1 && view.size(3) > 1) {
      notes.push_back(std::string(name) +
                      " is copied one block of keys at a time: its channels are " +
                      std::to_string(view.stride(3)) + " elements apart");
    } else if (rounds) {
      if (view.dtype() == DType::bfloat16) return;
      notes.push_back(std::string(name) + " is rounded to bfloat16 one block of keys at a time");
    } else if (view.dtype() != DType::float32) {
      notes.push_back(std::string(name) + " is widened to float32 one block of keys at a time");
    }
  };
  copied("k", a.k.view());
  copied("v", v);
  if (a.rotation != nullptr) {
    notes.push_back(rotated_floats > 0 ? "k is rotated once, into a float32 copy of " +
                                             in_bytes(4 * rotated_floats)
                                       : std::string("k is rotated one block of keys at a time"));
  }
  if (a.has_mask()) {
    notes.push_back(
        "the mask is read for every pair: causal, window, key_lengths, segments and distance "
        "biases cost nothing where they can replace it");
  }
  if (a.has_terms()) {
    notes.push_back(
        a.uses_term_rows()
            ? "a term of the logits is computed for whole rows of scores, which are computed twice"
            : "the terms of the scores are computed for every pair, a tile at a time");
  }
  if (a.by_ids && a.bias != nullptr) {
    notes.push_back(
        "distances between position ids are computed for every pair; without ids, once per task");
  }
  if (a.dropout.is_on()) notes.push_back("dropout adds about a third at head_dim 64");
  if (a.numbers.softcap > 0) notes.push_back("softcap adds about a tenth at head_dim 64");
  return notes;
}

}  // namespace

template <AttentionElement T>
AttentionPlan attention_plan(View<const T> q, std::type_identity_t<View<const T>> k,
                             std::type_identity_t<View<const T>> v,
                             const AttentionOptions<std::type_identity_t<T>>& options) {
  const auto a = attention_detail::check_scores("attention_plan", q, k, options);
  attention_detail::check_v("attention_plan", a, v);
  if (attention_detail::takes_fused_path(a)) {
    const attention_detail::TaskGrid grid = attention_detail::task_grid(a, v);
    const bool decode = attention_detail::is_decode(a);
    const bool rounds = a.rounded != nullptr && !decode;
    const kernels::TileShape tile =
        decode   ? kernels::decode_tile()
        : rounds ? kernels::TileShape{a.rounded->tile_rows, a.rounded->tile_lanes}
                 : kernels::attention_tile();
    return {.kernel = decode ? kDecodeKernel : "queries in lanes",
            .arithmetic = rounds ? std::string(a.rounded->name) + " bfloat16" : "float32",
            .target = chosen_target(),
            .tile_rows = tile.rows,
            .tile_lanes = tile.lanes,
            .key_block = kernels::kKeyBlock,
            .query_block = grid.block_queries,
            .tasks = grid.tasks + grid.decode_tasks,
            .threads = grid.workers,
            .scratch_bytes = 4 * (grid.scratch_floats * grid.workers + grid.shared_floats),
            .notes = notes_on(a, v, decode, grid.shared_floats)};
  }
  const attention_detail::RowGrid grid = attention_detail::row_grid(
      a.batch * a.heads_q * a.q_len, a.k_len * (a.head_dim + v.size(3)), a.threads);
  AttentionPlan plan{
      .kernel = "plain rows",
      .arithmetic = "float64",
      .query_block = 1,
      .tasks = a.batch * a.heads_q * a.q_len,
      .threads = static_cast<int>(grid.workers),
      .scratch_bytes = grid.workers * 8 * attention_detail::plain_row_scratch(a, v.size(3))};
  plan.notes.emplace_back(
      !attention_detail::terms_come_in_float32(a) && !std::same_as<T, double>
          ? "a term of the scores is computed row by row in float64: about fifty times slower than "
            "float32 without one"
      : std::same_as<T, double>
          ? "float64 has no fast kernel: it is for reference, about fifty times slower than float32"
          : "more than 2^31 keys: the fast kernels number keys in 32 bits");
  return plan;
}

std::string AttentionPlan::explain() const {
  std::string text = "kernel   " + kernel + ", " + arithmetic + " arithmetic" +
                     (target.empty() ? "" : ", " + target) + "\n";
  const bool decode = kernel == kDecodeKernel;
  if (tile_rows > 0) {
    text += "tile     " + std::to_string(tile_rows) + " x " + std::to_string(tile_lanes) +
            " in registers, blocks of " + std::to_string(key_block) + " keys" +
            (decode ? "" : " x " + std::to_string(kernels::kQueryBlock) + " queries") + "\n";
  }
  text += "tasks    " + std::to_string(tasks) + " of up to " + std::to_string(query_block) +
          (query_block == 1 ? " query" : " queries") +
          (decode ? " of the heads of one key head\n" : " of one head\n");
  text += "threads  " + std::to_string(threads) + "\n";
  text += "scratch  " + in_bytes(scratch_bytes) + "\n";
  for (const std::string& note : notes) text += "note     " + note + "\n";
  return text;
}

#define SEXTANT_INSTANTIATE(T)                                                       \
  template AttentionPlan attention_plan(View<const T>, View<const T>, View<const T>, \
                                        const AttentionOptions<T>&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
