// generate, query, export, pack and verify as typed, in the test's own process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/report/report_json.h"
#include "tests/app/cli/called_command.h"
#include "trace/base/file_system.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DataCommands : public testing::Test {
 protected:
  Called call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--runs-dir", (folder_.path() / "runs").string()});
    return called(std::move(arguments));
  }
  // The document of a command that succeeds and writes nothing else.
  report::Json json(std::vector<std::string> arguments, int code = 0) const {
    arguments.emplace_back("--json");
    const Called answer = call(std::move(arguments));
    EXPECT_EQ(answer.code, code) << answer.err;
    EXPECT_THAT(answer.err, IsEmpty());
    return report::Json::parse(answer.out, nullptr, false);
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  const trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

TEST_F(DataCommands, WorkOnOneMadeUpRun) {
  const report::Json run = json({"generate", "made", "--ranks", "2", "--events", "30000"});
  const std::int64_t events = run["events"];
  EXPECT_GT(events, 0);
  std::int64_t found = 0;
  for (const char* table : {"kernel", "launch", "op", "copy", "allocation", "collective"}) {
    const report::Json rows = json({"query", "made", std::string("select count(*) from ") + table});
    found += rows["rows"][0][0].get<std::int64_t>();
  }
  EXPECT_EQ(found, events);
  const report::Json exported =
      json({"export", "made", "--format", "rows", "-o", file("rows.sqlite")});
  auto database = trace::store::Database::open(file("rows.sqlite"), SQLITE_OPEN_READONLY, "rows");
  ASSERT_TRUE(database);
  EXPECT_EQ(exported["tables"]["kernel"].get<std::int64_t>(),
            *database->integer("select count(*) from kernel"));
  const std::string sums =
      "select rank, name, count(*), sum(end_ns - start_ns) from kernel group by rank, name "
      "order by rank, name";
  const report::Json kernels = json({"query", "made", sums})["rows"];
  EXPECT_GT(kernels.size(), 2u);
  std::int64_t took_ns = 0;
  for (const auto& row : kernels) took_ns += row[3].get<std::int64_t>();
  EXPECT_EQ(took_ns, *database->integer("select sum(end_ns - start_ns) from kernel"));
  json({"pack", "made", "-o", file("made.shardlens")});
  EXPECT_EQ(json({"query", file("made.shardlens"), sums})["rows"], kernels);
  for (const std::string& path : {std::string("made"), file("made.shardlens")}) {
    const report::Json report = json({"verify", path});
    EXPECT_TRUE(report["intact"].get<bool>());
    EXPECT_EQ(report["ranks"].size(), 2u);
    std::int64_t verified = 0;
    for (const auto& rank : report["ranks"]) verified += rank["events"].get<std::int64_t>();
    EXPECT_EQ(verified, events);
    EXPECT_EQ(json({"report", path})["recorder"]["events"], events);
  }
  EXPECT_THAT(call({"verify", "made"}).out, HasSubstr("Intact"));
}

TEST_F(DataCommands, VerifyEndsWithOneAndTellsWhatIsDamaged) {
  json({"generate", "made", "--ranks", "2", "--events", "30000"});
  json({"pack", "made", "-o", file("made.shardlens")});
  {
    auto database =
        trace::store::Database::open(file("made.shardlens"), SQLITE_OPEN_READWRITE, "packed");
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute("update chunk set last_ns = last_ns + 1 where row_id in (select "
                          "row_id from chunk where rank = 1 and kind = 'kernel' limit 1)"));
  }
  const report::Json report = json({"verify", file("made.shardlens")}, 1);
  EXPECT_FALSE(report["intact"].get<bool>());
  ASSERT_EQ(report["damage"].size(), 1u);
  EXPECT_EQ(report["damage"][0]["rank"], 1);
  EXPECT_EQ(report["damage"][0]["kind"], "kernel");
  const std::string text = call({"verify", file("made.shardlens")}).out;
  EXPECT_THAT(text, HasSubstr("kernel events from 0.0"));
  EXPECT_THAT(text, HasSubstr("all of rank 0"));
}

TEST_F(DataCommands, ExportSettingsAsPytorchCode) {
  trace::model::RunInfo trained;
  trained.name = "made";
  trained.world_size = 2;
  ASSERT_TRUE(trace::store::create_run(file("runs"), trained, false));
  const std::string code = call({"export", "made", "--format", "pytorch"}).out;
  EXPECT_THAT(code, HasSubstr("DistributedDataParallel("));
  EXPECT_THAT(code, HasSubstr("--nproc-per-node 2 train.py"));
  const report::Json answer = json({"export", "made", "--format", "pytorch", "-o", file("p.py")});
  EXPECT_EQ(answer["text"], code);
  EXPECT_EQ(fs::file_size(file("p.py")), code.size());
  EXPECT_EQ(call({"export", "made", "--format", "pytorch", "-o", file("p.py")}).code, 2);
  EXPECT_EQ(call({"export", "made", "--format", "pytorch", "-o", file("p.py"), "--overwrite"}).code,
            0);
  EXPECT_EQ(call({"export", "made", "--format", "pytorch", "-o", file("no/p.py")}).code, 1);
  EXPECT_EQ(call({"export", "made"}).code, 2) << "tables need a file";
  const Called some = call({"export", "made", "--format", "pytorch", "--steps", "1..2"});
  EXPECT_EQ(some.code, 2);
  EXPECT_THAT(some.err, HasSubstr("--steps is for --format chrome"));
}

TEST_F(DataCommands, ExportSettingsThatWerePredictedAndNotRun) {
  trace::model::RunInfo trained;
  trained.name = "made";
  trained.world_size = 2;
  ASSERT_TRUE(trace::store::create_run(file("runs"), trained, false));
  const auto exported = [&](const std::string& format, const std::string& assignment) {
    return call({"export", "made", "--format", format, "--set", assignment});
  };
  const std::string code = exported("pytorch", "bucket_cap_mb=4").out;
  EXPECT_THAT(code, HasSubstr("as in the run 'made', but bucket_cap_mb=4, for PyTorch"));
  EXPECT_THAT(code, HasSubstr("    bucket_cap_mb=4,"));
  EXPECT_THAT(exported("accelerate", "bucket_cap_mb=4").out, HasSubstr("but bucket_cap_mb=4"));
  EXPECT_THAT(exported("pytorch", "sharding_strategy=full_shard").out, HasSubstr("fully_shard("));
  EXPECT_THAT(exported("pytorch", "bucket_cap=4").err, HasSubstr("bucket_cap"));
  for (const char* format : {"pytorch", "deepspeed", "accelerate"}) {
    const Called some = call({"export", "made", "--format", format, "--set", "simulate_link=off",
                              "--set", "record=none", "--set", "bucket_cap_mb=4"});
    EXPECT_EQ(some.code, 0) << format;
    EXPECT_THAT(some.err, HasSubstr("not taken: record=none")) << format;
    EXPECT_THAT(some.err, Not(HasSubstr("bucket_cap_mb=4 is no part"))) << format;
    EXPECT_THAT(some.out, Not(HasSubstr("record="))) << format;
  }
  EXPECT_EQ(json({"export", "made", "--format", "pytorch", "--set", "sharding_strategy=full_shard",
                  "--set", "bucket_cap_mb=4"})["not_taken"],
            report::Json::array({"bucket_cap_mb"}))
      << "units have no buckets";
  const Called refused = exported("rows", "bucket_cap_mb=4");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--set is for"));
}

TEST_F(DataCommands, ExportNoCodeOfAProgramWhoseSettingsAreNotKnown) {
  std::ofstream(file("t.json"))
      << R"({"schemaVersion":1,"distributedInfo":{"rank":0},"traceEvents":[
    {"ph":"X","cat":"kernel","name":"gemm","ts":100,"dur":50,"pid":0,"tid":7}]})";
  const Called imported = call({"import", file("t.json"), "-o", "foreign"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Called refused = call({"export", "foreign", "--format", "pytorch"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("settings are not known"));
  EXPECT_THAT(refused.out, IsEmpty());
}

TEST_F(DataCommands, RefuseWhatIsThereAndWhatIsNot) {
  json({"generate", "made", "--ranks", "1", "--events", "1"});
  EXPECT_EQ(call({"generate", "made"}).code, 2);
  EXPECT_EQ(call({"generate", "none", "--ranks", "0"}).code, 2);
  std::ofstream(file("there")) << "precious";
  EXPECT_EQ(call({"export", "made", "-o", file("there")}).code, 2);
  EXPECT_EQ(call({"pack", "made", "-o", file("there")}).code, 2);
  EXPECT_EQ(fs::file_size(file("there")), 8u);
  EXPECT_EQ(call({"export", "made", "--format", "parquet", "-o", file("x")}).code, 2);
  for (const std::string command : {"verify", "export", "query"}) {
    std::vector<std::string> arguments{command, "absent"};
    if (command == "export") arguments.insert(arguments.end(), {"-o", file("x")});
    if (command == "query") arguments.emplace_back("select 1");
    const Called answer = call(arguments);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_THAT(answer.err, HasSubstr("absent")) << command;
  }
  const Called wrong = call({"query", "made", "select step_ms from kernel"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("Columns of kernel: rank, lane"));
}

TEST_F(DataCommands, TheHelpOfQueryDescribesEveryColumnOfEvents) {
  const std::string help = call({"query", "--help"}).out;
  for (const char* text : {"kernel: kernels on a GPU", "allocation: memory", "correlation",
                           "duration_ns", "is_leaf", "collective"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
}

}  // namespace
}  // namespace shardlens::app::cli
