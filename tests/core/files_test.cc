// Whole files: what comes back, what stays after a failure, and what the errors say.
#include "sextant/core/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "core/files/temporary_file.h"
#include "sextant/core/missing_file.h"
#include "support/ordinary_user.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// An empty folder per test, removed afterwards.
class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "sextant-files-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

 private:
  fs::path folder_;
};

TEST_F(Files, ComeBackByteForByte) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>(i % 251);
  bytes += std::string_view("\0\r\n\xff", 4);
  write_file(path("a"), bytes);
  EXPECT_EQ(read_file(path("a")), bytes);
  EXPECT_EQ(entries(), 1) << "no temporary file left";
}

TEST(Checksum, TellsBytesApart) {
  const std::string text = "sixteen bytes of text, and more";
  const std::string sum = checksum_of(text);
  EXPECT_EQ(sum.size(), 16U);
  EXPECT_EQ(sum, checksum_of(std::string(text)));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_NE(checksum_of(other), sum) << i;
  }
  EXPECT_NE(checksum_of(text + '\0'), sum);
  EXPECT_NE(checksum_of(""), checksum_of(std::string(1, '\0')));
}

TEST(Checksum, OfPiecesIsThatOfTheWhole) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += static_cast<char>('a' + i);
  // Of the first version: saved models have it.
  EXPECT_EQ(checksum_of(text.substr(0, 26)), "7b2009fa1b900a4b");
  EXPECT_EQ(checksum_of(""), "af63bd4c8601b7df");
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      Checksum sum;
      sum.add(bytes.first(a));
      sum.add(bytes.subspan(a, b - a));
      sum.add(bytes.subspan(b));
      EXPECT_EQ(sum.text(), checksum_of(text)) << a << " " << b;
    }
  }
}

TEST_F(Files, HaveTheChecksumOfTheirBytes) {
  const std::string bytes(600001, 'x');  // more than one piece
  write_file(path("a"), bytes);
  EXPECT_EQ(checksum_of_file(path("a")).checksum, checksum_of(bytes));
  EXPECT_EQ(checksum_of_file(path("a")).bytes, bytes.size());
  write_file(path("a"), "");
  EXPECT_EQ(checksum_of_file(path("a")).checksum, checksum_of(""));
  EXPECT_THROW(checksum_of_file(path("none")), Error);
}

TEST_F(Files, MayBeEmpty) {
  write_file(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
  EXPECT_EQ(fs::file_size(path("a")), 0U);
}

TEST_F(Files, CanBeWrittenInParts) {
  const std::array<std::string_view, 4> parts = {"one ", "", "two ", "three"};
  write_file(path("a"), parts);
  EXPECT_EQ(read_file(path("a")), "one two three");
}

TEST_F(Files, AreReplacedAndKeepTheirPermissions) {
  write_file(path("a"), "a long first text");
  ::chmod(path("a").c_str(), 0640);
  write_file(path("a"), "second");
  EXPECT_EQ(read_file(path("a")), "second");
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(Files, NewOnesFollowTheUmask) {
  const mode_t before = ::umask(0027);
  write_file(path("a"), "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(Files, WithTheLongestPossibleNameAreWritten) {
  const std::string name(255, 'n');
  write_file(path(name), "x");
  EXPECT_EQ(read_file(path(name)), "x");
  EXPECT_THROW(write_file(path(name + "n"), "x"), Error);
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, BehindALinkAreReplacedAndTheLinkStays) {
  fs::create_directory(path("folder"));
  write_file(path("folder/a"), "old");
  fs::create_symlink("folder/a", path("link"));
  fs::create_symlink("link", path("link to link"));
  write_file(path("link to link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link to link")));
  EXPECT_EQ(read_file(path("folder/a")), "new");
}

TEST_F(Files, BehindADanglingLinkAreCreated) {
  fs::create_symlink(path("later"), path("link"));
  write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("later")), "new");
}

TEST_F(Files, BehindACircleOfLinksAreRefused) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_THAT([&] { write_file(path("a"), "x"); },
              ThrowsMessage<Error>(HasSubstr("symbolic links")));
  EXPECT_THAT([&] { read_file(path("a")); }, ThrowsMessage<Error>(HasSubstr("symbolic links")));
}

TEST_F(Files, ErrorsNameThePathAndTheReason) {
  EXPECT_THAT([&] { read_file(path("missing")); },
              ThrowsMessage<MissingFile>("[" + path("missing") +
                                         "] cannot be opened: No such file or directory"));
  EXPECT_THAT([&] { write_file(path("missing/a"), "x"); },
              ThrowsMessage<MissingFile>("[" + path("missing/a") +
                                         "] cannot be written: No such file or directory"));
  fs::create_directory(path("folder"));
  EXPECT_THAT([&] { read_file(path("folder")); },
              ThrowsMessage<Error>("[" + path("folder") + "] must be a file, got a folder"));
  EXPECT_THAT([&] { write_file(path("folder"), "x"); },
              ThrowsMessage<Error>("[" + path("folder") + "] must be a file, got a folder"));
  EXPECT_THAT([&] { write_file(path("new") + "/", "x"); },
              ThrowsMessage<Error>(HasSubstr("cannot be written")));
  EXPECT_THAT([] { read_file(""); }, ThrowsMessage<Error>("[path] must not be empty"));
  EXPECT_THROW(write_file("", "x"), Error);
  EXPECT_THROW(write_file(path(std::string("a\0b", 3)), "x"), Error);
  EXPECT_EQ(entries(), 1) << "only the folder";
}

TEST_F(Files, LargerThanTheLimitAreRefused) {
  write_file(path("a"), "12345");
  EXPECT_EQ(read_file(path("a"), 5), "12345");
  EXPECT_THAT([&] { read_file(path("a"), 4); },
              ThrowsMessage<Error>("[" + path("a") + "] must be at most 4 bytes long"));
  // A device says no size.
  EXPECT_THAT([] { read_file("/dev/zero", 1000000); },
              ThrowsMessage<Error>(HasSubstr("at most 1000000 bytes")));
}

TEST_F(Files, ThatDoNotFitInMemoryAreRefused) {
#ifdef SEXTANT_SANITIZED
  GTEST_SKIP() << "sanitizers end the process when they cannot allocate";
#else
  // Holes need no space on the disk; no processor addresses 2^60 bytes of memory.
  write_file(path("a"), "");
  std::int64_t size = std::int64_t{1} << 60;
  if (::truncate(path("a").c_str(), size) != 0) size = std::int64_t{1} << 43;
  if (::truncate(path("a").c_str(), size) != 0) GTEST_SKIP() << "needs sparse files of 8 TiB";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = rlim_t{1} << 42;  // 4 TiB: a generous system would grant 8 TiB unseen
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  EXPECT_THAT([&] { read_file(path("a"), std::uint64_t{1} << 62); },
              ThrowsMessage<Error>("[" + path("a") + "] does not fit in memory: " +
                                   std::to_string(size + 1) + " bytes"));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
#endif
}

TEST_F(Files, ThatMayNotBeWrittenAreKept) {
  const tests::OrdinaryUser user(path(""));
  write_file(path("a"), "old");
  ::chmod(path("a").c_str(), 0444);
  EXPECT_THAT([&] { write_file(path("a"), "new"); },
              ThrowsMessage<Error>("[" + path("a") + "] cannot be written: Permission denied"));
  EXPECT_EQ(read_file(path("a")), "old");
}

TEST_F(Files, KeepTheOldBytesWhenWritingFails) {
  write_file(path("a"), "old");
  // A limit on file sizes stops the write half-way, as a full disk does.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THAT([&] { write_file(path("a"), std::string(100000, 'x')); },
              ThrowsMessage<Error>("[" + path("a") + "] cannot be written: File too large"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), 1) << "no temporary file left";
}

TEST_F(Files, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  EXPECT_THAT([] { write_file("/dev/full", "x"); },
              ThrowsMessage<Error>("[/dev/full] cannot be written: No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, APipeIsWrittenTo) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(path("pipe")); });
  const std::string bytes(200000, 'p');
  write_file(path("pipe"), bytes);
  reader.join();
  EXPECT_EQ(received, bytes);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(Files, AnOpenFileIsAppendedToByItsNumber) {
  const int file = ::open(path("a").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "one ", 4), 4);
  write_file("/dev/fd/" + std::to_string(file), "two ");
  ASSERT_EQ(::write(file, "three", 5), 5);
  ::close(file);
  EXPECT_EQ(read_file(path("a")), "one two three");
}

TEST_F(Files, WrittenByManyThreadsAtOnceAreNeverMixed) {
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i)
        write_file(path("a"), std::string(50000, static_cast<char>('a' + t)));
    });
  }
  for (auto& writer : writers) writer.join();
  const std::string bytes = read_file(path("a"));
  EXPECT_EQ(bytes, std::string(50000, bytes[0]));
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, AreRemovedUnderTheirTemporaryNamesWhenTheProgramIsToldToEnd) {
  const TemporaryName one(path("one")), two(path("two"));
  TemporaryName renamed(path("three"));
  for (const char* name : {"one", "two", "three"}) std::ofstream(path(name)) << name;
  renamed.forget();
  remove_temporary_files();
  EXPECT_FALSE(fs::exists(path("one")));
  EXPECT_FALSE(fs::exists(path("two")));
  EXPECT_TRUE(fs::exists(path("three")));
  write_file(path("a"), "x");
  EXPECT_EQ(read_file(path("a")), "x");
}

TEST_F(Files, AreRemovedUnderTheirTemporaryNamesAtTheEndOfTheScope) {
  std::vector<std::unique_ptr<TemporaryName>> many;  // more than are listed for signals
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<TemporaryName>(path(std::to_string(i))));
    std::ofstream(many.back()->path()) << i;
  }
  EXPECT_EQ(entries(), 100);
  many.clear();
  EXPECT_EQ(entries(), 0);
}

#ifndef SEXTANT_SANITIZED  // their run-time does not survive fork() everywhere
TEST_F(Files, LeaveNothingWhenTheProcessIsKilledWhileTheyAreWritten) {
  const int unnamed = ::open(path("").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) GTEST_SKIP() << "needs files without a name (O_TMPFILE)";
  ::close(unnamed);
  const std::string bytes(std::size_t{1} << 24, 'b');
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int n = 0;; ++n) write_file(path("made-" + std::to_string(n)), bytes);
    }
    ::usleep(static_cast<useconds_t>(1000 + 1500 * i));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const auto& entry : fs::directory_iterator(path(""))) {
      EXPECT_THAT(entry.path().filename().string(), ::testing::StartsWith("made-"));
      EXPECT_EQ(entry.file_size(), bytes.size());
      fs::remove(entry.path());
    }
  }
}
#endif

}  // namespace
}  // namespace sextant
