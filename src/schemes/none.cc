// No positions at all: attention is a function of a set, unless a mask distinguishes earlier from
// later (Haviv et al. 2022).
#include "schemes/definition.h"

namespace sextant::descriptors {
namespace {

constexpr Definition<NoWeights> kDefinition = {
    .name = "none",
    .title = "no positions",
    .kind = SchemeKind::none,
    .idea = "Adds nothing: without a mask, attention does not depend on the order of the tokens.",
    .paper = "Haviv et al. 2022, 2203.16634; Kazemnejad et al. 2023, 2305.19466",
    .make = [](const auto&) -> SchemeTable { return std::monostate{}; },
};

}  // namespace

constinit const Scheme kNone = scheme_of<kNone, kDefinition>();

}  // namespace sextant::descriptors
