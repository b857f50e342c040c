#include "trace/store/upkeep/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/model/untold.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/upkeep/export_rows.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/upkeep/verify.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::Folder;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHost = "canaryhost7.corp.example";
constexpr const char* kMachine = "0123456789abcdef";
constexpr std::int64_t kProcess = 918273;
constexpr const char* kCommand =
    "python3 /home/canaryuser/work/train.py --token=canarysecret --user canaryuser --lr 0.1";
// Whatever of them is left somewhere contains one of these.
constexpr const char* kCanaries[] = {"canary", "918273", "/home/", "corp.example"};

model::Batch telling_batch(std::int64_t step) {
  model::Batch batch = test::step_batch(0, step);
  if (step > 0) return batch;
  batch.rank_info->host = kHost;
  batch.rank_info->process_id = kProcess;
  batch.rank_info->environment = "HF_HOME=/home/canaryuser/.cache/hub";
  for (const char* text :
       {"canaryhost7:918273:918280 [0] NCCL WARN cannot open /home/canaryuser/x/lib.so",
        "started with --token=canarysecret", "reading '/home/canaryuser/My canary folder/data.txt'",
        "process 918273 on canaryhost7.corp.example ended", "home is /home/canaryuser"}) {
    batch.log.push_back({0, 5, model::LogLine::Level::kInfo, text});
  }
  // A name of events, which chunks refer to.
  batch.strings.push_back({0, 900, "/home/canaryuser/work/train.py(12): forward"});
  model::EventRun run;
  run.events = test::operator_events(1000, 50, 1);
  for (model::Event& event : run.events) event.name = 900;
  batch.events.push_back(std::move(run));
  return batch;
}

fs::path telling_run(const Folder& folder) {
  model::RunInfo info = test::run_info("told", 1);
  info.command = kCommand;
  info.machine = kMachine;
  info.imported_from = "/home/canaryuser/traces/rank0.json";
  info.reason = "rank 0 on canaryhost7 (process 918273) could not read /home/canaryuser/a/b.txt";
  info.settings.data = "/home/canaryuser/My canary folder/text.jsonl";
  const auto run = create_run(folder.path(), info, false);
  EXPECT_TRUE(run);
  auto writer = RowWriter::create_file(rank_file(*run, 0), 0);
  EXPECT_TRUE(writer);
  for (std::int64_t step = 0; step < 3; ++step) {
    EXPECT_TRUE(writer->begin());
    EXPECT_TRUE(writer->write(telling_batch(step)));
    EXPECT_TRUE(writer->commit(1000 + step));
  }
  return *run;
}

void expect_nothing_told(const fs::path& file) {
  const std::string bytes = bytes_of(file);
  ASSERT_GT(bytes.size(), 1000u);
  for (const char* canary : kCanaries) {
    const auto at = bytes.find(canary);
    EXPECT_EQ(at, bytes.npos) << canary << " in …" << bytes.substr(at < 40 ? 0 : at - 40, 100);
  }
  std::string process(8, '\0');
  for (int i = 0; i < 3; ++i)
    process[static_cast<std::size_t>(2 - i)] = static_cast<char>(kProcess >> 8 * i);
  EXPECT_EQ(bytes.find(process.substr(0, 3)), bytes.npos) << "the process id as a number";
}

TEST(Redaction, LeavesNothingOfTheMachineInWhatIsGivenAway) {
  const Folder folder;
  const auto run = telling_run(folder);
  ASSERT_TRUE(pack_run(run, folder / "packed.shardlens"));
  expect_nothing_told(folder / "packed.shardlens");
  ASSERT_TRUE(export_rows(run, folder / "rows.sqlite"));
  expect_nothing_told(folder / "rows.sqlite");
}

TEST(Redaction, KeepsFiguresAndWhatVerifyChecks) {
  const Folder folder;
  const auto run = telling_run(folder);
  const auto packed = folder / "packed.shardlens";
  ASSERT_TRUE(pack_run(run, packed));
  for (const fs::path& path : {run, packed}) {
    const auto report = verify_run(path);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damage.empty()) << path << ": " << report->damage.front().what;
  }
  const auto recorded = read_run_info(run), given = read_run_info(packed);
  EXPECT_EQ(given->machine, kMachine) << "by it runs of one machine are told";
  EXPECT_EQ(given->job, recorded->job) << "by it those of one job";
  EXPECT_TRUE(given->is_packed);
  EXPECT_FALSE(recorded->is_packed);
  auto database = open_for_writing(packed);
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from step"), 3);
  EXPECT_EQ(*database->integer("select count(*) from string where text='…/train.py(12): forward'"),
            1);
  EXPECT_EQ(
      *database->integer("select count(*) from rank where host='host-1' and process_id is null"),
      1);
  EXPECT_EQ(
      *database->integer("select count(*) from setting where key='data' and value='…/text.jsonl'"),
      1);
}

TEST(Redaction, DoesNotHideThatARunWasDamagedBefore) {
  const Folder folder;
  const auto run = telling_run(folder);
  test::change_file(rank_file(run, 0), "update step set loss=1 where step=1");
  ASSERT_TRUE(pack_run(run, folder / "packed.shardlens"));
  const auto report = verify_run(folder / "packed.shardlens");
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->damage.empty());
}

TEST(Redaction, KeepsAllOfItWhereThatWasAskedFor) {
  const Folder folder;
  const auto run = telling_run(folder);
  PackOptions pack;
  pack.with_paths = true;
  ASSERT_TRUE(pack_run(run, folder / "packed.shardlens", pack));
  ExportOptions rows;
  rows.with_paths = true;
  ASSERT_TRUE(export_rows(run, folder / "rows.sqlite", rows));
  for (const char* file : {"packed.shardlens", "rows.sqlite"}) {
    const std::string bytes = bytes_of(folder / file);
    EXPECT_NE(bytes.find(kHost), bytes.npos);
    EXPECT_NE(bytes.find("--token=canarysecret"), bytes.npos);
    EXPECT_NE(bytes.find("/home/canaryuser/work/train.py(12): forward"), bytes.npos);
  }
  const auto report = verify_run(folder / "packed.shardlens");
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->damage.empty());
}

// By it the last steps of a rank on a GPU are whole.
TEST(Redaction, KeepsThatAFileWasClosedInOrderWhateverAHostIsCalled) {
  const Folder folder;
  model::RunInfo info = test::run_info("closed", 1);
  const auto run = create_run(folder.path(), info, false);
  ASSERT_TRUE(run);
  {
    auto writer = RowWriter::create_file(rank_file(*run, 0), 0);
    ASSERT_TRUE(writer && writer->begin());
    model::Batch batch = test::step_batch(0, 0);
    batch.rank_info->host = "shardlens";
    batch.strings.push_back({0, 901, std::string(model::kClosedInOrder)});
    batch.strings.push_back({0, 902, "made on shardlens"});
    ASSERT_TRUE(writer->write(batch) && writer->commit(1000));
  }
  ASSERT_TRUE(pack_run(*run, folder / "packed.shardlens"));
  auto database = open_for_writing(folder / "packed.shardlens");
  ASSERT_TRUE(database);
  const auto count = [&](const std::string& text) {
    return *database->integer("select count(*) from string where text = '" + text + "'");
  };
  EXPECT_EQ(count(std::string(model::kClosedInOrder)), 1);
  EXPECT_EQ(count("made on host-1"), 1);
}

// As PyTorch calls them: by host, process and time.
TEST(Redaction, LeavesNamesOfTracesOut) {
  const Redaction redaction;
  EXPECT_EQ(redaction.name("gpu-17.corp_4711.1755000000000000000"), "…");
  EXPECT_EQ(redaction.text("of 'gpu17_4711.1755000000000.pt.trace.json' and n_1.1755000000001"),
            "of '….pt.trace.json' and …");
  for (const char* text : {"layer_3.25", "job_1.json", "loss_0.12345", "_.1755000000000000000"}) {
    EXPECT_EQ(redaction.name(text), text);
  }
}

TEST(Redaction, KnowsAnAbsolutePathWhateverStandsBeforeIt) {
  const Redaction redaction;
  constexpr std::pair<const char*, const char*> kTexts[]{
      {"g++ -I/data/name/include -L/data/name/lib x.o", "g++ -I…/include -L…/lib x.o"},
      {R"(failed\n/home/name/work/x.py)", R"(failed\n…/x.py)"},
      {R"("\/data\/name\/x")", R"("\…/x")"},
      {"\u201c/home/name/work/x.py\u201d", "\u201c…/x.py\u201d"},
      {"**/data/name/x** and ?/Users/name/work/y", "**…/x** and ?…/y"},
      {"in /\u00e9t\u00e9/name/x", "in …/x"}};
  for (const auto& [told, given] : kTexts) EXPECT_EQ(redaction.text(told), given);
  EXPECT_EQ(redaction.text(redaction.text(kTexts[0].first)), kTexts[0].second);
}

TEST(Redaction, LeavesOrdinaryTextsAsTheyAre) {
  const Redaction redaction;
  for (const char* text :
       {"12.5 GB/s", "a / b", "aten::addmm", "ncclDevKernel_AllReduce_Sum_f32",
        "void at::native::vectorized<4>(int, float*)", "h.0.attn.c_attn.weight", "and/or",
        "entra\u00een\u00e9/\u00e9valu\u00e9", "x -b/c", "step 12 of 30"}) {
    EXPECT_EQ(redaction.text(text), text);
  }
}

}  // namespace
}  // namespace shardlens::trace::store
