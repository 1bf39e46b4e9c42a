// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "sextant/core/error.h"
#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

/// Bytes that differ at every place where a piece might be lost or repeated.
std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  }
  return bytes;
}

void put(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 1000003u}) {
    const std::vector<std::byte> bytes = pattern(size);
    put(folder / "file", bytes);
    EXPECT_TRUE(same(read_file(folder / "file"), bytes)) << size;
  }
}

TEST(ReadFile, ReadsPipesAndFilesWithoutASize) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::byte> bytes = pattern(300001);
  std::thread writer([&] { put(pipe, bytes); });
  const FileBytes read = read_file(pipe);
  writer.join();
  EXPECT_TRUE(same(read, bytes));
  EXPECT_FALSE(read_file("/proc/self/status").text().empty());
}

TEST(ReadFile, KeepsWhatAPipeHeldForLaterReaders) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = pattern(200000);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { put(folder / "pipe", bytes); });
  keep_pipe(folder / "pipe");
  writer.join();
  for (int i = 0; i < 2; ++i) {
    FileReader reader(folder / "pipe");
    EXPECT_EQ(reader.size(), 200000);
    EXPECT_EQ(std::memcmp(reader.peek(8).data(), bytes.data(), 8), 0);
    const FileBytes all = read_file(folder / "pipe");
    ASSERT_EQ(all.size(), bytes.size());
    EXPECT_EQ(std::memcmp(all.data(), bytes.data(), bytes.size()), 0);
  }
  // Other files are read anew every time, and one that is not there stays an Error of its reader.
  put(folder / "file", pattern(3));
  keep_pipe(folder / "file");
  put(folder / "file", pattern(5));
  EXPECT_EQ(read_file(folder / "file").size(), 5u);
  keep_pipe(folder / "missing");
}

TEST(ReadFile, RefusesWhatIsNoReadableFile) {
  const TemporaryFolder folder;
  const std::filesystem::path missing = folder / "missing.png";
  const std::string message = error_message([&] { read_file(missing); });
  EXPECT_TRUE(mentions(message, missing.string()));
  EXPECT_TRUE(mentions(message, "No such file"));
  EXPECT_TRUE(mentions(error_message([&] { read_file(folder.path()); }), "is a folder"));
  if (::geteuid() != 0) {
    put(folder / "secret", pattern(3));
    std::filesystem::permissions(folder / "secret", std::filesystem::perms::none);
    EXPECT_TRUE(mentions(error_message([&] { read_file(folder / "secret"); }), "Permission"));
  }
}

TEST(ReadFile, StopsAtTheLimit) {
  const TemporaryFolder folder;
  put(folder / "file", pattern(100));
  EXPECT_EQ(read_file(folder / "file", 100).size(), 100u);
  EXPECT_TRUE(mentions(error_message([&] { read_file(folder / "file", 99); }), "99 bytes"));
  // A device without an end.
  EXPECT_TRUE(mentions(error_message([] { read_file("/dev/zero", 1 << 20); }), "1048576"));
}

TEST(FileReader, PeeksSkipsAndReadsTheSameFromFileAndMemory) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = pattern(500000);
  const std::span<const std::byte> all(bytes);
  put(folder / "file", bytes);
  FileReader from_file(folder / "file");
  FileReader from_memory(bytes, "memory");
  for (FileReader* reader : {&from_file, &from_memory}) {
    SCOPED_TRACE(reader->name());
    EXPECT_EQ(reader->size(), 500000);
    EXPECT_TRUE(same(reader->peek(10), all.first(10)));
    EXPECT_TRUE(same(reader->peek(1000), all.first(1000)));
    EXPECT_EQ(reader->position(), 0);
    reader->skip(3);
    EXPECT_TRUE(same(reader->peek(5), all.subspan(3, 5)));
    std::vector<std::byte> part(2000);
    reader->read_exactly(part.data(), part.size());
    EXPECT_TRUE(same(part, all.subspan(3, 2000)));
    reader->skip(200000);
    EXPECT_EQ(reader->position(), 202003);
    EXPECT_EQ(reader->remaining(), 500000 - 202003);
    EXPECT_TRUE(same(reader->peek(7), all.subspan(202003, 7)));
    part.resize(400000);
    const std::size_t got = reader->read_some(part.data(), part.size());
    EXPECT_TRUE(same(std::span<const std::byte>(part).first(got), all.subspan(202003)));
    EXPECT_EQ(reader->remaining(), 0);
    EXPECT_EQ(reader->read_some(part.data(), 1), 0u);
    EXPECT_TRUE(reader->peek(1).empty());
  }
}

TEST(FileReader, SaysWhereAFileEndsTooEarly) {
  const TemporaryFolder folder;
  put(folder / "file", pattern(1000));
  FileReader reader(folder / "file");
  char to[2000];
  const std::string message = error_message([&] { reader.read_exactly(to, 1200); });
  EXPECT_TRUE(mentions(message, (folder / "file").string()));
  EXPECT_TRUE(mentions(message, "ends after 1000 bytes, 200 too early"));
  FileReader again(folder / "file");
  EXPECT_TRUE(mentions(error_message([&] { again.skip(1001); }), "ends after 1000 bytes"));
}

TEST(FileReader, SurvivesAFileThatShrinks) {
  const TemporaryFolder folder;
  put(folder / "file", pattern(100000));
  FileReader reader(folder / "file");
  std::filesystem::resize_file(folder / "file", 10);
  std::vector<std::byte> to(100000);
  EXPECT_TRUE(mentions(error_message([&] { reader.read_exactly(to.data(), to.size()); }),
                       "ends after 10 bytes"));
}

TEST(WriteFile, WritesSmallAndLargePiecesInOrder) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = pattern(2000000);
  write_file_atomically(folder / "file", [&](FileWriter& writer) {
    std::span<const std::byte> left(bytes);
    for (std::size_t piece = 1; !left.empty(); piece = piece * 3 % 700001) {
      const std::size_t count = std::min(piece, left.size());
      writer.write(left.first(count));
      left = left.subspan(count);
    }
  });
  EXPECT_TRUE(same(read_file(folder / "file"), bytes));
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteFile, KeepsTheOldFileWhenTheWriterThrows) {
  const TemporaryFolder folder;
  const auto interrupted = [](FileWriter& writer) {
    writer.write("new");
    writer.flush();
    throw Error("interrupted");
  };
  EXPECT_THROW(write_file_atomically(folder / "file", interrupted), Error);
  EXPECT_EQ(files_in(folder.path()), 0u);
  write_file_atomically(folder / "file", std::as_bytes(std::span("old", 3)));
  EXPECT_THROW(write_file_atomically(folder / "file", interrupted), Error);
  EXPECT_EQ(text_of(folder / "file"), "old");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteFile, KeepsTheOldFileWhenTheSystemRefuses) {
  const TemporaryFolder folder;
  put(folder / "file", std::as_bytes(std::span("old", 3)));
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string message;
  try {
    write_file_atomically(folder / "file", pattern(5000));
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(mentions(message, "cannot be written: File too large"));
  EXPECT_EQ(text_of(folder / "file"), "old");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteFile, ReportsAFullDiskAndMissingFolders) {
  EXPECT_TRUE(mentions(error_message([] { write_file_atomically("/dev/full", pattern(10)); }),
                       "No space left"));
  const TemporaryFolder folder;
  const std::filesystem::path lost = folder / "nowhere/file.png";
  const std::string message = error_message([&] { write_file_atomically(lost, pattern(10)); });
  EXPECT_TRUE(mentions(message, lost.string()));
  EXPECT_TRUE(mentions(message, "No such file or directory"));
  EXPECT_TRUE(mentions(error_message([&] { write_file_atomically(folder.path(), pattern(10)); }),
                       "is a folder"));
}

TEST(WriteFile, CheckingSaysBeforehandWhatWritingWould) {
  const TemporaryFolder folder;
  for (const std::filesystem::path& path : {folder / "nowhere/file.png", folder.path()}) {
    EXPECT_EQ(error_message([&] { check_writable(path); }),
              error_message([&] { write_file_atomically(path, pattern(10)); }));
  }
  check_writable(folder / "new");
  check_writable("/dev/null");
  EXPECT_EQ(files_in(folder.path()), 0u);
}

/// What a program does that a signal ends in the middle of a write.
TEST(WriteFile, UnfinishedFilesCanBeRemoved) {
  const TemporaryFolder folder;
  put(folder / "file", pattern(3));
  const std::string message = error_message([&] {
    write_file_atomically(folder / "file", [&](FileWriter& writer) {
      writer.write(pattern(1000));
      writer.flush();
      EXPECT_EQ(files_in(folder.path()), 2u);
      const auto lock = remove_unfinished_files();
      EXPECT_EQ(files_in(folder.path()), 1u);
    });
  });
  EXPECT_TRUE(mentions(message, "cannot be replaced"));
  EXPECT_TRUE(same(read_file(folder / "file"), pattern(3)));
  EXPECT_EQ(files_in(folder.path()), 1u);
  write_file_atomically(folder / "file", pattern(5));
  EXPECT_TRUE(same(read_file(folder / "file"), pattern(5)));
}

TEST(WriteFile, LeavesDevicesAndLinksInPlace) {
  write_file_atomically("/dev/null", pattern(10));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "deep");
  put(folder / "deep/file", pattern(3));
  std::filesystem::create_symlink("deep/file", folder / "link");
  write_file_atomically(folder / "link", pattern(20));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(same(read_file(folder / "deep/file"), pattern(20)));
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THROW(write_file_atomically(folder / "loop", pattern(3)), Error);
}

TEST(WriteFile, KeepsPermissionsAndFollowsTheUmask) {
  const TemporaryFolder folder;
  const mode_t old_mask = ::umask(027);
  write_file_atomically(folder / "new", pattern(3));
  ::umask(old_mask);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "new").permissions(), perms{0640});
  std::filesystem::permissions(folder / "new", perms{0604});
  write_file_atomically(folder / "new", pattern(4));
  EXPECT_EQ(std::filesystem::status(folder / "new").permissions(), perms{0604});
}

TEST(WriteFile, AcceptsTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'x');
  write_file_atomically(folder / name, pattern(3));
  EXPECT_TRUE(same(read_file(folder / name), pattern(3)));
}

}  // namespace
}  // namespace sextant
