// The message of the Error that a call of all ranks throws on each of them.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "ranks/world.h"
#include "support/error_of.h"

namespace sextant::ranks {

// Runs `call` and returns the text of its Error, which must be one on all ranks.
template <class Call>
std::string error_on_ranks(const Call& call) {
  const std::string text = error_of(call);
  const auto all = world().all_gather(std::as_bytes(std::span(text)));
  for (const auto& other : all) EXPECT_EQ(other, all[0]) << text;
  return text;
}

}  // namespace sextant::ranks
