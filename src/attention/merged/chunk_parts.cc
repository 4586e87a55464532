// Ranges and position ids of the parts.
#include "attention/merged/chunk_parts.h"

#include <algorithm>
#include <string>
#include <variant>

#include "attention/call/input_arrays.h"
#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "core/numbers/max_position.h"
#include "sextant/core/options.h"

namespace sextant::attention_detail {
namespace {

void check_chunks(std::string_view function, const DualChunk& chunks,
                  const AttentionOptions<float>& options) {
  check_range(IntegerRange{2, kMaxPosition}, name_in(function, "chunk_size"), chunks.chunk_size);
  check_range(IntegerRange{1, chunks.chunk_size - 1}, name_in(function, "local_size"),
              chunks.local_size);
  check_merged_options(function, options);
  if (!std::holds_alternative<std::monostate>(options.mask)) {
    refuse(function, "mask", "must be absent: chunks have no masks");
  }
  if (options.dropout != 0) refuse(function, "dropout", "must be 0: chunks drop no weights");
}

}  // namespace

AttentionOptions<float> ChunkPart::options(const AttentionOptions<float>& all) const {
  AttentionOptions<float> of = all;
  of.query_offsets = {};
  of.key_lengths = {};  // the range has none of those after them
  of.causal = Causal::none;
  if (number == 0) {
    of.causal = Causal::at_offsets;
    of.query_offsets = offset;
    return of;
  }
  of.sinks = {};
  of.query_positions = query_ids;
  of.key_positions = key_ids;
  return of;
}

void for_each_chunk(std::string_view function, View<const float> q, View<const float> k,
                    const DualChunk& chunks, const AttentionOptions<float>& options,
                    const std::function<void(const ChunkPart (&)[kChunkParts])>& use) {
  check_array(function, "q", q, "[batch, heads, length, head_dim]");
  check_array(function, "k", k, "[batch, kv_heads, length, head_dim]");
  check_chunks(function, chunks, options);
  const std::vector<std::int64_t> offsets = merged_offsets(function, q, k, options);
  const std::string lengths = name_in(function, "key_lengths");
  if (!options.key_lengths.empty() && options.key_lengths.size() != offsets.size()) {
    throw Error(lengths, "must have " + std::to_string(offsets.size()) +
                             " entries, one for each batch row, got " +
                             std::to_string(options.key_lengths.size()));
  }
  for (const std::int64_t length : options.key_lengths) {
    check_range(IntegerRange{0, k.size(2)}, lengths, length);
  }
  const std::int64_t size = chunks.chunk_size - chunks.local_size, q_len = q.size(2);
  for (std::int64_t b = 0; b < q.size(0); ++b) {
    const auto row = static_cast<std::size_t>(b);
    std::int64_t k_len = k.size(2);
    if (!options.key_lengths.empty()) k_len = options.key_lengths[row];
    for (std::int64_t i = 0, next = 0; i < q_len; i = next) {
      const std::int64_t position = i + offsets[row];  // of query i
      const std::int64_t chunk = position < 0 ? -1 : position / size;
      next = std::min(q_len, (chunk + 1) * size - offsets[row]);
      const std::int64_t begin = chunk * size;
      ChunkPart parts[kChunkParts];
      for (int n = 0; n < kChunkParts; ++n) {
        ChunkPart& part = parts[n];
        part.number = n;
        part.batch = b;
        part.first_query = i;
        part.queries = next - i;
        part.offset = {position - begin};
        if (chunk < n) continue;
        part.first_key = n == 0 ? begin : n == 1 ? begin - size : 0;
        const std::int64_t end = n == 0 ? next + offsets[row] : n == 1 ? begin : begin - size;
        part.keys = std::max<std::int64_t>(0, std::min(end, k_len) - part.first_key);
        if (part.keys == 0) part.first_key = 0;
        if (n == 0) continue;
        part.query_ids = Tensor<std::int64_t>({1, part.queries});
        for (std::int64_t r = 0; r < part.queries; ++r) {
          const std::int64_t last = chunks.chunk_size - 1;
          part.query_ids(0, r) = n == 2 ? last : std::min(size + position - begin + r, last);
        }
        part.key_ids = Tensor<std::int64_t>({1, part.keys});
        for (std::int64_t j = 0; j < part.keys; ++j) part.key_ids(0, j) = j % size;
      }
      use(parts);
    }
  }
}

}  // namespace sextant::attention_detail
