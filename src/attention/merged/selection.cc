// The selection of selective attention.
#include "attention/merged/selection.h"

#include <algorithm>
#include <string>

#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "kernels/matmul/matmul.h"
#include "sextant/core/options.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

// Calls f(batch row, first key, end key) on several threads.
template <class F>
void each_piece(const Tensor<double>& sums, std::int64_t keys, int threads, const F& f) {
  constexpr std::int64_t kPiece = 512;
  const std::int64_t pieces = (keys + kPiece - 1) / kPiece;
  parallel_for(sums.size(0) * pieces, threads, [&](std::int64_t task) {
    const std::int64_t first = task % pieces * kPiece;
    f(task / pieces, first, std::min(keys, first + kPiece));
  });
}

}  // namespace

void check_selection(std::string_view function, View<const float> q, View<const float> k,
                     const SelectiveAttention& selective, const AttentionOptions<float>& options) {
  check_causal_text(function, q, k, options, "selective attention");
  if (q.size(1) == 0) refuse(function, "q", "must have heads, got " + q.shape().to_string());
  check_range(IntegerRange{0, q.size(1) - 1}, name_in(function, "selection_head"),
              selective.selection_head);
}

Selection::Selection(View<const float> q, View<const float> k, const SelectiveAttention& selective,
                     const AttentionOptions<float>& options)
    : options_(options),
      head_(selective.selection_head),
      key_head_(head_ / (q.size(1) / k.size(1))),
      scale_(options.scale.value_or(default_scale(options, q.size(3)))),
      q_(copy_of(q.narrow(1, head_, 1))),
      k_(copy_of(k.narrow(1, key_head_, 1))) {
  for (float& x : q_.span()) x = static_cast<float>(scale_ * static_cast<double>(x));
  if (options.rotation == nullptr) return;
  rotate<float, float>(q_, q_.view(), head_table(*options.rotation, head_), options.threads);
  rotate<float, float>(k_, k_.view(), head_table(options.rotation->for_keys(), key_head_),
                       options.threads);
}

// The rows of the call's positions, of one head.
RotationTable<float> Selection::head_table(const RotationTable<float>& table,
                                           std::int64_t head) const {
  const auto rows = [&](const Tensor<float>& all) {
    const View<const float> of_head =
        all.view().rank() == 3 ? all.view().select(0, head) : all.view();
    return copy_of(of_head.narrow(0, 0, q_.size(2)));
  };
  RotationTable<float> made = table.with(rows(table.cos), rows(table.sin));
  made.positions.clear();
  return made;
}

Tensor<float> Selection::scores(const SelectionBlock& block) const {
  const std::int64_t dim = q_.size(3), length = q_.size(2), keys = block.keys();
  auto z = Tensor<float>::uninitialized({q_.size(0), 1, block.rows, keys});
  for (std::int64_t b = 0; b < q_.size(0); ++b) {
    float* const c = z.data() + b * block.rows * keys;
    kernels::matmul({block.rows, keys, dim}, {q_.data() + (b * length + block.first) * dim, dim, 1},
                    kernels::MatrixRef{k_.data() + b * length * dim, 1, dim},
                    {.c = c, .c_row = keys}, options_.threads);
  }
  return z;
}

void Selection::take(const SelectionBlock& block, const Tensor<float>& z, Tensor<double>& taken,
                     Tensor<float>* mask) const {
  const auto piece = [&](std::int64_t b, std::int64_t first, std::int64_t end) {
    double* const sums = taken.data() + b * taken.size(1);
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t row = (b * block.rows + i) * block.keys();
      for (std::int64_t j = first; mask != nullptr && j < end; ++j) {
        mask->data()[row + j] = static_cast<float>(-sums[j]);
      }
      const float* const scores = z.data() + row;
      const std::int64_t diagonal = std::min(end, block.first + i);
      for (std::int64_t j = std::max<std::int64_t>(1, first); j < diagonal; ++j) {
        sums[j] += scores[j] <= 0 ? 0 : static_cast<double>(scores[j]);  // NaN stays
      }
    }
  };
  each_piece(taken, block.keys(), options_.threads, piece);
}

void Selection::untake(const SelectionBlock& block, const Tensor<float>& of_mask,
                       Tensor<double>& later, Tensor<float>& z) const {
  const auto piece = [&](std::int64_t b, std::int64_t first, std::int64_t end) {
    double* const sums = later.data() + b * later.size(1);
    for (std::int64_t i = block.rows - 1; i >= 0; --i) {
      const std::int64_t row = (b * block.rows + i) * block.keys();
      float* const scores = z.data() + row;
      const std::int64_t diagonal = block.first + i;
      for (std::int64_t j = first; j < end; ++j) {
        const bool takes = j > 0 && j < diagonal && !(scores[j] <= 0);
        scores[j] = takes ? static_cast<float>(sums[j]) : 0;
        sums[j] -= static_cast<double>(of_mask.data()[row + j]);
      }
    }
  };
  each_piece(later, block.keys(), options_.threads, piece);
}

void Selection::add_gradients(const SelectionBlock& block, const Tensor<float>& of_z) {
  if (dq_.count() == 0) {
    dq_ = Tensor<float>(q_.shape());
    dk_ = Tensor<float>(k_.shape());
  }
  const std::int64_t dim = q_.size(3), length = q_.size(2), keys = block.keys();
  for (std::int64_t b = 0; b < q_.size(0); ++b) {
    const float* const dz = of_z.data() + b * block.rows * keys;
    const std::int64_t queries = (b * length + block.first) * dim, first_key = b * length * dim;
    if (!all_finite(q_.data() + queries, block.rows * dim) ||
        !all_finite(k_.data() + first_key, keys * dim)) {
      for (std::int64_t i = 0; i < block.rows; ++i) {
        for (std::int64_t j = 0; j < keys; ++j) {
          const float d = dz[i * keys + j];
          if (d == 0) continue;
          for (std::int64_t c = 0; c < dim; ++c) {
            const std::int64_t of_query = queries + i * dim + c, of_key = first_key + j * dim + c;
            dq_.data()[of_query] += d * k_.data()[of_key];
            dk_.data()[of_key] += d * q_.data()[of_query];
          }
        }
      }
      continue;
    }
    kernels::matmul({block.rows, dim, keys}, {dz, keys, 1},
                    kernels::MatrixRef{k_.data() + first_key, dim, 1},
                    {.c = dq_.data() + queries, .c_row = dim}, options_.threads);
    kernels::matmul({keys, dim, block.rows}, {dz, 1, keys},
                    kernels::MatrixRef{q_.data() + queries, dim, 1},
                    {.c = dk_.data() + first_key, .c_row = dim, .add = true}, options_.threads);
  }
}

void Selection::finish(const View<float>& dq, const View<float>& dk) {
  const auto add = [&](Tensor<float>& of_rows, double factor, const RotationTable<float>* table,
                       std::int64_t head, const View<float>& to) {
    if (to.count() == 0) return;
    if (table != nullptr) {
      rotate_back<float, float>(of_rows, of_rows.view(), head_table(*table, head),
                                options_.threads);
    }
    each_row(of_rows.shape(), options_.threads, [&](std::int64_t b, std::int64_t, std::int64_t i) {
      for (std::int64_t c = 0; c < of_rows.size(3); ++c) {
        to(b, head, i, c) += static_cast<float>(factor * static_cast<double>(of_rows(b, 0, i, c)));
      }
    });
  };
  const RotationTable<float>* const table = options_.rotation;
  add(dq_, scale_, table, head_, dq);
  add(dk_, 1, table == nullptr ? nullptr : &table->for_keys(), key_head_, dk);
}

}  // namespace sextant::attention_detail
