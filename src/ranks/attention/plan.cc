// The form of a call: which ones can take it, and which of these is expected to be fastest.
#include <algorithm>
#include <string>

#include "ranks/attention/cost_model.h"
#include "ranks/attention/forms.h"
#include "sextant/core/numbers.h"
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

// The first form that can take the call, of the one asked for or of all. Throws SharedError where
// there is none.
template <class T>
Form first_possible(const char* function, const CallShape<T>& call) {
  const bool any = call.ranks.form == Form::automatic;
  std::string reason;
  for (const Form form : {Form::ring, Form::gather, Form::ulysses}) {
    if (!any && form != call.ranks.form) continue;
    reason = why_not(call, form);
    if (reason.empty()) return form;
  }
  throw SharedError(std::string(function) + (any ? ".transport" : ".form"), reason);
}

// Striped divisions are counted as zigzag, which gives ranks alike to do as well.
template <class T>
AttentionPlan plan_of(const char* function, CallShape<T> call) {
  AttentionPlan plan{.form = first_possible(function, call),
                     .division = call.ranks.division,
                     .ranks = call.size()};
  if (plan.division == Division::striped) {
    call.q_layout = Layout(Division::zigzag, call.q_layout.length(), plan.ranks);
    call.k_layout = Layout(Division::zigzag, call.k_layout.length(), plan.ranks);
  }
  const CostModel<T> model(call);
  for (const double pairs : model.shares) plan.share.push_back(static_cast<std::int64_t>(pairs));
  plan.pairs = static_cast<std::int64_t>(model.pairs);
  plan.costs = {model.ring(), model.gather(), model.ulysses()};
  const AttentionPlan::Cost* best = nullptr;
  for (AttentionPlan::Cost& cost : plan.costs) {
    cost.why_not = why_not(call, cost.form);
    const bool possible = cost.why_not.empty();
    const bool asked = call.ranks.form == Form::automatic ? possible : cost.form == plan.form;
    if (asked && (best == nullptr || cost.seconds < best->seconds)) best = &cost;
  }
  plan.form = best->form;
  plan.balance = best->balance;
  if (plan.balance < 0.9 && plan.division == Division::contiguous && call.all.causal) {
    plan.notes.push_back("ranks with early positions idle: divide as zigzag");
  }
  if (plan.form == Form::ulysses && call.all.kv_heads % plan.ranks != 0) {
    plan.notes.push_back(std::to_string(call.all.kv_heads) + " key heads on " +
                         std::to_string(plan.ranks) + " ranks: not all have alike");
  }
  return plan;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return std::to_string(bytes) + " bytes";
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10240 ? fixed(kib, 0) + " KiB" : fixed(kib / 1024, 1) + " MiB";
}

}  // namespace

template <class T>
Form form_of(const char* function, const CallShape<T>& call) {
  const Form first = first_possible(function, call);
  return call.ranks.form == Form::automatic ? plan_of(function, call).form : first;
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

std::string AttentionPlan::explain() const {
  std::string text = "ranks: " + std::to_string(ranks) + ", form " + std::string(name_of(form)) +
                     ", division " + std::string(name_of(division)) + "\n";
  text += "work: " + std::to_string(pairs) + " pairs of a query and a key; balance " +
          fixed(balance, 3) + " (1: no rank idles); shares";
  for (std::size_t r = 0; r < share.size() && r < 8; ++r) text += " " + std::to_string(share[r]);
  if (share.size() > 8) {
    const auto [least, most] = std::minmax_element(share.begin(), share.end());
    text += " ..., from " + std::to_string(*least) + " to " + std::to_string(*most);
  }
  text += "\n";
  for (const Cost& cost : costs) {
    text += std::string(cost.form == form ? "* " : "  ") + std::string(name_of(cost.form)) + ": ";
    if (!cost.why_not.empty()) {
      text += "not here, " + cost.why_not + "\n";
      continue;
    }
    text += "receives " + bytes_text(cost.bytes) + " in " + std::to_string(cost.messages) +
            " messages, keeps " + bytes_text(cost.memory) + " besides; about " +
            significant(cost.seconds, 3) + " s, of which " + significant(cost.seconds_exposed, 3) +
            " s wait for messages\n";
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
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
