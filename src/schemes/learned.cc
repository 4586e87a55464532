// Learned absolute positions: rows of a trained table, looked up by position id. Nothing is
// computed, nothing is guessed beyond the last row.
#include "sextant/schemes/learned.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"

namespace sextant {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

}  // namespace

LearnedPositions LearnedPositions::load(const std::string& path, std::int64_t offset) {
  const Array file = load_npy(path);
  if (!is_float(file.dtype)) {
    throw Error(
        path,
        "must hold float16, bfloat16, float32 or float64, got " +
            std::string(dtype_name(file.dtype)) +
            (file.dtype == DType::uint16 ? " (bfloat16 bits? widen them to float32 first)" : ""));
  }
  return LearnedPositions(file.to<float>(), offset);
}

LearnedPositions::LearnedPositions(Tensor<float> table, std::int64_t offset)
    : table_(std::move(table)), offset_(offset) {
  if (table_.rank() != 2 || table_.count() == 0) {
    throw Error("learned.table", "must be [rows, width] with at least one of each, got shape " +
                                     table_.shape().to_string());
  }
  if (offset_ < 0 || offset_ >= table_.size(0)) {
    throw Error("learned.offset", "must be 0 .. " + std::to_string(table_.size(0) - 1) +
                                      " for a table of " + std::to_string(table_.size(0)) +
                                      " rows, got " + std::to_string(offset_));
  }
  const std::span<const float> values = std::as_const(table_).span();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    const std::int64_t index = bad - values.begin();
    throw Error("learned.table", "must be finite in float32, which row " +
                                     std::to_string(index / width()) + ", column " +
                                     std::to_string(index % width()) + " is not");
  }
}

Tensor<float> LearnedPositions::rows(std::span<const std::int64_t> positions) const {
  Tensor<float> out =
      Tensor<float>::uninitialized({static_cast<std::int64_t>(positions.size()), width()});
  float* to = out.data();
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= length()) {
      throw Error("learned.positions", "must be 0 .. " + std::to_string(length() - 1) +
                                           ", the positions of this table, got " +
                                           std::to_string(position));
    }
    to = std::copy_n(table_.data() + (position + offset_) * width(), width(), to);
  }
  return out;
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"file", "", "a .npy file [rows, width]", "the trained table"},
    {"offset", "0", "0 .. rows - 1",
     "the row of position 0: fairseq, RoBERTa, BART and OPT keep two rows, offset 2"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kLearned, request);
  const LearnedPositions learned =
      LearnedPositions::load(given.text("file"), given.integer("offset"));
  if (learned.width() != request.width) {
    throw Error("learned.file", "must hold a table of width " + std::to_string(request.width) +
                                    ", got " + std::to_string(learned.width()));
  }
  const Tensor<float> rows = learned.rows(request.positions);
  Tensor<double> out = Tensor<double>::uninitialized(rows.shape());
  std::copy_n(rows.data(), rows.count(), out.data());
  return out;
}

}  // namespace

constinit const Scheme kLearned = {
    .name = "learned",
    .kind = SchemeKind::added,
    .idea = "Adds one trained vector per position; there is nothing beyond the last one.",
    .paper = "Gehring et al. 2017, 1705.03122; BERT 1810.04805",
    .parameters = kParameters,
    .make = make,
};

}  // namespace descriptors
}  // namespace sextant
