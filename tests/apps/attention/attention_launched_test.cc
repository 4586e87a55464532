// `sextant attention` as one of several processes of a launcher, without being told to divide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/run_program.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

TEST(AttentionLaunched, RefusesToDoTheWholeWorkInEachOfSeveralProcesses) {
  const Folder folder;
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) {
    save_npy<float>(folder / name, Tensor<float>({1, 1, 4, 2}));
  }
  const std::string call = "sextant attention --q " + (folder / "q.npy") + " --k " +
                           (folder / "k.npy") + " --v " + (folder / "v.npy") + " -o " +
                           (folder / "out.npy");
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const Outcome many = shell(std::string(size) + "=3 " + call);
    EXPECT_EQ(many.code, 1) << size;
    EXPECT_THAT(many.err, HasSubstr("sextant: [attention.ranks] must be given where a launcher "
                                    "starts 3 processes: each would do the whole work"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out.npy"));
  }
  EXPECT_EQ(shell("OMPI_COMM_WORLD_SIZE=1 " + call).code, 0);
  EXPECT_EQ(shell(call).code, 0);
}

}  // namespace
}  // namespace sextant::app_tests
