// Functions of the C library by the same name, which this program and the shared libraries find
// first. (The sanitizers have their own in that place.)
#include "training/file_operations.h"

#include <gtest/gtest.h>

#ifndef SEXTANT_SANITIZED

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sextant/core/error.h"
#include "training/run_folders.h"
#include "training/runs/fsync.h"

namespace {

long done = 0, last = 0, first_failing = 0;
bool halves = false, links = true;

void count() {
  if (++done == last) ::raise(SIGKILL);
}
bool fails() {
  count();
  if (first_failing == 0 || done < first_failing) return false;
  errno = ENOSPC;
  return true;
}

}  // namespace

namespace sextant {

void kill_at_operation(long n, bool half) {
  done = first_failing = 0;
  last = n;
  halves = half;
}
void fail_from_operation(long n) {
  done = last = 0;
  first_failing = n;
}
long operations_done() { return done; }
void allow_links(bool allowed) { links = allowed; }

}  // namespace sextant

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (done + 1 == last && halves) ::syscall(SYS_write, descriptor, bytes, size / 2);
  if (fails()) {
    // The disk may take a part before it is full.
    return done == first_failing && size > 1 ? ::syscall(SYS_write, descriptor, bytes, size / 2)
                                             : -1;
  }
  return ::syscall(SYS_write, descriptor, bytes, size);
}
// What a killed process wrote stays without it; only a power cut is worse, and is not tested.
int fsync(int) { return fails() ? -1 : 0; }
int ftruncate(int descriptor, off_t size) noexcept {
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}
int rename(const char* from, const char* to) noexcept {
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (!links) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int symlink(const char* target, const char* path) noexcept {
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_symlinkat, target, AT_FDCWD, path));
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int unlink(const char* path) noexcept {
  count();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  count();
  return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}
int rmdir(const char* path) noexcept {
  count();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
int remove(const char* path) noexcept {
  count();
  const long status = ::syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (status == 0 || errno != EISDIR) return static_cast<int>(status);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"

namespace sextant {
namespace {

using FileOperations = RunFolders;

TEST_F(FileOperations, AreSeenInThisProgramAndInTheStandardLibrary) {
  kill_at_operation(0, false);
  write_file(path("a"), "x");
  EXPECT_EQ(operations_done(), 4) << "write, flush, link, flush the folder";
  write_file(path("a"), "y");
  EXPECT_EQ(operations_done(), 9) << "write, flush, link, rename, flush the folder";
  kill_at_operation(0, false);
  std::filesystem::create_directory(path("b"));
  EXPECT_EQ(operations_done(), 1);
  std::filesystem::rename(path("a"), path("b/a"));
  EXPECT_EQ(operations_done(), 2);
  std::filesystem::remove_all(path("b"));
  EXPECT_GE(operations_done(), 4) << "the file and the folder";
}

TEST_F(FileOperations, FlushEveryFolderThatGotANewName) {
  kill_at_operation(0, false);
  make_folder(path("a/b/c"));
  EXPECT_EQ(operations_done(), 6) << "three folders, and the three that they are in";
  make_folder(path("a/b/c/"));
  EXPECT_EQ(operations_done(), 6) << "all there already";
  EXPECT_THROW(make_folder(""), Error);
}

TEST_F(FileOperations, GoThroughATemporaryNameWhereAFileCannotBeNamedLater) {
  allow_links(false);
  kill_at_operation(0, false);
  write_file(path("a"), "x");
  EXPECT_EQ(operations_done(), 6) << "write and flush in vain; write, flush, rename, flush";
  write_file(path("a"), "y");
  allow_links(true);
  EXPECT_EQ(read_file(path("a")), "y");
  EXPECT_EQ(contents_of(path("")).size(), 1U) << "no temporary file";
}

TEST_F(FileOperations, LeaveNothingWhereAFileCannotBeNamedLaterAndTheDiskIsFull) {
  allow_links(false);
  for (long n = 1; n <= 5; ++n) {
    fail_from_operation(n);
    EXPECT_THROW(write_file(path("a"), "x"), Error) << n;
    fail_from_operation(0);
    EXPECT_TRUE(contents_of(path("")).empty()) << n;
  }
  allow_links(true);
}

}  // namespace
}  // namespace sextant

#endif
