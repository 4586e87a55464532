// The mask of packed documents.
#include "sextant/schemes/indexed/document_mask.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schemes/definition.h"
#include "schemes/indexed/mask_term.h"
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

class Documents {
 public:
  Documents(std::span<const std::int64_t> documents, bool causal)
      : documents_(documents.begin(), documents.end()),
        run_ends_(documents.size()),
        causal_(causal) {
    std::int64_t end = size();
    for (std::int64_t token = size() - 1; token >= 0; --token) {
      if (token + 1 < size() && of(token + 1) != of(token)) end = token + 1;
      run_ends_[static_cast<std::size_t>(token)] = end;
    }
  }

  void check(const CallExtents& call) const {
    schemes_detail::check_tokens("document_mask", "documents", size(), call);
  }
  // Run by run of tokens of one document.
  template <class Hide>
  void each_hidden(const ScoreRect& rect, std::int64_t row_stride,
                   const Hide& hide) const noexcept {
    const std::int64_t rect_end = rect.first_key + rect.keys;
    for (std::int64_t row = 0; row < rect.queries; ++row) {
      const std::int64_t query = rect.diagonal_key(row), at = row * row_stride - rect.first_key;
      const bool known = query >= 0 && query < size();
      const std::int64_t end = known ? causal_ ? query + 1 : size() : 0;
      const std::int64_t last = std::clamp(end, rect.first_key, rect_end);
      for (std::int64_t key = rect.first_key; key < last;) {
        const std::int64_t next = std::min(run_ends_[static_cast<std::size_t>(key)], last);
        if (of(key) != of(query)) hide(at + key, next - key);
        key = next;
      }
      hide(at + last, rect_end - last);
    }
  }

 private:
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(documents_.size()); }
  std::int64_t of(std::int64_t token) const noexcept {
    return documents_[static_cast<std::size_t>(token)];
  }

  std::vector<std::int64_t> documents_, run_ends_;  // the token after each run
  bool causal_;
};

}  // namespace

std::shared_ptr<const ScoreTerm> document_mask(const DocumentMask& options,
                                               std::span<const std::int64_t> documents) {
  return schemes_detail::mask_term(Documents(documents, options.causal));
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
