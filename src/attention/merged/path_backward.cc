// The gradients of PaTH attention: groups of queries go back over the blocks of keys, from the
// oldest to the newest.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/backward/arguments.h"
#include "attention/call/input_arrays.h"
#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "attention/merged/path_call.h"
#include "core/threads/useful_threads.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using attention_detail::add_rows;
using attention_detail::each_row;
using attention_detail::kPathRows;
using attention_detail::MergedRows;
using attention_detail::multiply;
using attention_detail::PathBlock;
using attention_detail::PathBlockGradients;
using attention_detail::PathCall;
using attention_detail::PathMatrix;
using attention_detail::PathSpan;

constexpr std::string_view kPathBackward = "path_attention_backward";

void check_path_gradients(View<const float> q, View<const float> k, View<const float> v,
                          View<const float> out, View<const float> dout,
                          const AttentionGradients<float>& gradients,
                          const PathGradients& path_gradients, const PathAttention& path,
                          const AttentionOptions<float>& options) {
  attention_detail::check_path(kPathBackward, q, k, path, options);
  attention_detail::check_only_rows(kPathBackward, gradients);
  attention_detail::check_backward(kPathBackward, q, k, v, out, dout,
                                   attention_detail::WantedGradients(gradients), options, {});
  CallArrays arrays = attention_detail::input_arrays(kPathBackward, q, k, v, options);
  arrays.add_input("out", out);
  arrays.add_input("dout", dout);
  arrays.add_input("w", path.w);
  arrays.add_input("beta", path.beta);
  arrays.add_output("gradients.q", gradients.q);
  arrays.add_output("gradients.k", gradients.k);
  arrays.add_output("gradients.v", gradients.v);
  arrays.add_output("gradients.sinks", gradients.sinks);
  const auto check = [&](std::string_view name, const View<float>& gradient, const Shape& shape) {
    if (!attention_detail::is_given(gradient)) return;
    attention_detail::check_shape(kPathBackward, name, gradient, shape);
    arrays.add_output(name, gradient);
  };
  check("path_gradients.w", path_gradients.w, path.w.shape());
  check("path_gradients.beta", path_gradients.beta, path.beta.shape());
}

class PathBackward {
 public:
  PathBackward(PathCall& call, View<const float> v, View<const float> out, View<const float> dout,
               const AttentionGradients<float>& gradients)
      : call_(call),
        v_(v),
        out_(out),
        dout_(dout),
        gradients_(gradients),
        merged_(call, 0),
        shared_(
            Tensor<float>::uninitialized({call.batch, call.heads, call.group_rows(), v.size(3)})),
        dscores_(call.scores.shape()),
        dcarried_(call.q.shape()),
        dmoved_(call.k.shape()),
        dreflected_(call.k.shape()),
        dw_(call.k.shape()) {}

  // The queries of the group that begins with a block.
  void add_group(std::int64_t first_block) {
    group_ = call_.group(first_block);
    const std::int64_t last = (group_.end() - 1) / kPathRows;
    merged_.begin();
    std::vector<Part> own(static_cast<std::size_t>(last + 1)), parts(own.size());
    for (std::int64_t n = last; n >= 0; --n) {
      const PathSpan keys = call_.block(n), later = call_.after(group_, n);
      if (n >= first_block) {
        begin(own[static_cast<std::size_t>(n)], keys, call_.own_options(keys),
              call_.zeros(call_.heads, keys), call_.zeros(call_.kv_heads, keys));
      }
      if (later.count == 0) continue;
      const View<float> queries = later.of(call_.carried.view());
      Part& part = parts[static_cast<std::size_t>(n)];
      part.queries = copy_of(queries);
      begin(part, later, call_.part_options(), part.queries,
            keys.of(std::as_const(call_.moved).view()));
      if (n > 0) call_.carry(n, queries);
    }
    Tensor<float> dqueries;  // of those after the block, as they are after it
    for (std::int64_t n = 0; n <= last; ++n) {
      const PathSpan keys = call_.block(n), later = call_.after(group_, n);
      if (n >= first_block) add_own(own[static_cast<std::size_t>(n)], keys);
      Part& part = parts[static_cast<std::size_t>(n)];
      if (n > 0) leave_block(n, later, dqueries);
      if (later.count == 0) continue;
      if (n == 0) dqueries = Tensor<float>(part.queries.shape());
      if (n > 0) uncarry(n, part.queries, dqueries);
      add_part(part, keys, later, dqueries);
      part = {};
    }
  }

  void finish(const PathGradients& path_gradients) {
    const std::int64_t blocks = call_.blocks(), group = call_.heads / call_.kv_heads;
    parallel_for(call_.batch * call_.kv_heads * blocks, call_.threads, [&](std::int64_t task) {
      const PathSpan span = call_.block(task % blocks);
      const std::int64_t b = task / blocks / call_.kv_heads, head = task / blocks % call_.kv_heads;
      const auto tensor = [&](const Tensor<float>& x) {
        auto rows = Tensor<float>::uninitialized({span.count, call_.dim});
        std::copy_n(&x(b, head, span.first, 0), span.count * call_.dim, rows.data());
        return rows;
      };
      const PathBlock block(call_.tokens(b, head, span));
      PathBlockGradients of_block(block, tensor(dmoved_), tensor(dreflected_));
      Tensor<float> dq, dk, dw = tensor(dw_), dbeta({span.count});
      const auto store = [&](const Tensor<float>& rows, const View<float>& to, std::int64_t h) {
        if (to.count() == 0) return;
        for (std::int64_t i = 0; i < span.count; ++i) {
          for (std::int64_t c = 0; c < call_.dim; ++c) to(b, h, span.first + i, c) = rows(i, c);
        }
      };
      for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
        PathMatrix dscores = PathCall::rows(dscores_.view(), b, h, span);
        dscores.columns = span.count;
        of_block.add_queries(PathCall::rows(call_.q, b, h, span), dscores,
                             PathCall::rows(dcarried_.view(), b, h, span), dq);
        store(dq, gradients_.q, h);
      }
      of_block.finish(dk, dw, dbeta);
      store(dk, gradients_.k, head);
      store(dw, path_gradients.w, head);
      for (std::int64_t i = 0; i < span.count && path_gradients.beta.count() > 0; ++i) {
        path_gradients.beta(b, head, span.first + i) = dbeta(i);
      }
    });
  }

 private:
  // A call of attention(): its queries, where others still carry them, and log-sum-exps.
  struct Part {
    Tensor<float> queries, logs;
  };

  // Computes the log-sum-exps of a part; no value is read.
  void begin(Part& part, const PathSpan& rows, const AttentionOptions<float>& options,
             View<const float> queries, View<const float> keys) {
    part.logs = Tensor<float>::uninitialized({call_.batch, call_.heads, rows.count});
    const Tensor<float> no_values({call_.batch, call_.kv_heads, keys.size(2), 0});
    Tensor<float> no_out({call_.batch, call_.heads, rows.count, 0});
    attention<float>(queries, keys, no_values, no_out.view(), options, part.logs.view());
    merged_.add(rows.first - group_.first, no_out, part.logs, call_.threads);
  }

  // The gradient of the output times the share of a part in each row.
  View<const float> shared(const Part& part, const PathSpan& rows) {
    const View<float> result = PathSpan{0, rows.count}.of(shared_.view());
    const std::int64_t in_group = rows.first - group_.first, width = result.size(3);
    each_row(result.shape(), call_.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      if (width == 0) return;
      const double share = std::exp(static_cast<double>(part.logs(b, h, i)) -
                                    merged_.log_sum_exp(b, h, in_group + i));
      const auto factor = static_cast<float>(share);
      const float* const of_out = &dout_(b, h, rows.first + i, 0);
      float* const to = &result(b, h, i, 0);
      for (std::int64_t c = 0; c < width; ++c) {
        to[c] = factor == 0 ? 0 : factor * of_out[c * dout_.stride(3)];
      }
    });
    return result;
  }

  void call_backward(View<const float> queries, View<const float> keys, const Part& part,
                     const PathSpan& rows, const PathSpan& of_keys,
                     AttentionGradients<float>& wanted, const AttentionOptions<float>& options) {
    Tensor<float> dv;
    if (gradients_.v.count() > 0) {
      dv = Tensor<float>({call_.batch, call_.kv_heads, of_keys.count, v_.size(3)});
      wanted.v = dv.view();
    }
    const View<const float> dout = shared(part, rows);
    attention_backward<float>(queries, keys, of_keys.of(v_), rows.of(out_), dout, wanted, options,
                              part.logs);
    if (gradients_.v.count() == 0) return;
    add_rows(std::as_const(dv).view(), of_keys.of<float>(gradients_.v), call_.threads);
  }

  void add_own(const Part& part, const PathSpan& rows) {
    AttentionGradients<float> wanted;
    wanted.mask = rows.of(dscores_.view()).narrow(3, 0, rows.count);
    Tensor<float> dsinks;
    if (gradients_.sinks.count() > 0) {
      dsinks = Tensor<float>({call_.heads});
      wanted.sinks = dsinks.view();
    }
    call_backward(call_.zeros(call_.heads, rows), call_.zeros(call_.kv_heads, rows), part, rows,
                  rows, wanted, call_.own_options(rows));
    for (std::int64_t h = 0; h < dsinks.count(); ++h) gradients_.sinks(h) += dsinks(h);
    const View<float> masked = wanted.mask;
    each_row(masked.shape(), call_.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      for (std::int64_t j = 0; j < rows.count; ++j) {
        masked(b, h, i, j) *= static_cast<float>(call_.scale);
      }
    });
  }

  void add_part(const Part& part, const PathSpan& keys, const PathSpan& later,
                Tensor<float>& dqueries) {
    auto dq = Tensor<float>::uninitialized(dqueries.shape());
    auto dk = Tensor<float>::uninitialized({call_.batch, call_.kv_heads, keys.count, call_.dim});
    AttentionGradients<float> wanted;
    wanted.q = dq.view();
    wanted.k = dk.view();
    call_backward(part.queries, keys.of(std::as_const(call_.moved).view()), part, later, keys,
                  wanted, call_.part_options());
    add_rows(std::as_const(dq).view(), dqueries.view(), call_.threads);
    add_rows(std::as_const(dk).view(), keys.of(dmoved_.view()), call_.threads);
  }

  // Of the queries after the block before, those of this block end here: they were its own.
  void leave_block(std::int64_t number, const PathSpan& later, Tensor<float>& dqueries) {
    const PathSpan before = call_.after(group_, number - 1);
    const std::int64_t left = before.count - later.count;
    if (left == 0) return;
    const View<float> to = PathSpan{before.first, left}.of(dcarried_.view());
    each_row(to.shape(), call_.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      std::copy_n(&dqueries(b, h, i, 0), call_.dim, &to(b, h, i, 0));
    });
    dqueries = copy_of(std::as_const(dqueries).view().narrow(2, left, later.count));
  }

  // From the gradient of x + (x W^T) R to that of x, and of W and R.
  void uncarry(std::int64_t number, const Tensor<float>& queries, Tensor<float>& dqueries) {
    constexpr std::int64_t kPiece = 128;  // rows of a task
    const PathSpan span = call_.block(number);
    const std::int64_t count = queries.size(2), dim = call_.dim, keys = span.count,
                       group = call_.heads / call_.kv_heads;
    auto products = Tensor<float>::uninitialized({call_.batch, call_.heads, count, keys});
    auto dproducts = Tensor<float>::uninitialized(products.shape());
    const auto at = [&](const Tensor<float>& x, std::int64_t b, std::int64_t h, std::int64_t first,
                        std::int64_t rows) {
      return PathMatrix{&x(b, h, first, 0), rows, x.size(3),
                        static_cast<std::ptrdiff_t>(x.size(3))};
    };
    const auto each_piece = [&](const auto& f) {
      const std::int64_t pieces = (count + kPiece - 1) / kPiece;
      parallel_for(call_.batch * call_.heads * pieces, call_.threads, [&](std::int64_t task) {
        const std::int64_t first = task % pieces * kPiece;
        f(task / pieces / call_.heads, task / pieces % call_.heads, first,
          std::min(kPiece, count - first));
      });
    };
    each_piece([&](std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows) {
      const auto store = [&](Tensor<float>& x) {
        return kernels::MatmulResult{.c = &x(b, h, first, 0),
                                     .c_row = static_cast<std::ptrdiff_t>(keys)};
      };
      multiply(at(queries, b, h, first, rows),
               PathCall::rows(call_.w, b, h / group, span).transposed(), store(products));
      multiply(at(dqueries, b, h, first, rows),
               PathCall::rows(call_.reflected.view(), b, h / group, span).transposed(),
               store(dproducts));
    });
    // The heads of a key head follow one another: their rows are those of one matrix.
    const std::int64_t slices = call_.batch * call_.kv_heads;
    const bool by_slice = slices >= allowed_threads(call_.threads);
    parallel_for(slices, by_slice ? call_.threads : 1, [&](std::int64_t slice) {
      const std::int64_t b = slice / call_.kv_heads, kv_head = slice % call_.kv_heads;
      const auto all = [&](const Tensor<float>& x) {
        return at(x, b, kv_head * group, 0, group * count);
      };
      const auto add = [&](const PathMatrix& left, const PathMatrix& right, Tensor<float>& to) {
        kernels::matmul({keys, dim, left.rows}, {left.data, 1, left.row_stride},
                        kernels::MatrixRef{right.data, right.row_stride, 1},
                        {.c = &to(b, kv_head, span.first, 0), .c_row = dim, .add = true},
                        by_slice ? 1 : call_.threads);
      };
      add(all(dproducts), all(queries), dw_);
      add(all(products), all(dqueries), dreflected_);
    });
    each_piece([&](std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows) {
      multiply(at(dproducts, b, h, first, rows), PathCall::rows(call_.w, b, h / group, span),
               {.c = &dqueries(b, h, first, 0), .c_row = dim, .add = true});
    });
  }

  PathCall& call_;
  View<const float> v_, out_, dout_;
  const AttentionGradients<float>& gradients_;
  PathSpan group_{};
  MergedRows merged_;     // of the group
  Tensor<float> shared_;  // the gradients of a part's output
  // Of the arrays of the call with these names; dw_ without what comes through the others.
  Tensor<float> dscores_, dcarried_, dmoved_, dreflected_, dw_;
};

}  // namespace

void path_attention_backward(View<const float> q, View<const float> k, View<const float> v,
                             View<const float> out, View<const float> dout,
                             const AttentionGradients<float>& gradients,
                             const PathGradients& path_gradients, const PathAttention& path,
                             const AttentionOptions<float>& options) {
  check_path_gradients(q, k, v, out, dout, gradients, path_gradients, path, options);
  for (std::int64_t h = 0; h < gradients.sinks.count(); ++h) gradients.sinks(h) = 0;
  if (q.size(0) == 0 || q.size(2) == 0) return;
  const auto fill = [](const View<float>& x, std::int64_t b, std::int64_t h, float value) {
    for (std::int64_t n = 0; x.count() > 0 && n < x.size(2) * x.size(3); ++n) {
      x(b, h, n / x.size(3), n % x.size(3)) = value;
    }
  };
  const auto heads_of = [](const View<float>& x) { return x.count() > 0 ? x.size(1) : 0; };
  for (std::int64_t n = 0; n < q.size(0) * heads_of(gradients.v); ++n) {
    fill(gradients.v, n / gradients.v.size(1), n % gradients.v.size(1), 0);
  }
  PathCall call(q, k, path, options);
  PathBackward backward(call, v, out, dout, gradients);
  for (std::int64_t n = 0; n < call.blocks(); n += PathCall::kGroupBlocks) backward.add_group(n);
  backward.finish(path_gradients);
  // Zeros took the place of tokens with infinities or NaN.
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t n = 0; n < call.batch * call.heads; ++n) {
    const std::int64_t b = n / call.heads, h = n % call.heads,
                       kv_head = h / (call.heads / call.kv_heads);
    if (call.end(b, h) == call.length) continue;
    fill(gradients.q, b, h, kNaN);
    fill(gradients.k, b, kv_head, kNaN);
    fill(gradients.v, b, kv_head, kNaN);
    fill(path_gradients.w, b, kv_head, kNaN);
    for (std::int64_t i = 0; i < call.length && path_gradients.beta.count() > 0; ++i) {
      path_gradients.beta(b, kv_head, i) = kNaN;
    }
    if (gradients.sinks.count() > 0) gradients.sinks(h) = kNaN;
  }
}

}  // namespace sextant
