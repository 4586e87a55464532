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

#include "training/run_folders.h"

namespace {

long done = 0, last = 0, first_failing = 0;
bool halves = false;

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
  EXPECT_EQ(operations_done(), 3) << "write, flush, rename";
  std::filesystem::create_directory(path("b"));
  EXPECT_EQ(operations_done(), 4);
  std::filesystem::rename(path("a"), path("b/a"));
  EXPECT_EQ(operations_done(), 5);
  std::filesystem::remove_all(path("b"));
  EXPECT_GE(operations_done(), 7) << "the file and the folder";
}

}  // namespace
}  // namespace sextant

#endif
