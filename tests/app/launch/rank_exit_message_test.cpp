#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "app/launch/rank_exit.h"
#include "tests/files.h"

namespace shardlens::app::launch {
namespace {

struct LastMessage : testing::Test {
  const trace::test::Folder folder;
  const std::filesystem::path log = folder / "log";

  LastWords of(const std::string& text) const {
    trace::test::write_text(log, text);
    return last_message(log);
  }
};

TEST_F(LastMessage, IsTheErrorThatTheRankNamedWhateverFollows) {
  const LastWords last = of("step 1\nerror: the cause\nwarning: later\n\n");
  EXPECT_EQ(last.text, "the cause");
  EXPECT_TRUE(last.is_error);
}

TEST_F(LastMessage, IsTheLastLineThatIsNotOfAStackTrace) {
  const LastWords last =
      of("step 1\n"
         "terminate called after throwing an instance of 'c10::DistBackendError'\n"
         "  what():  NCCL error: remote process exited\n"
         "Exception raised from checkForNCCLErrors at ProcessGroupNCCL.cpp:2\n"
         "frame #0: c10::Error::Error(c10::SourceLocation) + 0x9 (0x7f in libc10.so)\n"
         "  frame #4: <unknown function> + 0x1098ec (0x7f in /lib/libc.so.6)\n\n");
  EXPECT_EQ(last.text, "  what():  NCCL error: remote process exited");
  EXPECT_FALSE(last.is_error);
}

TEST_F(LastMessage, IsWhatTheWatchdogSaidFirst) {
  const LastWords last =
      of("[rank0]:[E 12] [PG ID 0] Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=57, OpType=ALLREDUCE)\n"
         "[rank0]:[E 13] [PG ID 0] Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=58, OpType=ALLREDUCE)\n"
         "  what():  To avoid data inconsistency, the process is taken down.\n"
         "frame #4: <unknown function>\n");
  EXPECT_TRUE(last.is_error);
  EXPECT_EQ(last.text,
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=57, OpType=ALLREDUCE)");
}

TEST_F(LastMessage, IsNothingWithoutALog) {
  EXPECT_EQ(last_message(log).text, "");
  EXPECT_EQ(of("\n \t\nframe #0: main\n").text, "");
}

TEST_F(LastMessage, OfAPipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  EXPECT_EQ(last_message(log).text, "");
}

}  // namespace
}  // namespace shardlens::app::launch
