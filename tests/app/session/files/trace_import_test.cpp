#include "app/session/files/trace_import.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::session {
namespace {

// One kernel of one rank, as torch.profiler writes it.
std::filesystem::path write_trace(const std::filesystem::path& folder, const std::string& name) {
  const auto file = folder / name;
  std::ofstream(file) << R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1},
 "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, "dur": 5.0,
   "args": {"device": 0, "stream": 7, "correlation": 1}}]})";
  return file;
}

struct TraceImportTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path runs = folder.path() / "runs";
  TraceImport import{runs, [] {}};
  TraceImportTest() { std::filesystem::create_directories(runs); }
};

TEST_F(TraceImportTest, MakesARunOfWhatWasDropped) {
  import.add({write_trace(folder.path(), "trace.json")});
  ASSERT_TRUE(eventually([&] { return !import.state().imported.empty(); }));
  const auto state = import.state();
  EXPECT_FALSE(state.is_error);
  EXPECT_NE(state.notice.find("trace.json"), std::string::npos) << state.notice;
  EXPECT_TRUE(trace::store::RunReader::open(state.imported));
}

TEST_F(TraceImportTest, SaysWhyAFileIsNone) {
  const auto file = folder.path() / "letter.txt";
  std::ofstream(file) << "Dear colleague";
  import.add({file});
  ASSERT_TRUE(eventually([&] { return import.state().is_error; }));
  EXPECT_NE(import.state().notice.find("letter.txt"), std::string::npos);
  EXPECT_TRUE(import.state().imported.empty());
}

TEST_F(TraceImportTest, TakesOneAfterTheOther) {
  import.add({write_trace(folder.path(), "first.json")});
  import.add({write_trace(folder.path(), "second.json")});
  EXPECT_TRUE(eventually(
      [&] { return import.state().imported.string().find("second") != std::string::npos; }));
}

}  // namespace
}  // namespace shardlens::app::session
