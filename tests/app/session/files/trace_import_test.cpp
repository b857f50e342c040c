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
  Notice notice;
  TraceImport import{runs, notice};
  std::filesystem::path imported;
  TraceImportTest() { std::filesystem::create_directories(runs); }

  bool takes(const std::string& name) {
    return eventually([&] {
      imported = import.take_imported().value_or(imported);
      return imported.string().find(name) != std::string::npos;
    });
  }
};

TEST_F(TraceImportTest, MakesARunOfWhatWasDropped) {
  import.add({write_trace(folder.path(), "trace.json")});
  ASSERT_TRUE(takes("trace"));
  EXPECT_TRUE(eventually([&] { return notice.words().text.starts_with("Imported trace.json: "); }));
  EXPECT_FALSE(notice.words().is_error);
  EXPECT_TRUE(trace::store::RunReader::open(imported));
  EXPECT_FALSE(import.take_imported()) << "once";
}

TEST_F(TraceImportTest, MakesAnotherRunOfAFileThatWasDroppedBefore) {
  const auto file = write_trace(folder.path(), "trace.json");
  import.add({file});
  import.add({file});
  EXPECT_TRUE(takes("trace_2"));
  EXPECT_FALSE(notice.words().is_error) << notice.words().text;
}

TEST_F(TraceImportTest, SaysWhyAFileIsNone) {
  const auto file = folder.path() / "letter.txt";
  std::ofstream(file) << "Dear colleague";
  import.add({file});
  ASSERT_TRUE(eventually([&] { return notice.words().is_error; }));
  EXPECT_NE(notice.words().text.find("letter.txt"), std::string::npos);
  EXPECT_FALSE(import.take_imported());
}

TEST_F(TraceImportTest, TakesOneAfterTheOther) {
  import.add({write_trace(folder.path(), "first.json")});
  import.add({write_trace(folder.path(), "second.json")});
  EXPECT_TRUE(takes("second"));
}

}  // namespace
}  // namespace shardlens::app::session
