// Quotas of processor time, as files of control groups say them.
#include "core/threads/processors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "sextant/core/parallel.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class Quota : public ::testing::Test {
 protected:
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((mount() / file).parent_path());
    std::ofstream(mount() / file) << text;
  }
  int of(const std::string& groups) {
    std::ofstream(folder_ / "groups") << groups;
    return quota_processors(folder_ / "groups", mount());
  }
  fs::path mount() const { return folder_ / "mount"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Quota, OfAContainer) {
  put("cpu.max", "200000 100000\n");
  EXPECT_EQ(of("0::/\n"), 2);
}

TEST_F(Quota, OfAPartOfAProcessorIsOne) {
  put("cpu.max", "150000 100000\n");
  EXPECT_EQ(of("0::/\n"), 2);
  put("cpu.max", "5000 100000\n");
  EXPECT_EQ(of("0::/\n"), 1);
}

TEST_F(Quota, IsTheLeastOfTheGroupAndThoseAbove) {
  put("a/b/cpu.max", "800000 100000\n");
  put("a/cpu.max", "300000 100000\n");
  put("cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), 3);
  put("a/b/cpu.max", "100000 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), 1);
}

TEST_F(Quota, OfVersionOne) {
  put("cpu/docker/x/cpu.cfs_quota_us", "400000\n");
  put("cpu/docker/x/cpu.cfs_period_us", "100000\n");
  put("cpu/docker/cpu.cfs_quota_us", "-1\n");
  put("cpu/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(of("12:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n"), 4);
}

TEST_F(Quota, IsNoneWithoutFilesOrWithoutALimit) {
  EXPECT_EQ(of(""), 0);
  EXPECT_EQ(of("0::/a/b\n"), 0);
  EXPECT_EQ(of("no group at all\n:::\n0::\n"), 0);
  put("cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/\n"), 0);
  for (const char* text : {"", "0 0\n", "-5 100000\n", "many 100000\n", "100000\n", "nan nan\n"}) {
    put("cpu.max", text);
    EXPECT_EQ(of("0::/\n"), 0) << text;
  }
  EXPECT_EQ(quota_processors(mount() / "absent", mount()), 0);
}

TEST(Processors, AreAtLeastOne) {
  EXPECT_GE(usable_processors(), 1);
  EXPECT_LE(default_threads(), kMaxThreads);
}

}  // namespace
}  // namespace sextant
