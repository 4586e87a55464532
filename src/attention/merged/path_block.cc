// The matrices of a block of PaTH attention, and their gradients.
#include "attention/merged/path_block.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sextant::attention_detail {
namespace {

constexpr std::int64_t kInverted = 16;  // rows that are inverted one by one

PathMatrix whole(const Tensor<float>& x) {
  return {x.data(), x.size(0), x.size(1), static_cast<std::ptrdiff_t>(x.size(1))};
}
kernels::MatmulResult into(Tensor<float>& x, bool add = false) {
  return {.c = x.data(), .c_row = static_cast<std::ptrdiff_t>(x.size(1)), .add = add};
}
kernels::MatmulResult onto(Tensor<float>& x) { return into(x, true); }

Tensor<float> product(const PathMatrix& a, const PathMatrix& b) {
  auto result = Tensor<float>::uninitialized({a.rows, b.columns});
  multiply(a, b, into(result));
  return result;
}
void copy(const PathMatrix& x, float* to) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const float* const row = x.data + i * x.row_stride;
    for (std::int64_t j = 0; j < x.columns; ++j) *to++ = row[j * x.column_stride];
  }
}
Tensor<float> copied(const PathMatrix& x) {
  auto result = Tensor<float>::uninitialized({x.rows, x.columns});
  copy(x, result.data());
  return result;
}

// Zeros from the diagonal on, or after it.
void keep_below_diagonal(Tensor<float>& x) {
  for (std::int64_t i = 0; i < x.size(0); ++i) std::fill(&x(i, i), &x(i, 0) + x.size(1), 0.0F);
}
void keep_lower(Tensor<float>& x) {
  for (std::int64_t i = 0; i < x.size(0); ++i) std::fill(&x(i, i) + 1, &x(i, 0) + x.size(1), 0.0F);
}

// Inverts I - x, x below the diagonal, for rows and columns [first, first + rows) of a matrix, into
// `inverse`, which begins with zeros. Halves are inverted each: N_21 = N_22 X_21 N_11.
void invert(const Tensor<float>& x, std::int64_t first, std::int64_t rows, Tensor<float>& inverse) {
  if (rows <= kInverted) {
    for (std::int64_t a = first; a < first + rows; ++a) {
      for (std::int64_t b = first; b < a; ++b) {
        const float factor = x(a, b);
        const float* const from = &inverse(b, 0);
        float* const to = &inverse(a, 0);
        for (std::int64_t c = first; c <= b; ++c) to[c] += factor * from[c];
      }
      inverse(a, a) = 1;
    }
    return;
  }
  const std::int64_t half = rows / 2, middle = first + half, rest = rows - half;
  invert(x, first, half, inverse);
  invert(x, middle, rest, inverse);
  const std::ptrdiff_t row = x.size(1);
  const Tensor<float> left =
      product({&inverse(middle, middle), rest, rest, row}, {&x(middle, first), rest, half, row});
  multiply(whole(left), {&inverse(first, first), half, half, row},
           {.c = &inverse(middle, first), .c_row = row});
}

// -A, the part of -B W W^T below the diagonal.
Tensor<float> negative_products(const Tensor<float>& products, const float* beta) {
  Tensor<float> x = products.clone();
  for (std::int64_t a = 0; a < x.size(0); ++a) {
    float* const row = &x(a, 0);
    for (std::int64_t b = 0; b < a; ++b) row[b] *= -beta[a];
  }
  keep_below_diagonal(x);
  return x;
}

// Zeros from the first row with infinities or NaN on, or from `end`; returns which row that is.
// Products with zeros would bring these numbers to rows before.
std::int64_t keep_finite(Tensor<float>& x, std::int64_t end) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::int64_t row = 0;
  for (bool is_finite = true; row < end; ++row) {
    for (std::int64_t c = 0; c < x.size(1); ++c) {
      is_finite &= (std::bit_cast<std::uint32_t>(x(row, c)) & kExponent) != kExponent;
    }
    if (!is_finite) break;
  }
  std::fill(x.data() + row * x.size(1), x.data() + x.count(), 0.0F);
  return row;
}

// -N B
Tensor<float> factor_of(const Tensor<float>& inverse, const float* beta) {
  auto factor = Tensor<float>::uninitialized(inverse.shape());
  for (std::int64_t a = 0; a < inverse.size(0); ++a) {
    const float* const row = &inverse(a, 0);
    float* const to = &factor(a, 0);
    for (std::int64_t b = 0; b < inverse.size(0); ++b) to[b] = -row[b] * beta[b];
  }
  return factor;
}

}  // namespace

void multiply(const PathMatrix& a, const PathMatrix& b, const kernels::MatmulResult& result) {
  kernels::matmul({a.rows, b.columns, a.columns}, {a.data, a.row_stride, a.column_stride},
                  kernels::MatrixRef{b.data, b.row_stride, b.column_stride}, result, 1);
}

PathBlock::PathBlock(const PathTokens& tokens)
    : tokens_(tokens),
      end_(tokens.w.rows),
      products_(product(tokens.w, tokens.w.transposed())),
      n_({end_, end_}),
      m_(product(tokens.w, tokens.k.transposed())),
      moved_(copied(tokens.k)) {
  Tensor<float> x = negative_products(products_, tokens.beta);
  keep_below_diagonal(m_);
  end_ = keep_finite(m_, keep_finite(x, end_));
  invert(x, 0, x.size(0), n_);
  t_ = factor_of(n_, tokens.beta);
  end_ = keep_finite(t_, end_);
  u_ = product(whole(t_), whole(m_));
  r_ = product(whole(t_), tokens.w);
  end_ = keep_finite(r_, keep_finite(u_, end_));
  multiply(whole(u_).transposed(), tokens.w, onto(moved_));
}

void PathBlock::attend(const PathMatrix& q, double scale, float* scores, float* carried) const {
  Tensor<float> x = product(q, tokens_.w.transposed());
  keep_lower(x);
  kernels::MatmulResult result{.c = scores, .c_row = kPathRows};
  multiply(q, tokens_.k.transposed(), result);
  result.add = true;
  multiply(whole(x), whole(u_), result);
  for (std::int64_t i = 0; i < q.rows; ++i) {
    float* const row = scores + i * kPathRows;
    for (std::int64_t j = 0; j < q.rows; ++j) row[j] *= static_cast<float>(scale);
  }
  copy(q, carried);
  multiply(whole(x), whole(r_), {.c = carried, .c_row = q.columns, .add = true});
}

PathBlockGradients::PathBlockGradients(const PathBlock& block, Tensor<float> dmoved,
                                       Tensor<float> dreflected)
    : block_(block),
      dmoved_(std::move(dmoved)),
      dr_(std::move(dreflected)),
      du_(product(block.tokens_.w, whole(dmoved_).transposed())),
      dk_(dmoved_.clone()),
      dw_(product(whole(block.u_), whole(dmoved_))) {}

void PathBlockGradients::add_queries(const PathMatrix& q, const PathMatrix& dscores,
                                     const PathMatrix& dcarried, Tensor<float>& dq) {
  const PathTokens& tokens = block_.tokens_;
  Tensor<float> x = product(q, tokens.w.transposed());
  keep_lower(x);
  Tensor<float> dx = product(dscores, whole(block_.u_).transposed());
  multiply(dcarried, whole(block_.r_).transposed(), onto(dx));
  keep_lower(dx);
  dq = copied(dcarried);
  multiply(dscores, tokens.k, onto(dq));
  multiply(whole(dx), tokens.w, onto(dq));
  multiply(dscores.transposed(), q, onto(dk_));
  multiply(whole(x).transposed(), dscores, onto(du_));
  multiply(whole(x).transposed(), dcarried, onto(dr_));
  multiply(whole(dx).transposed(), q, onto(dw_));
}

void PathBlockGradients::finish(Tensor<float>& dk, Tensor<float>& dw, Tensor<float>& dbeta) {
  const PathTokens& tokens = block_.tokens_;
  const PathMatrix t = whole(block_.t_), n = whole(block_.n_);
  const std::int64_t rows = t.rows;
  Tensor<float> dt = product(whole(du_), whole(block_.m_).transposed());
  multiply(whole(dr_), tokens.w.transposed(), onto(dt));
  Tensor<float> dm = product(t.transposed(), whole(du_));
  keep_below_diagonal(dm);
  multiply(t.transposed(), whole(dr_), onto(dw_));
  multiply(whole(dm), tokens.k, onto(dw_));
  multiply(whole(dm).transposed(), tokens.w, onto(dk_));

  // Through T = -N B, N = (I + A)^-1: dA = N^T dT B N^T = -N^T dT T^T below the diagonal. Here it
  // has the other sign.
  const Tensor<float> half = product(n.transposed(), whole(dt));
  Tensor<float> da = product(whole(half), t.transposed());
  for (std::int64_t a = 0; a < rows; ++a) {
    double sum = 0;
    for (std::int64_t b = a; b < rows; ++b) {
      sum -= static_cast<double>(block_.n_(b, a)) * static_cast<double>(dt(b, a));
    }
    for (std::int64_t b = 0; b < a; ++b) {
      sum -= static_cast<double>(da(a, b)) * static_cast<double>(block_.products_(a, b));
      da(a, b) *= -tokens.beta[a];
    }
    dbeta(a) = static_cast<float>(sum);
  }
  keep_below_diagonal(da);
  multiply(whole(da), tokens.w, onto(dw_));
  multiply(whole(da).transposed(), tokens.w, onto(dw_));
  for (std::int64_t i = 0; i < dw.count(); ++i) dw.data()[i] += dw_.data()[i];
  dk = std::move(dk_);
}

}  // namespace sextant::attention_detail
