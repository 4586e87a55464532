// Which form a call takes.
#pragma once

#include "ranks/attention/call_shape.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {

// The plan of a checked call. Throws Error, on all ranks, where the form that was asked for cannot
// take it.
template <class T>
AttentionPlan plan_of(const char* function, const CallShape<T>& call);

// The form alone: without the plan's sums where the call names one.
template <class T>
Form form_of(const char* function, const CallShape<T>& call);

}  // namespace sextant::ranks
