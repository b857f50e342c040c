#include "app/launch/hang_monitor.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app::launch {
namespace {

TEST(HangMonitor, ReadsNothingMoreOnceThatIsOfNoUse) {
  const trace::test::Folder folder;
  trace::model::RunInfo info;
  info.name = "a";
  info.world_size = 1;
  const auto run = trace::store::create_run(folder.path(), info, false);
  ASSERT_TRUE(run) << run.error().message;
  auto writer = trace::store::TraceWriter::create(trace::store::rank_file(*run, 0), 0);
  ASSERT_TRUE(writer);
  trace::model::Batch batch;
  trace::model::Step step;
  step.start_ns = 1;
  step.end_ns = 2;
  batch.steps.push_back(step);
  (*writer)->submit(std::move(batch));
  ASSERT_TRUE((*writer)->close());
  std::size_t steps = 0;
  HangMonitor monitor(*run, info, [&](const auto& read) { steps += read.steps.size(); });
  monitor.look({}, [] { return true; });
  EXPECT_EQ(steps, 0u);
  int asked = 0;
  monitor.look({}, [&] { return ++asked > 1; });
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(asked, 2) << "after the first part too";
}

}  // namespace
}  // namespace shardlens::app::launch
