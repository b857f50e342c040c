// What a writer left behind, read by its owner and by somebody who may not write.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

#include "tests/trace/store/testing/child_process.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/batch_queue.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Folder;

constexpr auto kReadOnlyFolder = fs::perms::owner_read | fs::perms::owner_exec |
                                 fs::perms::group_read | fs::perms::group_exec |
                                 fs::perms::others_read | fs::perms::others_exec;
constexpr auto kReadOnlyFile =
    fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;

// Copies the files of a writer in mid-flight, as a kill would leave them. `checkpointed`: all rows
// are in the database file, which is still in WAL mode.
void leave_behind(const fs::path& run, bool checkpointed) {
  const Folder folder;
  model::RunInfo info = test::run_info("left behind", 1);
  const auto live = create_run(folder.path(), info, false);
  ASSERT_TRUE(live);
  auto writer = TraceWriter::create(rank_file(*live, 0), 0, {1ms, INT64_MAX, 64});
  ASSERT_TRUE(writer);
  for (std::int64_t step = 0; step < 2; ++step) (*writer)->submit(test::step_batch(0, step));
  test::wait_until_committed(rank_file(*live, 0), 2);
  if (checkpointed) {
    ASSERT_TRUE(checkpoint_run(*live));
  }
  fs::create_directories(run);
  for (const auto& entry : fs::directory_iterator(*live)) {
    fs::copy_file(entry.path(), run / entry.path().filename());
  }
  ASSERT_TRUE((*writer)->close());
}

void make_read_only(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run)) {
    fs::permissions(entry.path(), kReadOnlyFile);
  }
  fs::permissions(run, kReadOnlyFolder);
}

std::string steps_read(const fs::path& run) {
  auto reader = RunReader::open(run);
  if (!reader) return reader.error().message;
  const auto batches = (*reader)->poll();
  if (!batches) return batches.error().message;
  std::size_t steps = 0;
  std::int64_t events = 0;
  for (const model::Batch& batch : *batches) {
    steps += batch.steps.size();
    events += count_events(batch);
  }
  const auto query = query_run(run, "select count(*) from step");
  if (!query) return query.error().message;
  return std::to_string(steps) + " steps, " + std::to_string(events) + " events, query " +
         to_text(query->rows[0][0]);
}

constexpr const char* kAll = "2 steps, 80 events, query 2";

struct Remains {
  const char* name;
  bool checkpointed;
  bool wal;
  bool shm;
};

class LeftBehind : public testing::TestWithParam<Remains> {
 protected:
  void SetUp() override {
    fs::permissions(folder_.path(), fs::perms::all);
    fs::create_directory(temporary_);
    fs::permissions(temporary_, fs::perms::all);
    run_ = folder_ / "run";
    leave_behind(run_, GetParam().checkpointed);
    const auto file = rank_file(run_, 0);
    if (!GetParam().wal) fs::remove(file.string() + "-wal");
    if (!GetParam().shm) fs::remove(file.string() + "-shm");
    ASSERT_EQ(fs::exists(file.string() + "-wal"), GetParam().wal);
    ASSERT_EQ(fs::exists(file.string() + "-shm"), GetParam().shm);
  }
  void TearDown() override { fs::permissions(run_, fs::perms::all); }

  const Folder folder_;
  const fs::path temporary_ = folder_ / "tmp";
  fs::path run_;
};

TEST_P(LeftBehind, IsReadByItsOwner) {
  EXPECT_EQ(test::in_child([&] { return steps_read(run_); }), kAll);
}

TEST_P(LeftBehind, IsReadByAnotherUserWithoutWriteAccess) {
  make_read_only(run_);
  const auto read = [&] {
    setenv("TMPDIR", temporary_.c_str(), 1);
    return steps_read(run_);
  };
  EXPECT_EQ(test::as_nobody(read), kAll);
  EXPECT_TRUE(fs::is_empty(temporary_)) << "copies stayed behind";
}

TEST_P(LeftBehind, IsPackedByAnotherUser) {
  make_read_only(run_);
  const auto pack = [&]() -> std::string {
    setenv("TMPDIR", temporary_.c_str(), 1);
    const auto packed = pack_run(run_, temporary_ / "run.shardlens");
    return packed ? steps_read(temporary_ / "run.shardlens") : packed.error().message;
  };
  EXPECT_EQ(test::as_nobody(pack), kAll);
}

TEST_P(LeftBehind, IsCleanedUpByTheCheckpoint) {
  const auto checkpoint = [&]() -> std::string {
    const auto done = checkpoint_run(run_);
    return done ? steps_read(run_) : done.error().message;
  };
  EXPECT_EQ(test::in_child(checkpoint), kAll);
  for (const auto& entry : fs::directory_iterator(run_)) {
    EXPECT_EQ(entry.path().extension(), ".sqlite") << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LeftBehind,
                         testing::Values(Remains{"DatabaseWalShm", false, true, true},
                                         Remains{"DatabaseWal", false, true, false},
                                         Remains{"CheckpointedDatabase", true, false, false},
                                         Remains{"CheckpointedDatabaseShm", true, false, true},
                                         Remains{"CheckpointedDatabaseWal", true, true, false},
                                         Remains{"CheckpointedDatabaseWalShm", true, true, true}),
                         [](const auto& combination) { return combination.param.name; });

// Closing any descriptor of a file drops all of a process's locks on it: other readers of this
// process must not make a writer elsewhere believe that it is alone.
TEST(Permissions, ALookAtARunKeepsTheLocksOfItsReaders) {
  const Folder folder;
  model::RunInfo info = test::run_info("locks", 1);
  const auto run = create_run(folder.path(), info, false);
  ASSERT_TRUE(run);
  test::EndlessChild writer([&] {
    auto endless = TraceWriter::create(rank_file(*run, 0), 0, {1ms, INT64_MAX, 64});
    (*endless)->submit(test::step_batch(0, 0));
    std::this_thread::sleep_for(60s);
  });
  while (steps_read(*run) != "1 steps, 40 events, query 1") std::this_thread::sleep_for(2ms);
  const auto reader = RunReader::open(*run);
  ASSERT_TRUE(reader);
  ASSERT_TRUE((*reader)->poll());
  writer.kill();
  const auto holder_of_lock = [&]() -> std::string {
    const int descriptor = ::open(rank_file(*run, 0).c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_start = 0x40000002;  // SQLite's shared range
    lock.l_len = 510;
    fcntl(descriptor, F_GETLK, &lock);
    if (lock.l_type == F_UNLCK) return "nobody";
    return lock.l_pid == getppid() ? "the reader" : "somebody";
  };
  ASSERT_EQ(test::in_child(holder_of_lock), "the reader");
  ASSERT_TRUE(trace_file_uses_wal(rank_file(*run, 0)));
  EXPECT_EQ(steps_read(*run), "1 steps, 40 events, query 1");
  EXPECT_EQ(test::in_child(holder_of_lock), "the reader");
}

TEST(Permissions, AnUnreadableFileIsNamed) {
  const Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const auto run = test::record_run(folder.path(), "secret", 1, 1);
  fs::permissions(rank_file(run, 0), fs::perms::none);
  const std::string answer = test::as_nobody([&] { return steps_read(run); });
  EXPECT_NE(answer.find("rank_0.sqlite"), std::string::npos) << answer;
  EXPECT_NE(answer.find("permissions"), std::string::npos) << answer;
}

// The launcher was killed in the middle of a change: the change is undone in a copy.
TEST(Permissions, AHotJournalIsRolledBackForAReaderWithoutWriteAccess) {
  const Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  fs::create_directory(folder / "tmp");
  fs::permissions(folder / "tmp", fs::perms::all);
  const auto live = test::record_run(folder.path(), "journal", 1, 2);
  const auto run = folder / "left";
  fs::create_directory(run);
  {
    auto database = Database::open(live / kRunFile, SQLITE_OPEN_READWRITE, "run");
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("begin; update meta set value='half' where key='name'"));
    ASSERT_EQ(sqlite3_db_cacheflush(database->get()), SQLITE_OK);
    for (const auto& entry : fs::directory_iterator(live)) {
      fs::copy_file(entry.path(), run / entry.path().filename());
    }
    ASSERT_TRUE(fs::exists(run / "run.sqlite-journal"));
  }
  make_read_only(run);
  const auto name = [&] {
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    const auto info = read_run_info(run);
    return info ? info->name : info.error().message;
  };
  EXPECT_EQ(test::as_nobody(name), "journal");
  EXPECT_TRUE(fs::is_empty(folder / "tmp"));
  fs::permissions(run, fs::perms::all);
}

TEST(ReadOnlyRun, SaysThatNothingCanBeNotedInIt) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "sent", 2, 2);
  const auto packed = folder / "sent.shardlens";
  ASSERT_TRUE(pack_run(run, packed));
  fs::permissions(packed, kReadOnlyFile);
  fs::permissions(folder.path(), kReadOnlyFolder);
  const std::string answer = test::as_nobody([&]() -> std::string {
    const auto done = write_bookmarks(packed, {{100, "here"}});
    return done ? "it was written" : done.error().message;
  });
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_NE(answer.find("can only be read, so nothing can be noted in it"), std::string::npos)
      << answer;
}

}  // namespace
}  // namespace shardlens::trace::store
