// The mask of packed documents.
#include "sextant/schemes/indexed/document_mask.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schemes/definition.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct DocumentStarts {
  std::vector<std::int64_t> starts{0};
};

}  // namespace

template <>
inline constexpr auto kFields<DocumentMask> =
    std::tuple{field(&DocumentMask::causal, "causal", "causal mask within each document")};
template <>
inline constexpr auto kFields<DocumentStarts> =
    std::tuple{field(&DocumentStarts::starts, "starts", ListRange{at_least(0)},
                     "index in the sequence of the first token of each document, independent of "
                     "the position ids")
                   .unset("")
                   .with_condition("ascending from 0")};

namespace {

class DocumentMaskBias final : public ScoreTerm {
 public:
  DocumentMaskBias(std::span<const std::int64_t> documents, bool causal)
      : documents_(documents.begin(), documents.end()),
        run_ends_(documents.size()),
        causal_(causal) {
    std::int64_t end = size();
    for (std::int64_t token = size() - 1; token >= 0; --token) {
      if (token + 1 < size() && of(token + 1) != of(token)) end = token + 1;
      run_ends_[static_cast<std::size_t>(token)] = end;
    }
  }

  void check(const CallExtents& call) const override {
    schemes_detail::check_tokens("document_mask", "documents", size(), call);
  }
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t row = 0; row < tile.queries; ++row) {
      hide_in_row(tile.diagonal_key(row), tile.first_key, tile.keys,
                  tile.scores + row * tile.stride);
    }
  }

 private:
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(documents_.size()); }
  std::int64_t of(std::int64_t token) const noexcept {
    return documents_[static_cast<std::size_t>(token)];
  }

  // Piece by piece of documents.
  void hide_in_row(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                   float* scores) const noexcept {
    const auto hide = [&](std::int64_t begin, std::int64_t end) {
      std::fill(scores + (begin - first_key), scores + (end - first_key),
                schemes_detail::kHiddenScore);
    };
    const bool known = query >= 0 && query < size();
    const std::int64_t end = known ? causal_ ? query + 1 : size() : 0;
    const std::int64_t last = std::clamp(end, first_key, first_key + keys);
    for (std::int64_t key = first_key; key < last;) {
      const std::int64_t next = std::min(run_ends_[static_cast<std::size_t>(key)], last);
      if (of(key) != of(query)) hide(key, next);
      key = next;
    }
    hide(last, first_key + keys);
  }

  std::vector<std::int64_t> documents_, run_ends_;  // the token after each run
  bool causal_;
};

}  // namespace

std::shared_ptr<const ScoreTerm> document_mask(const DocumentMask& options,
                                               std::span<const std::int64_t> documents) {
  return std::make_shared<DocumentMaskBias>(documents, options.causal);
}

std::vector<std::int64_t> documents_from_starts(std::span<const std::int64_t> starts,
                                                std::int64_t length) {
  if (starts.empty() || starts.front() != 0 ||
      std::adjacent_find(starts.begin(), starts.end(), std::greater_equal<>()) != starts.end()) {
    throw Error("document_mask.starts", "must begin with 0 and ascend");
  }
  if (length < 0) {
    throw Error("document_mask.length", "must be >= 0, got " + std::to_string(length));
  }
  std::vector<std::int64_t> documents(static_cast<std::size_t>(length));
  for (std::size_t i = 1; i < starts.size() && starts[i] < length; ++i) {
    const std::int64_t end = i + 1 < starts.size() ? std::min(starts[i + 1], length) : length;
    std::fill(documents.begin() + starts[i], documents.begin() + end, static_cast<std::int64_t>(i));
  }
  return documents;
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, DocumentStarts, DocumentMask> kDefinition = {
    .name = "document_mask",
    .title = "document mask",
    .kind = SchemeKind::indexed_bias,
    .idea = "Keeps documents that are packed into one sequence from attending to one another.",
    .paper = "Krell et al. 2021, 2107.02027",
    .make = [](const auto& of) -> SchemeTable {
      return document_mask(of, documents_from_starts(of.starts, of.request.rows()));
    },
};

}  // namespace

constinit const Scheme kDocumentMask = scheme_of<kDocumentMask, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
