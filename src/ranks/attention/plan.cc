// The form of a call: which ones can take it, and which of these is expected to be fastest.
#include <algorithm>
#include <string>

#include "ranks/attention/call.h"
#include "ranks/attention/choice.h"
#include "ranks/attention/costs.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// Why a form cannot take a call; empty: it can.
template <class T>
std::string why_not(const CallShape<T>& call, Form form) {
  if (call.ranks.division == Division::striped && form != Form::ulysses) {
    return "must be ulysses for striped parts, or redistribute() makes them zigzag";
  }
  const bool rounds = call.ranks.transport != Transport::unchanged;
  if (form == Form::ring) {
    if (call.ranks.reproducible) return "must be gather or ulysses with reproducible";
    if (std::is_same_v<T, double>) return "must be gather or ulysses for float64";
    if (call.all.logit_term.term != nullptr) {
      return "must be gather or ulysses with a term before the softcap";
    }
  }
  if (form == Form::ulysses && rounds) return "must be ring or gather with a transport of 16 bits";
  if (call.ranks.reproducible && rounds) return "must have transport unchanged with reproducible";
  return "";
}

template <class T>
void refuse_impossible(const char* function, const CallShape<T>& call) {
  if (call.ranks.form == Form::automatic) {
    std::string reason;
    for (const Form form : {Form::ring, Form::gather, Form::ulysses}) {
      reason = why_not(call, form);
      if (reason.empty()) return;
    }
    throw SharedError(std::string(function) + ".transport", reason);
  }
  const std::string reason = why_not(call, call.ranks.form);
  if (!reason.empty()) throw SharedError(std::string(function) + ".form", reason);
}

template <class T>
void add_notes(AttentionPlan& plan, const CallShape<T>& call) {
  if (plan.balance < 0.9 && plan.division == Division::contiguous && call.all.causal) {
    plan.notes.push_back("ranks with early positions idle: divide as zigzag");
  }
  if (plan.form == Form::ulysses && call.all.kv_heads % plan.ranks != 0) {
    plan.notes.push_back(std::to_string(call.all.kv_heads) + " key heads on " +
                         std::to_string(plan.ranks) + " ranks: not all have alike");
  }
}

}  // namespace

template <class T>
AttentionPlan plan_of(const char* function, const CallShape<T>& call) {
  refuse_impossible(function, call);
  const Costs<T> costs(call);
  AttentionPlan plan;
  plan.division = call.ranks.division;
  plan.ranks = call.size();
  for (const double pairs : costs.shares()) plan.share.push_back(static_cast<std::int64_t>(pairs));
  plan.pairs = static_cast<std::int64_t>(costs.pairs());
  plan.costs = {costs.ring(), costs.gather(), costs.ulysses()};
  for (AttentionPlan::Cost& cost : plan.costs) {
    cost.why_not = why_not(call, cost.form);
    cost.possible = cost.why_not.empty();
  }
  plan.form = call.ranks.form;
  if (plan.form == Form::automatic) {
    const AttentionPlan::Cost* best = nullptr;
    for (const AttentionPlan::Cost& cost : plan.costs) {
      if (cost.possible && (best == nullptr || cost.seconds < best->seconds)) best = &cost;
    }
    plan.form = best == nullptr ? Form::gather : best->form;
  }
  plan.balance = costs.balance(plan.form);
  add_notes(plan, call);
  return plan;
}

template <class T>
Form form_of(const char* function, const CallShape<T>& call) {
  refuse_impossible(function, call);
  if (call.ranks.form != Form::automatic) return call.ranks.form;
  return plan_of(function, call).form;
}

template <AttentionElement T>
AttentionPlan plan(const Communicator& comm, View<const T> q, std::type_identity_t<View<const T>> k,
                   std::type_identity_t<View<const T>> v,
                   const AttentionOptions<std::type_identity_t<T>>& options, const Options& ranks) {
  constexpr const char* kFunction = "ranks.plan";
  return plan_of(kFunction, check_call<T>(kFunction, comm, q, k, v, options, ranks));
}

template <AttentionElement T>
AttentionPlan plan_for(int count, const CallSizes& sizes,
                       const AttentionOptions<std::type_identity_t<T>>& options,
                       const Options& ranks) {
  constexpr const char* kFunction = "ranks.plan_for";
  check_options(kFunction, ranks);
  if (count < 1) {
    throw Error("ranks.plan_for.count", "must be 1 or more, got " + std::to_string(count));
  }
  const auto shape = [&](std::int64_t heads, std::int64_t length, std::int64_t width) {
    return shape_only<T>(Shape{sizes.batch, heads, length, width});
  };
  CallShape<T> call{.ranks = ranks,
                    .all = {},
                    .v_dim = sizes.v_dim,
                    .q_layout = Layout(ranks.division, sizes.q_len, count),
                    .k_layout = Layout(ranks.division, sizes.k_len, count)};
  call.all = attention_detail::check_scores<T>(
      kFunction, shape(sizes.heads_q, sizes.q_len, sizes.head_dim),
      shape(sizes.kv_heads, sizes.k_len, sizes.head_dim), options);
  attention_detail::check_v<T>(kFunction, call.all,
                               shape(sizes.kv_heads, sizes.k_len, sizes.v_dim));
  return plan_of(kFunction, call);
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
  template AttentionPlan plan_of(const char*, const CallShape<T>&);                                \
  template Form form_of(const char*, const CallShape<T>&);                                         \
  template AttentionPlan plan<T>(const Communicator&, View<const T>, View<const T>, View<const T>, \
                                 const AttentionOptions<T>&, const Options&);                      \
  template AttentionPlan plan_for<T>(int, const CallSizes&, const AttentionOptions<T>&,            \
                                     const Options&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
