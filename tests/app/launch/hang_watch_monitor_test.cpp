#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "app/launch/hang_watch.h"
#include "tests/files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::app::launch {
namespace {

// As long as there is nothing to read, the job only starts.
TEST(HangMonitor, ReadsStepsOnceOfARunWhoseFilesComeLater) {
  const trace::test::Folder folder;
  const auto run = folder / "a";
  trace::model::RunInfo info;
  info.name = "a";
  info.world_size = 1;
  std::vector<std::int64_t> steps;
  HangMonitor monitor(run, info, [&](const auto& batch) {
    for (const auto& step : batch.steps) steps.push_back(step.index);
  });
  monitor.look({});
  ASSERT_TRUE(trace::store::create_run_at(run, info));
  monitor.look({});
  auto writer = trace::store::RowWriter::create_file(trace::store::rank_file(run, 0), 0);
  ASSERT_TRUE(writer) << writer.error().message;
  for (std::int64_t index = 0; index < 2; ++index) {
    trace::model::Batch batch;
    batch.steps.emplace_back().index = index;
    ASSERT_TRUE(writer->begin() && writer->write(batch) && writer->commit(1));
    monitor.look({});
    monitor.look({});
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 1}));
  EXPECT_FALSE(monitor.look({}));
}

}  // namespace
}  // namespace shardlens::app::launch
