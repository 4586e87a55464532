// What gradients may not do, whatever the numbers: leak from hidden places, depend on what else is
// wanted, or accept arguments that do not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "support/error_of.h"

namespace sextant::backward_laws_test {
namespace {

// Another path may have computed it: far above what float32 rounds, far below any leak.
constexpr double kRounding = 1e-4;

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(T)) == 0;
}

// Arguments that fit, with every gradient there is.
template <class T>
class AttentionBackwardLaws : public ::testing::Test {
 protected:
  using Wide = typename AttentionGradients<T>::Wide;
  static constexpr std::int64_t kQueries = 21, kKeys = 35, kDistances = 80;

  AttentionBackwardLaws() {
    bias.values = Tensor<float>(Shape{4, kDistances});
    bias.origin = 40;
    for (float& value : bias.values.span()) value = static_cast<float>(random.normal());
    for (Wide& value : mask.span()) value = static_cast<Wide>(random.normal());
    options.causal = Causal::bottom_right;
    bias.slopes = {0.5, 0.25, 0.1, 0};
    options.bias = &bias;
    options.sinks = sinks;
    options.mask = FloatMask<T>(mask);
  }

  // Fills out and the gradients, which start as 7.
  void run() {
    attention<T>(q, k, v, out, options);
    for (auto* x : {&dq, &dk, &dv}) std::fill(x->span().begin(), x->span().end(), T(7));
    attention_backward<T>(q, k, v, out, dout, gradients, options);
  }

  NumpyRandom random{5};
  Tensor<T> q = normal<T>(Shape{2, 4, kQueries, 8}, random),
            k = normal<T>(Shape{2, 2, kKeys, 8}, random),
            v = normal<T>(Shape{2, 2, kKeys, 6}, random),
            dout = normal<T>(Shape{2, 4, kQueries, 6}, random), out{dout.shape()};
  Tensor<T> dq{q.shape()}, dk{k.shape()}, dv{v.shape()};
  Tensor<Wide> mask{Shape{2, 1, kQueries, kKeys}}, dmask{mask.shape()};
  std::vector<double> sinks{0, 1, -1, 0.5};
  Tensor<Wide> dbias{Shape{4, kDistances}}, dslopes{Shape{4}}, dsinks{Shape{4}};
  DistanceBias bias;
  AttentionOptions<T> options;
  AttentionGradients<T> gradients{dq, dk, dv, {dbias, dslopes}, dmask, dsinks};
};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionBackwardLaws, Elements);

template <class T>
bool all_zero(View<const T> view) {
  const auto copy = copy_of(view);
  for (const T& element : copy.span()) {
    if (!(element == T(0))) return false;
  }
  return true;
}

TYPED_TEST(AttentionBackwardLaws, RowsThatSeeNothingHaveNoGradientAndGiveNone) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  constexpr W kHidden = -std::numeric_limits<W>::infinity();
  for (std::int64_t j = 0; j < this->kKeys; ++j) this->mask(1, 0, 3, j) = kHidden;
  this->options.sinks = {};
  this->gradients.sinks = {};
  this->run();
  const auto dk_before = this->dk.clone(), dv_before = this->dv.clone();
  EXPECT_TRUE(all_zero<T>(this->dq.view().narrow(0, 1, 1).narrow(2, 3, 1)));
  EXPECT_FALSE(all_zero<T>(this->dq.view().narrow(0, 1, 1).narrow(2, 2, 1)));
  EXPECT_TRUE(all_zero<W>(this->dmask.view().narrow(0, 1, 1).narrow(2, 3, 1)));
  // Whatever the row's query and output gradient are.
  for (std::int64_t h = 0; h < 4; ++h) {
    this->dout(1, h, 3, 2) = std::numeric_limits<T>::quiet_NaN();
    this->q(1, h, 3, 1) = std::numeric_limits<T>::infinity();
  }
  this->run();
  EXPECT_TRUE(all_zero<T>(this->dq.view().narrow(0, 1, 1).narrow(2, 3, 1)));
  for (std::int64_t n = 0; n < dk_before.count(); ++n) {
    ASSERT_NEAR(this->dk.data()[n], dk_before.data()[n], kRounding);
  }
  for (std::int64_t n = 0; n < dv_before.count(); ++n) {
    ASSERT_NEAR(this->dv.data()[n], dv_before.data()[n], kRounding);
  }
}

// Ways to hide keys 30 to 34 from every query.
TYPED_TEST(AttentionBackwardLaws, HiddenKeysGetNoGradientAndLeakNoNaN) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  Tensor<bool> allowed(Shape{this->kKeys});
  for (std::int64_t j = 0; j < 30; ++j) allowed(j) = true;
  const std::vector<std::int64_t> lengths{30, 30};
  for (const int way : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE("way " + std::to_string(way));
    this->gradients.mask = {};
    this->options.mask = {};
    this->options.causal = Causal::none;
    this->options.key_lengths = {};
    this->options.query_offsets = {};
    Tensor<W> hiding(Shape{this->kKeys});
    const std::vector<std::int64_t> offsets{29 - this->kQueries + 1, 29 - this->kQueries + 1};
    if (way == 0) this->options.key_lengths = lengths;
    if (way == 1) this->options.mask = BoolMask(allowed);
    if (way == 2) {
      for (std::int64_t j = 30; j < this->kKeys; ++j) {
        hiding(j) = -std::numeric_limits<W>::infinity();
      }
      this->options.mask = FloatMask<T>(hiding);
    }
    if (way == 3) {  // the last query's own key is 29
      this->options.causal = Causal::at_offsets;
      this->options.query_offsets = offsets;
    }
    if (way == 4) {
      this->options.query_offsets = offsets;
      this->options.window.right = 0;
    }
    this->run();
    const auto dq_before = this->dq.clone(), dk_before = this->dk.clone(),
               dbias_before = this->dbias.clone();
    EXPECT_TRUE(all_zero<T>(this->dk.view().narrow(2, 30, 5)));
    EXPECT_TRUE(all_zero<T>(this->dv.view().narrow(2, 30, 5)));
    const auto k_before = this->k.clone(), v_before = this->v.clone();
    for (std::int64_t j = 30; j < this->kKeys; ++j) {
      this->k(0, 1, j, 3) = kNaN;
      this->v(0, 1, j, 0) = std::numeric_limits<T>::infinity();
      this->v(1, 0, j, 2) = kNaN;
    }
    this->run();
    EXPECT_TRUE(all_zero<T>(this->dk.view().narrow(2, 30, 5)));
    EXPECT_TRUE(all_zero<T>(this->dv.view().narrow(2, 30, 5)));
    for (std::int64_t n = 0; n < dq_before.count(); ++n) {
      ASSERT_NEAR(this->dq.data()[n], dq_before.data()[n], kRounding);
    }
    for (std::int64_t n = 0; n < dk_before.count(); ++n) {
      ASSERT_NEAR(this->dk.data()[n], dk_before.data()[n], kRounding);
    }
    for (std::int64_t n = 0; n < dbias_before.count(); ++n) {
      ASSERT_NEAR(this->dbias.data()[n], dbias_before.data()[n], kRounding);
    }
    this->k = k_before.clone();
    this->v = v_before.clone();
    this->options.window = {};
  }
}

TYPED_TEST(AttentionBackwardLaws, AVisibleNaNReachesWhatSeesIt) {
  using T = TypeParam;
  this->dout(0, 1, 5, 2) = std::numeric_limits<T>::quiet_NaN();
  this->run();
  EXPECT_TRUE(std::isnan(this->dq(0, 1, 5, 0)));
  EXPECT_FALSE(std::isnan(this->dq(0, 1, 4, 0)));
  EXPECT_TRUE(std::isnan(this->dv(0, 0, 0, 2)));
  EXPECT_FALSE(std::isnan(this->dv(0, 0, 0, 1)));
  EXPECT_TRUE(std::isnan(this->dk(0, 0, 0, 0)));
  // Query 5 is the first to see key 19; nobody before key 20's queries is touched.
  EXPECT_TRUE(std::isnan(this->dk(0, 0, 19, 0)));
  EXPECT_FALSE(std::isnan(this->dk(0, 0, 20, 0)));
  EXPECT_FALSE(std::isnan(this->dk(0, 1, 0, 0)));
  EXPECT_FALSE(std::isnan(this->dq(1, 1, 5, 0)));
  EXPECT_TRUE(std::isnan(this->dmask(0, 0, 5, 3)));
  EXPECT_FALSE(std::isnan(this->dmask(0, 0, 4, 3)));
  EXPECT_FALSE(std::isnan(this->dmask(1, 0, 5, 3)));
}

TYPED_TEST(AttentionBackwardLaws, EachGradientAloneHasTheBitsOfAllTogether) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  this->run();
  const auto all = this->gradients;
  const auto alone = [&](auto member, const auto& together) {
    const auto before = together.clone();
    this->gradients = {};
    this->gradients.*member = all.*member;
    this->run();
    EXPECT_TRUE(same_bits(before, together));
  };
  using Gradients = AttentionGradients<T>;
  const auto other_kinds = [&](const Gradients& wanted, Tensor<W>& x) {
    const auto before = x.clone();
    std::fill(x.span().begin(), x.span().end(), W(7));
    this->gradients = wanted;
    this->run();
    EXPECT_TRUE(same_bits(before, x));
  };
  other_kinds({.bias = {.values = all.bias.values}}, this->dbias);
  other_kinds({.bias = {.slopes = all.bias.slopes}}, this->dslopes);
  other_kinds({.mask = all.mask}, this->dmask);
  other_kinds({.sinks = all.sinks}, this->dsinks);
  this->gradients = all;
  this->run();
  alone(&Gradients::q, this->dq);
  this->gradients = all;
  this->run();
  alone(&Gradients::k, this->dk);
  this->gradients = all;
  this->run();
  alone(&Gradients::v, this->dv);
}

TYPED_TEST(AttentionBackwardLaws, EmptyLengthsGiveZeros) {
  using T = TypeParam;
  Tensor<T> none(Shape{1, 2, 0, 4}), some(Shape{1, 2, 3, 4}), d(some.shape());
  std::fill(d.span().begin(), d.span().end(), T(7));
  attention_backward<T>(some, none, none, some, some, {.q = d}, {.causal = Causal::none});
  EXPECT_TRUE(all_zero<T>(d.view()));
  std::fill(d.span().begin(), d.span().end(), T(7));
  Tensor<T> e(some.shape());
  std::fill(e.span().begin(), e.span().end(), T(7));
  attention_backward<T>(none, some, some, none, none, {.k = d, .v = e}, {.causal = Causal::none});
  EXPECT_TRUE(all_zero<T>(d.view()));
  EXPECT_TRUE(all_zero<T>(e.view()));
}

class AttentionBackwardErrors : public AttentionBackwardLaws<float> {
 protected:
  std::string message(View<const float> log_sum_exp = {}) {
    return error_of(
        [&] { attention_backward<float>(q, k, v, out, dout, gradients, options, log_sum_exp); });
  }
};

TEST_F(AttentionBackwardErrors, NoneForArgumentsThatFit) { EXPECT_EQ(message(), "no error"); }

TEST_F(AttentionBackwardErrors, Shapes) {
  Tensor<float> wrong(Shape{2, 4, 20, 6});
  std::swap(wrong, dout);
  EXPECT_EQ(message(), "[attention_backward.dout] must be [2, 4, 21, 6], got [2, 4, 20, 6]");
  std::swap(wrong, dout);
  std::swap(wrong, out);
  EXPECT_EQ(message(), "[attention_backward.out] must be [2, 4, 21, 6], got [2, 4, 20, 6]");
  std::swap(wrong, out);
  std::swap(wrong, v);
  EXPECT_EQ(message(), "[attention_backward.v] must be [2, 2, 35, 6], got [2, 4, 20, 6]");
  std::swap(wrong, v);
  gradients.q = wrong;
  EXPECT_EQ(message(), "[attention_backward.gradients.q] must be [2, 4, 21, 8], got [2, 4, 20, 6]");
  gradients.q = {};
  gradients.bias.values = dmask;
  EXPECT_EQ(message(),
            "[attention_backward.gradients.bias.values] must be [4, 80], got [2, 1, 21, 35]");
  gradients.bias.values = {};
  gradients.bias.slopes = dbias;
  EXPECT_EQ(message(), "[attention_backward.gradients.bias.slopes] must be [4], got [4, 80]");
  gradients.bias = {};
  Tensor<float> rows(Shape{2, 4, 20});
  EXPECT_EQ(message(rows), "[attention_backward.log_sum_exp] must be [2, 4, 21], got [2, 4, 20]");
  options.window.left = -2;
  EXPECT_EQ(message(), "[attention_backward.window.left] must be >= 0, or -1 for open, got -2");
}

TEST_F(AttentionBackwardErrors, GradientsOfWhatIsNotThere) {
  const std::string no_table =
      "[attention_backward.gradients.bias.values] must be given with options.bias.values";
  const std::string no_slopes =
      "[attention_backward.gradients.bias.slopes] must be given with options.bias.slopes";
  const DistanceBias slopes_alone{.slopes = bias.slopes};
  options.bias = &slopes_alone;
  EXPECT_EQ(message(), no_table);
  options.bias = nullptr;
  EXPECT_EQ(message(), no_table);
  gradients.bias.values = {};
  EXPECT_EQ(message(), no_slopes);
  bias.slopes.clear();
  options.bias = &bias;
  EXPECT_EQ(message(), no_slopes);
  gradients.bias = {};
  options.sinks = {};
  EXPECT_EQ(message(), "[attention_backward.gradients.sinks] must be given with options.sinks");
  gradients.sinks = {};
  options.mask = {};
  EXPECT_EQ(message(), "[attention_backward.gradients.mask] must be given with a float mask");
}

TEST_F(AttentionBackwardErrors, Overlap) {
  gradients.q = q;
  EXPECT_EQ(message(), "[attention_backward.gradients.q] must not overlap q");
  gradients.q = dq;
  gradients.k = View<float>(dq.data(), k.shape());
  EXPECT_EQ(message(), "[attention_backward.gradients.k] must not overlap gradients.q");
  const std::array<std::int64_t, 4> strides{0, 280, 8, 1};
  gradients.k = View<float>(dk.data(), k.shape(), strides);
  EXPECT_EQ(message(),
            "[attention_backward.gradients.k] must have a separate element for every result, "
            "got stride 0 at axis 0");
  gradients.k = dk;
  // What is written last, and what is no array of q's shape.
  const Shape of_sinks = gradients.sinks.shape();
  gradients.sinks = View<float>(dq.data() + 5, of_sinks);
  EXPECT_EQ(message(), "[attention_backward.gradients.sinks] must not overlap gradients.q");
  gradients.sinks = View<float>(bias.values.data(), of_sinks);
  EXPECT_EQ(message(), "[attention_backward.gradients.sinks] must not overlap bias");
}

}  // namespace
}  // namespace sextant::backward_laws_test
