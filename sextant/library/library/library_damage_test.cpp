// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "sextant/core/random.h"
#include "sextant/io/file.h"
#include "sextant/library/library.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/learned_objects.h"
#include "tests/same_learned_object.h"
#include "tests/temporary_folder.h"

// What is not a whole library of this version is refused and stays as it is.

namespace sextant {
namespace {

using testing::error_message;
using testing::expect_same_object;
using testing::make_learned_object;
using testing::mentions;
using testing::seed_of_test;

class DamagedLibrary : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "objects.sxt"; }

  void write(std::string_view text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::string content() const { return std::string(read_file(file()).text()); }

  std::filesystem::path restored(std::string_view text) const {
    write(text);
    return file();
  }

  /// Runs SQL on the file behind the library's back.
  void run(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message;
    sqlite3_close(database);
  }

  /// Whatever is asked of the file says why not, and nothing changes it.
  void expect_refused(const std::string& why) const {
    const std::string before = content();
    for (const LibraryAccess access : {LibraryAccess::kRead, LibraryAccess::kWrite}) {
      const std::string message = error_message([&] {
        Library library(file(), access);
        library.put(make_learned_object("tea", seed_of_test()));
      });
      EXPECT_TRUE(mentions(message, why));
      EXPECT_TRUE(mentions(message, "objects.sxt"));
    }
    EXPECT_EQ(content() == before, true) << "the file was changed";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(DamagedLibrary, RefusesOtherFiles) {
  write("name,x,y\nmilk,1,2\n");
  expect_refused("is not a library of objects");
  write(std::string(5000, '\0'));
  expect_refused("is not a library of objects");
  write("SQLite format 3");
  expect_refused("is not a library of objects");
}

TEST_F(DamagedLibrary, RefusesFilesOfOtherPrograms) {
  run("CREATE TABLE bookmarks (title); INSERT INTO bookmarks VALUES ('x')");
  expect_refused("another program");
}

TEST_F(DamagedLibrary, RefusesOtherVersions) {
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  run("PRAGMA user_version = 7");
  expect_refused("is version 7 of the library format, this program uses version 1; use the newer");
  run("PRAGMA user_version = 0");
  expect_refused("is version 0");
}

TEST_F(DamagedLibrary, RefusesOtherTables) {
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  run("CREATE TRIGGER t AFTER INSERT ON object BEGIN DELETE FROM part; END");
  expect_refused("tables are not those of a library");
}

TEST_F(DamagedLibrary, RefusesWriteAheadLogs) {
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  run("PRAGMA journal_mode = WAL");
  expect_refused("write-ahead log");
}

TEST_F(DamagedLibrary, RefusesWhatIsNoFile) {
  EXPECT_TRUE(mentions(error_message([&] { Library library(folder_.path()); }), "is a folder"));
  EXPECT_TRUE(mentions(error_message([] { Library library("/dev/null"); }), "not a plain file"));
  EXPECT_TRUE(
      mentions(error_message([&] { Library library(folder_ / "no.sxt", LibraryAccess::kRead); }),
               "there is no such library; 'sextant learn' makes one"));
  EXPECT_TRUE(mentions(error_message([&] {
                         Library library(folder_ / "no" / "objects.sxt");
                         library.put(make_learned_object("milk", seed_of_test()));
                       }),
                       "objects.sxt: cannot be opened"));
}

TEST_F(DamagedLibrary, TakesAnEmptyFileForANewOne) {
  write("");
  EXPECT_TRUE(mentions(error_message([&] { Library library(file(), LibraryAccess::kRead); }),
                       "no such library"));
  Library library(file());
  EXPECT_TRUE(library.list().empty());
  library.put(make_learned_object("milk", seed_of_test()));
  EXPECT_EQ(library.list().size(), 1u);
}

/// A bit that turns over in what an object is made of is noticed, wherever it is.
TEST_F(DamagedLibrary, NoticesEveryFlippedBit) {
  const LearnedObject milk = make_learned_object("milk", seed_of_test());
  Library(file()).put(milk);
  const std::string whole = content();
  const Random random{seed_of_test()};
  int noticed = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::string damaged = whole;
    const std::size_t at = random.below(static_cast<std::uint32_t>(whole.size()), 2 * i);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8, 2 * i + 1)));
    write(damaged);
    try {
      const Library library(file(), LibraryAccess::kRead);
      expect_same_object(library.load("milk"), milk);
      // It was in the header's counters or in space that nothing uses.
    } catch (const Error&) {
      ++noticed;
    }
  }
  // What is stored of the object is that share of the file; three deviations less would be chance.
  const double share = static_cast<double>(Library(restored(whole)).entry("milk").stored_bytes) /
                       static_cast<double>(whole.size());
  EXPECT_GT(noticed, 300 * share - 3 * std::sqrt(300 * share));
}

TEST_F(DamagedLibrary, NoticesACutFile) {
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  const std::string whole = content();
  for (const double share : {0.1, 0.5, 0.9}) {
    write(whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
    EXPECT_THROW(
        {
          const Library library(file(), LibraryAccess::kRead);
          library.load("milk");
        },
        Error);
  }
}

TEST_F(DamagedLibrary, NamesTheObjectAndPartThatAreDamaged) {
  Library(file()).put(make_learned_object("tea", seed_of_test()));
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  run("UPDATE part SET data = zeroblob(100) WHERE kind = 'shot' AND object = 2");
  const Library library(file());
  EXPECT_TRUE(mentions(error_message([&] { library.load("milk"); }), "\"milk\", shot: is damaged"));
  EXPECT_TRUE(mentions(error_message([&] { library.verify(); }), "\"milk\", shot: is damaged"));
  EXPECT_NO_THROW(library.load("tea"));
  EXPECT_NO_THROW(library.load("milk", {.shot = false}));
  run("UPDATE object SET about = replace(about, 'bop_id\":7', 'bop_id\":8') WHERE name = 'tea'");
  EXPECT_TRUE(mentions(error_message([&] { library.list(); }), "\"tea\": what is said of it"));
  run("DELETE FROM part WHERE kind = 'views' AND object = 2");
  EXPECT_TRUE(mentions(error_message([&] { library.load("milk", {.shot = false}); }),
                       "0 views instead of 8"));
}

/// A disk that fills up: the write fails, the library is as before.
TEST_F(DamagedLibrary, SurvivesAFullDisk) {
  const LearnedObject milk = make_learned_object("milk", seed_of_test());
  const LearnedObject large = make_learned_object("large", seed_of_test(), {.tensors = 4000});
  Library library(file());
  library.put(milk);
  const std::string before = content();

  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit;
  limit.rlim_cur = std::filesystem::file_size(file()) + 100000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string message = error_message([&] { library.put(large); });
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);

  EXPECT_TRUE(mentions(message, "objects.sxt"));
  EXPECT_TRUE(mentions(message, "nothing was changed"));
  EXPECT_TRUE(content() == before);
  library.verify();
  expect_same_object(library.load("milk"), milk);
  library.put(large);
  EXPECT_EQ(library.list().size(), 2u);
}

TEST_F(DamagedLibrary, SaysThatItMayNotWrite) {
  if (::geteuid() == 0) GTEST_SKIP() << "the system administrator may write everywhere";
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  std::filesystem::permissions(file(), std::filesystem::perms::owner_read);
  const LearnedObject tea = make_learned_object("tea", seed_of_test());
  EXPECT_TRUE(mentions(error_message([&] { Library(file()).put(tea); }), "may not be written"));
  EXPECT_EQ(Library(file(), LibraryAccess::kRead).list().size(), 1u);
  std::filesystem::permissions(file(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(
      folder_.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_TRUE(mentions(error_message([&] { Library(file()).put(tea); }), "rights"));
  EXPECT_EQ(Library(file(), LibraryAccess::kRead).list().size(), 1u);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace sextant
