// What is written of made-up runs for Perfetto and for what reads PyTorch's traces.
#include "trace/interop/chrome/chrome_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/interop/kineto_import.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::interop {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kHost = "canaryhost7.corp.example";
enum Name : model::StringId { kNone, kPhases, kHostLane, kStream, kLaunch, kKernel, kTelling };

class ChromeExportTest : public testing::Test {
 protected:
  // A rank on a GPU: lanes of phases (0), launches (1) and kernels (2).
  static model::Batch rank_rows(int rank) {
    model::Batch rows;
    rows.rank_info.emplace();
    rows.rank_info->rank = rank;
    rows.rank_info->host = kHost;
    rows.rank_info->device = "cuda:0";
    rows.rank_info->device_name = "a GPU";
    rows.strings = {{rank, kPhases, "phases"},   {rank, kHostLane, "python"},
                    {rank, kStream, "stream 7"}, {rank, kLaunch, "cudaLaunchKernel"},
                    {rank, kKernel, "gemm"},     {rank, kTelling, "of canaryhost7"}};
    rows.lanes = {{rank, 0, model::LaneKind::kPhases, kPhases},
                  {rank, 1, model::LaneKind::kOperators, kHostLane},
                  {rank, 2, model::LaneKind::kCompute, kStream}};
    return rows;
  }
  static void add_step(model::Batch& rows, std::int64_t index, std::int64_t start_ns,
                       std::int64_t end_ns, double loss = 1.5) {
    model::Step step;
    step.rank = rows.rank_info->rank;
    step.index = index;
    step.start_ns = start_ns;
    step.end_ns = end_ns;
    step.loss = step.gradient_norm = loss;
    rows.steps.push_back(step);
  }
  static void add_counter(model::Batch& rows, std::int64_t time_ns, double value) {
    rows.counters.push_back({rows.rank_info->rank, kTelling, kTelling, time_ns, value});
  }
  static void add_kernel(model::Batch& rows, std::uint64_t id, std::int64_t launched_ns,
                         std::int64_t start_ns) {
    const auto add = [&](model::EventKind kind, int lane, model::StringId name,
                         std::int64_t time_ns) {
      model::Event event;
      event.start_ns = time_ns;
      event.duration_ns = 10;
      event.name = name;
      event.correlation = id;
      model::EventRun run;
      run.rank = rows.rank_info->rank;
      run.lane = lane;
      run.kind = kind;
      run.events.push_back(event);
      rows.events.push_back(run);
    };
    add(model::EventKind::kLaunch, 1, kLaunch, launched_ns);
    add(model::EventKind::kKernel, 2, kKernel, start_ns);
  }
  // Of a host's thread, in this group.
  static void add_call(model::Batch& rows, int group, std::int64_t start_ns) {
    model::Collective call;
    call.rank = rows.rank_info->rank;
    call.lane = 1;
    call.process_group = group;
    call.function = call.executed = model::CollectiveFunction::kAllReduce;
    call.tag_kind = model::TagKind::kNamed;
    call.tag_name = kTelling;
    call.start_ns = call.enqueued_ns = start_ns;
    call.end_ns = start_ns + 10;
    rows.collectives.push_back(call);
  }

  fs::path record(std::vector<model::Batch> ranks) const {
    model::RunInfo info = test::run_info("made-up", static_cast<int>(ranks.size()));
    info.start_ns = 1000;
    const auto run = store::create_run(folder_.path(), info, true);
    EXPECT_TRUE(run) << run.error().message;
    for (model::Batch& rows : ranks) {
      const int rank = rows.rank_info->rank;
      auto writer = store::TraceWriter::create(store::rank_file(*run, rank), rank,
                                               store::TraceWriterOptions{});
      EXPECT_TRUE(writer) << writer.error().message;
      (*writer)->submit(std::move(rows));
      EXPECT_TRUE((*writer)->close());
    }
    info.status = model::RunStatus::kDone;
    EXPECT_TRUE(store::update_run(*run, info));
    return *run;
  }
  // As a file of all ranks.
  std::string exported(const fs::path& run, ChromeExportOptions options = {}) const {
    options.overwrite = true;
    const fs::path file = folder_ / "out.json";
    const auto written = export_chrome_trace(run, file, options);
    EXPECT_TRUE(written) << written.error().message;
    return test::bytes_of(file);
  }
  // Each file as it is where ranks have one of their own.
  std::string exported_apart(const fs::path& run, ChromeExportOptions options = {}) const {
    options.overwrite = true;
    const auto written = export_chrome_trace(run, folder_ / "apart", options);
    EXPECT_TRUE(written) << written.error().message;
    std::string text;
    if (!written) return text;
    for (const fs::path& file : written->files) {
      const gzFile stream = gzopen(file.c_str(), "rb");
      std::array<char, 4096> part;
      for (int size = 0; (size = gzread(stream, part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(size));
      }
      gzclose(stream);
    }
    return text;
  }
  // Events have a line each.
  static std::vector<std::string> lines_with(const std::string& text, std::string_view part) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.find(part) != line.npos) lines.push_back(line);
    }
    return lines;
  }

  test::Folder folder_;
};

TEST_F(ChromeExportTest, LeavesOutWhatIsNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  model::Batch rows = rank_rows(0);
  add_step(rows, 0, 1000, 2000);
  add_step(rows, 1, 2000, 3000, kInfinity);
  add_step(rows, 2, 3000, 4000, -kInfinity);
  add_counter(rows, 1000, 12.5);
  add_counter(rows, 2000, kInfinity);
  const std::string text = exported(record({rows}));
  const auto steps = lines_with(text, "\"ProfilerStep#");
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_THAT(steps[0], HasSubstr("\"loss\":1.5"));
  EXPECT_THAT(steps[0], HasSubstr("\"gradient norm\":1.5"));
  for (const std::size_t step : {1, 2}) {
    EXPECT_THAT(steps[step], Not(HasSubstr("\"loss\"")));
    EXPECT_THAT(steps[step], Not(HasSubstr("\"gradient norm\"")));
  }
  EXPECT_THAT(lines_with(text, "\"name\":\"loss\""), SizeIs(1));
  EXPECT_THAT(lines_with(text, "\"value\":12.5"), SizeIs(1));
  EXPECT_THAT(lines_with(text, "\"value\""), SizeIs(1));
}

TEST_F(ChromeExportTest, StepsWithoutDetailHaveNoneOnceTheyAreImported) {
  model::Batch rows = rank_rows(0);
  for (const int step : {4, 5, 6}) {
    add_step(rows, step, 1000 * step, 1000 * step + 1000);
    rows.steps.back().full_detail = step == 5;
  }
  add_kernel(rows, 1, 5010, 5100);
  ChromeExportOptions options;
  options.overwrite = true;
  const auto written = export_chrome_trace(record({rows}), folder_ / "apart", options);
  ASSERT_TRUE(written) << written.error().message;
  const auto imported = import_kineto(written->files, folder_ / "imported");
  ASSERT_TRUE(imported) << imported.error().message;
  auto reader = store::RunReader::open(imported->folder);
  ASSERT_TRUE(reader) << reader.error().message;
  std::map<std::int64_t, bool> has_detail;
  for (;;) {
    const auto batches = (*reader)->poll();
    ASSERT_TRUE(batches);
    if (batches->empty()) break;
    for (const model::Batch& batch : *batches) {
      for (const model::Step& step : batch.steps) has_detail[step.index] = step.full_detail;
    }
  }
  EXPECT_EQ(has_detail, (std::map<std::int64_t, bool>{{4, false}, {5, true}, {6, false}}));
}

// A host's clock is ahead of the other's, so that its step 7 begins within the other's step 6.
TEST_F(ChromeExportTest, WritesTheStepsThatWereAskedForOfEachRank) {
  std::vector<model::Batch> ranks;
  for (const int rank : {0, 1, 2}) {
    model::Batch rows = rank_rows(rank);
    for (const int step : {4, 5, 6, 7}) {
      const std::int64_t start_ns = 1000 * step - 100 * rank;
      add_step(rows, rank == 2 ? step + 4 : step, start_ns, start_ns + 1000);
    }
    if (rank == 0) {
      add_kernel(rows, 1, 4990, 5010);
      add_kernel(rows, 2, 5100, 5110);
      add_kernel(rows, 3, 6990, 7010);
    }
    ranks.push_back(rows);
  }
  ChromeExportOptions options;
  options.steps = {5, 6};
  const std::string text = exported(record(ranks), options);
  EXPECT_THAT(lines_with(text, "\"ProfilerStep#"), SizeIs(4));
  EXPECT_THAT(lines_with(text, "\"ProfilerStep#5\""), SizeIs(2));
  EXPECT_THAT(lines_with(text, "\"ProfilerStep#6\""), SizeIs(2));
  EXPECT_THAT(lines_with(text, "\"cat\":\"kernel\""), SizeIs(2));
  EXPECT_THAT(lines_with(text, "\"cat\":\"cuda_runtime\""), SizeIs(2));
  // From what is written to what is written.
  for (const char* end : {"\"ph\":\"s\"", "\"ph\":\"f\""}) {
    const auto ends = lines_with(text, end);
    ASSERT_THAT(ends, SizeIs(1)) << end;
    EXPECT_THAT(ends[0], HasSubstr("\"id\":2"));
  }
}

// Else a small file that somebody damaged fills a disk.
TEST_F(ChromeExportTest, TellsAnEventOnceHoweverManyLaunchesAndLanesAreItsOwn) {
  model::Batch rows = rank_rows(0);
  rows.lanes.push_back(rows.lanes.back());
  rows.process_groups = {{0, 0, kNone, kNone, {0}}, {0, 0, kNone, kNone, {0}}};
  add_step(rows, 0, 1000, 2000);
  add_call(rows, 0, 1200);
  for (const std::int64_t at : {1100, 1150, 1160}) add_kernel(rows, 7, at, at + 200);
  const std::string text = exported(record({rows}));
  EXPECT_THAT(lines_with(text, "\"cat\":\"kernel\""), SizeIs(3));
  EXPECT_THAT(lines_with(text, "all_reduce"), SizeIs(1));
  for (const char* end : {"\"ph\":\"s\"", "\"ph\":\"f\""}) {
    EXPECT_THAT(lines_with(text, end), SizeIs(3)) << end;
  }
}

TEST_F(ChromeExportTest, RefusesStepsThatNoRankHas) {
  model::Batch rows = rank_rows(0);
  add_step(rows, 3, 1000, 2000);
  ChromeExportOptions options;
  options.steps = {4, 9};
  const auto refused = export_chrome_trace(record({rows}), folder_ / "none.json", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("it has 3 to 3"));
}

TEST_F(ChromeExportTest, TellsOfHostsOnlyWhereItIsAskedTo) {
  model::Batch rows = rank_rows(0);
  rows.rank_info->device_name = "GPU of canaryhost7";
  rows.process_groups = {{0, 0, kTelling, kTelling, {0, 1}}};
  for (model::Lane& lane : rows.lanes) {
    if (lane.id != 2) lane.name = kTelling;
  }
  add_step(rows, 0, 1000, 2000);
  add_counter(rows, 1100, 3);
  add_call(rows, 0, 1200);
  add_kernel(rows, 1, 1300, 1310);
  const fs::path run = record({rows});
  const std::string together = exported(run), apart = exported_apart(run);
  for (const std::string& text : {together, apart}) {
    EXPECT_THAT(lines_with(text, "canary"), IsEmpty());
    EXPECT_THAT(text, HasSubstr("GPU of host-1"));
    EXPECT_THAT(text, HasSubstr("of host-1, of host-1")) << "the counter";
    EXPECT_THAT(text, HasSubstr("\"tag\":\"of host-1\""));
    EXPECT_THAT(text, HasSubstr("\"Process Group Description\":\"of host-1\""));
  }
  ChromeExportOptions options;
  options.with_paths = true;
  EXPECT_THAT(exported(run, options), HasSubstr("\"tag\":\"of canaryhost7\""));
  EXPECT_THAT(exported_apart(run, options), HasSubstr("\"pg_desc\":\"default_pg\""));
}

// Each rank's trace has been told of itself alone.
TEST_F(ChromeExportTest, NumbersAGroupAlikeWhoseMembersAreNotAllKnown) {
  std::vector<model::Batch> ranks;
  for (const int rank : {0, 1}) {
    model::Batch rows = rank_rows(rank);
    rows.process_groups = {{rank, 0, kNone, kNone, {0, 1}},
                           {rank, 3, kNone, kNone, {model::kNotKnown, rank}}};
    add_call(rows, 3, 1000);
    add_call(rows, 0, 1100);
    ranks.push_back(rows);
  }
  const std::string text = exported(record(ranks));
  EXPECT_THAT(lines_with(text, "\"Process Group Name\":\"0\""), SizeIs(2));
  EXPECT_THAT(lines_with(text, "\"Process Group Name\":\"1\""), SizeIs(2));
  EXPECT_THAT(lines_with(text, "\"Process Group Ranks\":\"[0, 1]\""), SizeIs(2));
}

}  // namespace
}  // namespace shardlens::trace::interop
