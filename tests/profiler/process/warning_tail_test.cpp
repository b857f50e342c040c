#include "profiler/process/warning_tail.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/files.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::process {
namespace {

using Level = trace::model::LogLine::Level;

TEST(LibraryWarning, IsToldFromAProgramsOwnLines) {
  EXPECT_EQ(library_warning("node3:811:902 [1] net.cc:52 NCCL WARN Call to connect failed"),
            (LibraryWarning{Level::kWarning, "NCCL: Call to connect failed"}));
  EXPECT_EQ(library_warning("[W1121 10:02:03.123456789 ProcessGroup.cpp:7] Warning: barrier()"),
            (LibraryWarning{Level::kWarning, "LibTorch: Warning: barrier()"}));
  EXPECT_EQ(library_warning("E1121 10:02:03.1 7 socket.cpp:1] [c10d] no address"),
            (LibraryWarning{Level::kError, "LibTorch: [c10d] no address"}));
  for (const char* line : {"", "W", "step 3 of 7, loss 4.1", "[Wow] fine", "warning: ours",
                           "NCCL version 2.28.9", "W1121 without an end"}) {
    EXPECT_EQ(library_warning(line), std::nullopt) << line;
  }
}

TEST(WarningTail, TakesWhatIsThereAndWhatComesLast) {
  RecordedRun run;
  const trace::test::Folder folder;
  const auto file = folder / "log";
  {
    WarningTail tail(run.recorder(), file);
    std::ofstream(file) << "a NCCL WARN one\nloss 3\nb NCCL WARN two\nc NCCL WARN unfin"
                        << std::flush;
  }
  EXPECT_THAT(run.finish().log(), testing::ElementsAre("NCCL: one", "NCCL: two"));
}

TEST(WarningTail, BeginsAnewWithAFileThatIsWrittenAnew) {
  RecordedRun run;
  const trace::test::Folder folder;
  const auto file = folder / "log";
  std::ofstream(file) << "a NCCL WARN that is longer and never fin" << std::flush;
  {
    WarningTail tail(run.recorder(), file);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // so that it has begun to read
    std::ofstream(file) << "b NCCL WARN two\n" << std::flush;
  }
  EXPECT_THAT(run.finish().log(), testing::ElementsAre("NCCL: two"));
}

TEST(WarningTail, StopsWhereALibraryDoesNot) {
  RecordedRun run;
  const trace::test::Folder folder;
  const auto file = folder / "log";
  {
    WarningTail tail(run.recorder(), file);
    std::ofstream out(file);
    for (int i = 0; i < 3 * WarningTail::kMostLines; ++i) out << "x NCCL WARN again\n";
  }
  const auto lines = run.finish().log();
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(WarningTail::kMostLines) + 1);
  EXPECT_THAT(lines.back(), testing::HasSubstr("more warnings than are kept"));
}

}  // namespace
}  // namespace shardlens::profiler::process
