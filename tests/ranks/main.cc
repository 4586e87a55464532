// The test program of ranks: every rank runs every test, in the same order. Rank 0 tells how they
// went, the others only what failed.
#include <gmock/gmock.h>

#include <cstdio>
#include <memory>

#include "ranks/world.h"
#include "sextant/ranks/session.h"

namespace sextant::ranks {
namespace {

const Session* session = nullptr;

// The failures of a rank, with its number.
class Failures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", world().rank(),
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
                 result.message());
  }
};

// A failed assertion leaves this rank behind in its test, so that all must end.
class EndTogether : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->HasFatalFailure()) session->abort(1);
  }
};

}  // namespace

const Communicator& world() { return session->world(); }

}  // namespace sextant::ranks

int main(int argc, char** argv) {
  using namespace sextant::ranks;
  const Session all;
  session = &all;
  testing::InitGoogleMock(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world().rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  listeners.Append(new EndTogether);
  return RUN_ALL_TESTS();
}
