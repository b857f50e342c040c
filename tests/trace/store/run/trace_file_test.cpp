#include "trace/store/run/trace_file.h"

#include <gtest/gtest.h>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::Folder;

void expect_error(const fs::path& run, base::ErrorKind kind, const std::string& file,
                  const std::string& advice) {
  const auto reader = RunReader::open(run);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, kind) << reader.error().message;
  EXPECT_NE(reader.error().message.find(file), std::string::npos) << reader.error().message;
  EXPECT_NE(reader.error().message.find(advice), std::string::npos) << reader.error().message;
  const auto query = query_run(run, "select 1");
  ASSERT_FALSE(query);
  EXPECT_EQ(query.error().message, reader.error().message);
}

void execute(const fs::path& file, const std::string& sql) {
  auto database = Database::open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "test");
  ASSERT_TRUE(database);
  const auto done = database->execute(sql);
  ASSERT_TRUE(done) << done.error().message;
}

TEST(TraceFile, OfANewerVersionAsksForAnUpdate) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "newer", 1, 1);
  execute(rank_file(run, 0), "pragma user_version=98");
  expect_error(run, base::ErrorKind::kOtherVersion, "rank_0.sqlite", "update Shardlens");
  execute(run / kRunFile, "pragma user_version=97");
  expect_error(run, base::ErrorKind::kOtherVersion, "run.sqlite", "update Shardlens");
}

TEST(TraceFile, OfAnOlderVersionIsRefusedAndSaysSo) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "older", 1, 1);
  for (const int format : {kFormat - 1, 1, 0}) {
    execute(rank_file(run, 0), "pragma user_version=" + std::to_string(format));
    expect_error(run, base::ErrorKind::kOtherVersion, "rank_0.sqlite",
                 "an older version of Shardlens (format " + std::to_string(format));
    expect_error(run, base::ErrorKind::kOtherVersion, "rank_0.sqlite", "record the run again");
    EXPECT_EQ(open_for_writing(rank_file(run, 0)).error().kind, base::ErrorKind::kOtherVersion);
  }
  execute(run / kRunFile, "pragma user_version=3");
  expect_error(run, base::ErrorKind::kOtherVersion, "run.sqlite", "an older version");
}

TEST(TraceFile, OfAnotherProgramIsForeign) {
  const Folder folder;
  execute(folder / "places.sqlite", "create table bookmark(url)");
  expect_error(folder / "places.sqlite", base::ErrorKind::kForeign, "places.sqlite",
               "another program");
  test::write_text(folder / "notes.txt", std::string(5000, 'x'));
  expect_error(folder / "notes.txt", base::ErrorKind::kForeign, "notes.txt",
               "not a Shardlens trace");
  test::write_text(folder / "short.txt", "hello");
  expect_error(folder / "short.txt", base::ErrorKind::kForeign, "short.txt",
               "not a Shardlens trace");
}

TEST(TraceFile, ThatIsEmptyIsDamaged) {
  const Folder folder;
  test::write_text(folder / "empty.shardlens", "");
  expect_error(folder / "empty.shardlens", base::ErrorKind::kDamaged, "empty.shardlens",
               "is empty");
}

TEST(TraceFile, ThatIsMissingIsNamed) {
  const Folder folder;
  const auto reader = RunReader::open(folder / "absent");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, base::ErrorKind::kMissing);
  EXPECT_NE(reader.error().message.find("absent"), std::string::npos);
}

TEST(TraceFile, AFolderThatIsNoRunIsForeign) {
  const Folder folder;
  expect_error(folder.path(), base::ErrorKind::kForeign, folder.path(), "not a run's folder");
}

TEST(TraceFile, OfOneRankIsNotARun) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "rank", 1, 1);
  expect_error(rank_file(run, 0), base::ErrorKind::kForeign, "rank_0.sqlite",
               "name the run's folder");
}

TEST(TraceFile, ThatIsTruncatedIsDamagedAtAnyLength) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "cut", 1, 20);
  const auto file = rank_file(run, 0);
  const auto whole = fs::file_size(file);
  for (auto size = whole - 1; size > 0; size = size / 2) {
    fs::resize_file(file, size);
    const auto reader = RunReader::open(run);
    ASSERT_FALSE(reader) << size;
    EXPECT_EQ(reader.error().kind, base::ErrorKind::kDamaged) << reader.error().message;
    EXPECT_NE(reader.error().message.find("rank_0.sqlite' is truncated"), std::string::npos)
        << reader.error().message;
  }
}

TEST(TraceFile, IsFoundWhateverSlashesItsPathBeginsWith) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "run", 1, 1);
  const fs::path again("/" + run.string());
  const auto reader = RunReader::open(again);
  EXPECT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(open_for_writing(rank_file(again, 0)));
}

// A journal of `file` that can be played back and names another file, which SQLite then deletes
// (sqlite.org/fileformat.html, section 3, and readSuperJournal() in pager.c).
std::string journal_naming(const std::string& other, const fs::path& file) {
  const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", bytes = test::bytes_of(file);
  const auto word = [](std::size_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
    return text;
  };
  const auto byte = [&](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(bytes[at])};
  };
  const std::size_t page = byte(16) << 8 | byte(17);
  std::string text = magic + word(0) + word(1) + word(bytes.size() / page) + word(512) + word(page);
  text.resize(512);
  std::size_t sum = 0;
  for (const char c : other) sum += static_cast<unsigned char>(c);
  return text + word((std::size_t{1} << 30) / page + 1) + other + word(other.size()) + word(sum) +
         magic;
}

TEST(TraceFile, IsNotOpenedWhereAJournalWouldHaveAnotherFileDeleted) {
  const Folder folder;
  const auto other = folder.write("thesis.txt", "not ours");
  const auto run = test::record_run(folder.path(), "run", 1, 1);
  for (const fs::path& file : {run / kRunFile, rank_file(run, 0)}) {
    const auto journal = base::beside(file, "-journal");
    test::write_text(journal, journal_naming(other, file));
    expect_error(run, base::ErrorKind::kDamaged, journal.filename(), "delete it");
    EXPECT_FALSE(open_for_writing(file));
    const auto link = folder / "link.shardlens";
    fs::create_symlink(file, link);
    EXPECT_FALSE(open_for_writing(link));
    EXPECT_TRUE(fs::exists(other)) << file;
    fs::remove(link);
    fs::remove(journal);
  }
  EXPECT_TRUE(RunReader::open(run));
}

TEST(TraceFile, IsNotOpenedBesideALinkThatWouldBeWrittenOver) {
  const Folder folder;
  const auto other = folder.write("thesis.txt", "not ours");
  const auto run = test::record_run(folder.path(), "run", 1, 1);
  for (const char* suffix : {"-journal", "-wal"}) {
    const auto left = base::beside(rank_file(run, 0), suffix);
    fs::create_symlink(other, left);
    expect_error(run, base::ErrorKind::kDamaged, left.filename(), "delete it");
    EXPECT_TRUE(fs::is_symlink(left));
    fs::remove(left);
  }
}

TEST(TraceFile, IsOpenedWhereAllFilesAreLinksToThoseOfAFolder) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "run", 1, 1);
  const auto file = rank_file(run, 0), link = folder / "link.shardlens";
  test::write_text(base::beside(file, "-wal"), "");  // as a writer that was killed leaves it
  fs::create_symlink(file, link);
  fs::create_symlink(base::beside(file, "-wal"), base::beside(link, "-wal"));
  const auto opened = TraceFile::open(link);
  EXPECT_TRUE(opened) << opened.error().message;
}

TEST(TraceFile, IsNeverHalfVisible) {
  const Folder folder;
  const auto failing = [](Database&) -> base::Result<void> {
    return base::fail(base::ErrorKind::kIo, "half way");
  };
  EXPECT_FALSE(create_trace_file(folder / "new.sqlite", failing));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(TraceFile, WarnsOfNetworkFileSystems) {
  EXPECT_EQ(base::network_file_system_name(0x6969), "NFS");
  EXPECT_EQ(base::network_file_system_name(0xff534d42), "CIFS");
  EXPECT_EQ(base::network_file_system_name(-11317950), "CIFS");  // as a signed 32-bit f_type
  EXPECT_EQ(base::network_file_system_name(0xef53), "");         // ext4
  EXPECT_EQ(base::network_file_system_warning("/proc/does/not/exist"), "");
}

}  // namespace
}  // namespace shardlens::trace::store
