// Exit codes, and what goes to which stream. In the test's own process: nothing here trains.
#include "app/cli/command_line.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/sweep/sweep_file.h"
#include "tests/app/cli/called_command.h"
#include "tests/app/report/synthetic_run.h"
#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CommandLine : public testing::Test {
 protected:
  Called call(std::vector<std::string> arguments, bool with_library = true) const {
    if (with_library) arguments.insert(arguments.end(), {"--runs-dir", runs_.string()});
    return called(std::move(arguments));
  }

  // Refused with this code: a message on standard error, nothing on standard output.
  std::string refused(int code, std::vector<std::string> arguments) const {
    const Called outcome = call(std::move(arguments));
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(outcome.err.empty());
    return outcome.err;
  }

  std::string wrong_use(std::vector<std::string> arguments) const {
    std::string message = refused(kWrongUse, std::move(arguments));
    EXPECT_FALSE(fs::exists(runs_)) << "nothing may have been started";
    return message;
  }

  std::string file(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }

  const trace::test::Folder folder_;
  const fs::path runs_ = folder_ / "runs";
};

TEST_F(CommandLine, RefusesSettingsThatAreWrong) {
  EXPECT_THAT(wrong_use({"run", "--set", "bucket_cap=4"}), HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(wrong_use({"run", "--set", "bucket_cap_mb=100000"}), HasSubstr("4096"));
  EXPECT_THAT(wrong_use({"run", "--steps", "many"}), HasSubstr("steps"));
  EXPECT_THAT(wrong_use({"run", "--set", "steps"}), HasSubstr("="));
  EXPECT_THAT(wrong_use({"run", "--device", "tpu"}), HasSubstr("device"));
  EXPECT_THAT(wrong_use({"run", "--set", "ranks=3", "--ranks", "2"}),
              HasSubstr("ranks is given twice, as 3 and as 2"));
  EXPECT_THAT(wrong_use({"run", "--device", "cpu", "--set", "sequence_length=600"}),
              HasSubstr("at most 512"));
  EXPECT_THAT(wrong_use({"run", "--link", "fast"}), HasSubstr("simulate_link"));
  EXPECT_THAT(wrong_use({"run", "--device", "cpu", "--set", "static_graph=true", "--set",
                         "find_unused_parameters=true"}),
              HasSubstr("static_graph"));
}

TEST_F(CommandLine, RefusesWrongUseOfItself) {
  wrong_use({"run", "--no-such-option"});
  wrong_use({"report"});
  wrong_use({"report", "x", "--format", "html"});
  wrong_use({"screenshot", "x"});
  EXPECT_THAT(wrong_use({"screenshot", "-o", "x.png"}), HasSubstr("Name the run to show"));
  wrong_use({"bench", "no such benchmark"});
  wrong_use({"settings", "bucket_cap"});
  EXPECT_THAT(wrong_use({"reprot", "x"}), HasSubstr("reprot"));
  EXPECT_THAT(wrong_use({"replay", "x", "--speed", "1000"}), HasSubstr("speed"));
  EXPECT_THAT(wrong_use({"replay", "x", "--speed", "nan"}), HasSubstr("nan is no number"));
  EXPECT_THAT(wrong_use({"calibrate", "--seconds", "nan"}), HasSubstr("nan is no number"));
  EXPECT_THAT(wrong_use({"plan", "--memory-gb", "nan"}), HasSubstr("nan is no number"));
  EXPECT_THAT(wrong_use({"--view", "inspect/"}), HasSubstr("names no run"));
}

TEST_F(CommandLine, RefusesSettingsFilesThatAreNone) {
  EXPECT_THAT(wrong_use({"run", file("broken.yaml", "{{{: nope")}), HasSubstr("broken.yaml"));
  EXPECT_THAT(wrong_use({"run", file("bytes.yaml", std::string("\0\xff{{{: nope", 12))}),
              Not(HasSubstr("\xff")));
  EXPECT_THAT(wrong_use({"run", file("typo.yaml", "bucket_cap_mib: 3\n")}),
              HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(wrong_use({"run", file("list.yaml", "- a\n")}), HasSubstr("list.yaml"));
  EXPECT_THAT(wrong_use({"run", (folder_ / "missing.yaml").string()}), HasSubstr("missing.yaml"));
}

TEST_F(CommandLine, RefusesDataThatIsNotThere) {
  const std::string name = folder_ / "no \"text\" 😀.txt";
  EXPECT_THAT(wrong_use({"run", "--device", "cpu", "--set", "data=" + name}), HasSubstr(name));
  const std::string empty = file("empty.txt", "");
  EXPECT_THAT(refused(kFailed, {"run", "--device", "cpu", "--set", "data=" + empty}),
              HasSubstr("empty.txt"));
}

TEST_F(CommandLine, RefusesMoreRanksThanGpus) {
  EXPECT_THAT(wrong_use({"run", "--device", "cuda", "--ranks", "64"}), HasSubstr("GPU"));
}

TEST_F(CommandLine, SetTakesOneValueAndMayBeRepeated) {
  // The file after it is the settings file, not a second value of --set.
  const std::string yaml = file("job.yaml", "steps: 7\n");
  EXPECT_THAT(wrong_use({"run", "--set", "steps=8", yaml, "--set", "nonsense_key=1"}),
              HasSubstr("nonsense_key"));
}

TEST_F(CommandLine, BehindATagOrASettingStandsTheRun) {
  report::write_synthetic_run(runs_);
  ASSERT_EQ(call({"runs", "--tag", "slow", "made up"}).code, kDone);
  const auto tags = [&] { return report::Json::parse(call({"runs", "--json"}).out)[0]["tags"]; };
  EXPECT_EQ(tags(), report::Json({"slow"}));
  ASSERT_EQ(call({"runs", "--untag", "slow", "made up"}).code, kDone);
  EXPECT_EQ(tags(), report::Json::array());
  EXPECT_THAT(
      refused(kFailed, {"screenshot", "--set", "bucket_cap_mb=4", "absent", "-o", "absent.png"}),
      HasSubstr("'absent'"));
}

TEST_F(CommandLine, ALibraryThatCannotKeepNumbersIsListedAllTheSame) {
  report::write_synthetic_run(runs_);
  fs::create_directory(runs_ / ".library.sqlite");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"runs"}, {"predict", "--history"}}) {
    const Called outcome = call(command);
    EXPECT_EQ(outcome.code, kDone) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("warning: "));
  }
}

TEST_F(CommandLine, ASweepThatIsResumedKeepsItsPoints) {
  EXPECT_THAT(wrong_use({"sweep", "--resume", "caps", "--skip-refused"}),
              HasSubstr("--skip-refused or --overwrite with it"));
}

TEST_F(CommandLine, ASearchIsNotTouchedByTheCommandThatRefusesIt) {
  sweep::SweepRecord search;
  search.plan.name = "fast";
  search.plan.search.emplace();
  search.plan.points.settings.emplace_back();
  search.runs[{0, 0}].failure = "rank 1 was killed";
  fs::create_directories(sweep::sweep_folder(runs_, "fast"));
  ASSERT_TRUE(sweep::write_sweep(runs_, search));
  EXPECT_THAT(refused(kWrongUse, {"sweep", "--resume", "fast", "--repeat", "7", "--retry-failed"}),
              HasSubstr("is a search"));
  const auto kept = sweep::read_sweep(runs_, "fast");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->plan.repeats, search.plan.repeats);
  EXPECT_EQ(kept->runs.size(), 1u);
}

TEST_F(CommandLine, ABatchOfAllRanksIsSharedOutAmongThoseThatAreAskedFor) {
  const std::string config =
      file("ds_config.json", R"({"train_batch_size": 24, "zero_optimization": {"stage": 2}})");
  EXPECT_THAT(wrong_use({"run", config, "--ranks", "3", "--set", "data=/not/there"}),
              HasSubstr("among 3 ranks"));
  EXPECT_THAT(wrong_use({"run", config, "--set", "ranks=4", "--set", "data=/not/there"}),
              HasSubstr("among 4 ranks"));
  EXPECT_THAT(call({"plan", config, "--gpus-per-node", "4", "--nodes", "2"}).err,
              HasSubstr("among 8 ranks"));
}

TEST_F(CommandLine, FilesThatAreNoTracesAreNamed) {
  EXPECT_THAT(refused(kFailed, {"report", "absent"}), HasSubstr("absent"));
  EXPECT_THAT(refused(kFailed, {"report", file("empty.shardlens", "")}),
              HasSubstr("empty.shardlens"));
  EXPECT_THAT(refused(kFailed, {"report", file("text.shardlens", std::string(9000, 'x'))}),
              HasSubstr("text.shardlens"));
  EXPECT_THAT(refused(kFailed, {"pack", "absent", "-o", "out.shardlens"}), HasSubstr("absent"));
}

TEST_F(CommandLine, ATraceThatIsCutOffIsNamedAndOneOfANewerVersionAsksForANewerProgram) {
  const auto run = report::write_synthetic_run(runs_);
  const std::string packed = folder_ / "new.shardlens";
  ASSERT_EQ(call({"pack", "made up", "-o", packed}).code, kDone);
  const std::string cut = folder_ / "cut.shardlens";
  fs::copy_file(packed, cut);
  fs::resize_file(cut, fs::file_size(cut) / 2);
  EXPECT_THAT(refused(kFailed, {"report", cut}), HasSubstr("cut.shardlens"));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(packed.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "pragma user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  EXPECT_THAT(refused(kFailed, {"report", packed}), HasSubstr("newer"));
}

TEST_F(CommandLine, ReportsByNameFolderAndPackedFileAgree) {
  const auto run = report::write_synthetic_run(
      runs_, [](trace::model::RunInfo& info) { info.name = "it's \"one\" 😀; drop table step"; });
  const Called by_name = call({"report", run.info.name, "--json"});
  ASSERT_EQ(by_name.code, kDone) << by_name.err;
  EXPECT_THAT(by_name.err, IsEmpty());
  const report::Json report = report::Json::parse(by_name.out);
  EXPECT_EQ(report["run"]["name"], run.info.name);
  EXPECT_EQ(call({"report", run.folder, "--format", "json"}).out, by_name.out);
  const std::string packed = folder_ / "run.shardlens";
  ASSERT_EQ(call({"pack", run.folder, "-o", packed}).code, kDone);
  const report::Json from_packed = report::Json::parse(call({"report", packed, "--json"}).out);
  for (const auto* part : {"summary", "steps", "ranks", "collectives", "buckets"}) {
    EXPECT_EQ(from_packed[part], report[part]) << part;
  }
  EXPECT_THAT(refused(kWrongUse, {"pack", run.folder, "-o", packed}), HasSubstr("run.shardlens"));
}

TEST_F(CommandLine, TheLibraryMayBeNamedBeforeTheCommand) {
  report::write_synthetic_run(runs_);
  const Called before = call({"--runs-dir", runs_.string(), "report", "made up"}, false);
  EXPECT_EQ(before.code, kDone) << before.err;
  const std::string elsewhere = folder_ / "elsewhere";
  const Called both =
      call({"--runs-dir", elsewhere, "report", "made up", "--runs-dir", runs_.string()}, false);
  EXPECT_EQ(both.code, kDone) << both.err;
}

TEST_F(CommandLine, ReportRefusesARangeThatIsNone) {
  report::write_synthetic_run(runs_);
  EXPECT_THAT(refused(kWrongUse, {"report", "made up", "--steps", "9-12"}), HasSubstr("10..20"));
}

TEST_F(CommandLine, QueriesInEveryFormat) {
  report::write_synthetic_run(runs_);
  const std::string sql = "select rank, count(*) as n, 'a,\"b\"' as t from step group by rank";
  const Called table = call({"query", "made up", sql});
  EXPECT_EQ(table.out, "rank  n  t\n   0  9  a,\"b\"\n   1  9  a,\"b\"\n   2  9  a,\"b\"\n");
  const Called csv = call({"query", "made up", sql, "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("rank,n,t\n0,9,\"a,\"\"b\"\"\"\n"));
  const report::Json json = report::Json::parse(call({"query", "made up", sql, "--json"}).out);
  EXPECT_EQ(json["columns"], report::Json({"rank", "n", "t"}));
  EXPECT_EQ(json["rows"][2], report::Json::array({2, 9, "a,\"b\""}));
}

TEST_F(CommandLine, QueriesMayOnlyRead) {
  report::write_synthetic_run(runs_);
  refused(kWrongUse, {"query", "made up", "select nonsense from nowhere"});
  refused(kWrongUse, {"query", "made up", "delete from step"});
  const Called count = call({"query", "made up", "select count(*) from step", "--format", "csv"});
  EXPECT_EQ(count.out, "count(*)\n27\n");
}

TEST_F(CommandLine, ComparesTwoRuns) {
  report::write_synthetic_run(runs_);
  report::write_synthetic_run(runs_, [](trace::model::RunInfo& info) {
    info.name = "cap 4";
    info.start_ns -= 1'000'000'000;
    info.settings.bucket_cap_mb = 4;
  });
  const Called text = call({"compare", "made up", "cap 4"});
  EXPECT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("bucket_cap_mb"));
  const report::Json json =
      report::Json::parse(call({"compare", "made up", "cap 4", "--json"}).out);
  EXPECT_EQ(json["settings"][0]["name"], "bucket_cap_mb");
  EXPECT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["comparisons"].size(), 1u);
  // No settings ran twice: that is said, and nothing is claimed to be known between starts.
  EXPECT_TRUE(json["noise"]["between_runs"].is_null());
  EXPECT_TRUE(json["spread_within_run_only"].get<bool>());
  EXPECT_THAT(json["caveat"].get<std::string>(), HasSubstr("not known"));
  EXPECT_EQ(json["buckets_not_compared"], 0);
  for (const auto& [key, value] : json["comparisons"][0].items()) {
    report::Json top = json[key];
    if (key == "settings" || key == "figures") {
      for (auto& each : top) EXPECT_EQ(each["values"].size(), 2u);
      for (auto& each : top) each.erase("values");
    }
    EXPECT_EQ(top, value) << key;
  }
  EXPECT_THAT(text.out, HasSubstr("cap 4: " + json["sentence"].get<std::string>()));
  refused(kFailed, {"compare", "made up", "absent"});
}

TEST_F(CommandLine, ComparesUpToSixRunsWithTheFirst) {
  std::vector<std::string> names;
  static int made = 0;
  for (made = 0; made < 7; ++made) {
    names.push_back("run " + std::to_string(made));
    report::write_synthetic_run(runs_, [](trace::model::RunInfo& info) {
      info.name = "run " + std::to_string(made);
      info.start_ns -= std::int64_t{made} * 1'000'000'000;
      info.settings.bucket_cap_mb = 1 + made;
      if (made == 4) info.settings.sequence_length *= 2;
      if (made == 5) info.settings.model = "small";
    });
  }
  std::vector<std::string> six{"compare"};
  six.insert(six.end(), names.begin(), names.begin() + 6);
  const Called text = call(six);
  EXPECT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("tokens per second"));
  EXPECT_THAT(text.out, HasSubstr("run 5: not comparable: another model"));
  six.push_back("--json");
  const report::Json json = report::Json::parse(call(six).out);
  ASSERT_EQ(json["runs"].size(), 6u);
  ASSERT_EQ(json["comparisons"].size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(json["comparisons"][i]["same_work"], i != 3);
    EXPECT_EQ(json["comparisons"][i]["first"]["name"], "run 0");
    EXPECT_EQ(json["comparisons"][i]["second"]["name"], names[i + 1]);
    for (const auto& setting : json["comparisons"][i]["settings"]) {
      if (setting["name"] == "bucket_cap_mb") {
        EXPECT_EQ(setting["second"], std::to_string(2 + i));
      }
    }
  }
  std::vector<std::string> seven{"compare"};
  seven.insert(seven.end(), names.begin(), names.end());
  EXPECT_THAT(refused(kWrongUse, seven), HasSubstr("2 to 6 runs, and 7 are named"));
  EXPECT_THAT(refused(kWrongUse, {"compare", "run 0"}), HasSubstr("2 to 6 runs, and 1 is named"));
  EXPECT_THAT(refused(kWrongUse, {"compare", "run 0", "run 1", "run 0"}),
              HasSubstr("\"run 0\" is named twice"));
}

TEST_F(CommandLine, AResultThatCannotBeWrittenIsAFailure) {
  const int kept = dup(STDOUT_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  std::fflush(stdout);
  dup2(full, STDOUT_FILENO);
  const char* arguments[] = {"shardlens", "settings"};
  testing::internal::CaptureStderr();
  const int code = run_command_line(2, arguments, {});
  const std::string message = testing::internal::GetCapturedStderr();
  std::clearerr(stdout);
  dup2(kept, STDOUT_FILENO);
  close(full);
  close(kept);
  EXPECT_EQ(code, kFailed);
  EXPECT_THAT(message, HasSubstr("could not be written"));
}

TEST_F(CommandLine, DescribesEverySetting) {
  const Called all = call({"settings", "--json"}, false);
  ASSERT_EQ(all.code, kDone);
  const report::Json knobs = report::Json::parse(all.out);
  ASSERT_EQ(knobs.size(), trace::job::knobs().size());
  for (const auto& knob : knobs) EXPECT_FALSE(knob["explanation"].get<std::string>().empty());
  EXPECT_THAT(call({"settings", "bucket_cap_mb"}, false).out, HasSubstr("25"));
  const std::string link = call({"settings", "simulate_link"}, false).out;
  EXPECT_THAT(link, HasSubstr("latency_us + 8 · S · f ÷ gbit_per_s"));
  EXPECT_THAT(link, HasSubstr("8 Gbit/s are 1 GB/s"));
}

// What is kept after forward is not gathered in backward.
TEST_F(CommandLine, DescribesWithWhichStrategiesASettingHasAnEffect) {
  const auto applies_to = [&](const char* knob) -> std::string {
    const Called described = call({"settings", knob, "--json"}, false);
    const report::Json json = report::Json::parse(described.out);
    const std::string names = json["applies_to"].get<std::string>();
    EXPECT_THAT(call({"settings", knob}, false).out, HasSubstr(names));
    return names;
  };
  EXPECT_EQ(applies_to("backward_prefetch"), "full_shard, hybrid_shard");
  EXPECT_EQ(applies_to("forward_prefetch"),
            "shard_grad_op, full_shard, hybrid_shard, hybrid_shard_zero2");
  EXPECT_EQ(applies_to("bucket_cap_mb"), "ddp, zero1");
  EXPECT_EQ(applies_to("steps"), "all");
}

TEST_F(CommandLine, ASearchHasABudgetThatEnds) {
  for (const char* budget : {"1e999h", "169h", "0s"}) {
    EXPECT_THAT(wrong_use({"tune", "--budget", budget}), HasSubstr("budget")) << budget;
  }
  EXPECT_THAT(wrong_use({"tune", "--budget", "169h"}), HasSubstr("a week"));
}

TEST_F(CommandLine, DoctorSpeaksJson) {
  const Called doctor = call({"doctor", "--json"});
  const report::Json json = report::Json::parse(doctor.out);
  EXPECT_EQ(doctor.code, json["works"].get<bool>() ? kDone : kFailed);
  for (const auto& check : json["checks"]) {
    // Whatever does not work comes with advice.
    EXPECT_EQ(check["advice"].is_null(), check["state"] == "works") << check;
  }
}

TEST_F(CommandLine, EveryCommandHasHelpWithAnExample) {
  for (const auto* command : {"run", "report", "compare", "replay", "screenshot", "query", "pack",
                              "settings", "bench", "doctor", "learn"}) {
    const Called help = call({command, "--help"}, false);
    EXPECT_EQ(help.code, kDone) << command;
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
    EXPECT_THAT(help.out, HasSubstr(std::string("  shardlens ") + command)) << command;
    EXPECT_THAT(help.err, IsEmpty());
  }
  EXPECT_THAT(call({"--version"}, false).out, HasSubstr("shardlens "));
}

TEST_F(CommandLine, WithoutADisplayARunIsNotOpenedAndTheMessageSaysWhatToDo) {
  report::write_synthetic_run(runs_);
  EXPECT_THAT(refused(kFailed, {"made up"}), HasSubstr("xvfb-run"));
}

TEST_F(CommandLine, SuggestsTheCommandOptionOrSettingThatWasMeant) {
  EXPECT_THAT(refused(kWrongUse, {"comapre", "a", "b"}), HasSubstr("`shardlens compare`"));
  EXPECT_THAT(refused(kWrongUse, {"settings", "buket"}), HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(refused(kWrongUse, {"report", "a", "--jsno"}), HasSubstr("Did you mean --json?"));
  EXPECT_THAT(refused(kWrongUse, {"run", "--set", "bukcet_cap=1"}), HasSubstr("bucket_cap_mb"));
}

TEST_F(CommandLine, ARunNeedsAName) {
  EXPECT_THAT(wrong_use({"generate", "", "--events", "1000"}), HasSubstr("name"));
}

TEST_F(CommandLine, SuggestsNothingThatIsNotNear) {
  EXPECT_THAT(refused(kWrongUse, {"settings", "nope"}),
              AllOf(HasSubstr("'nope'"), Not(HasSubstr("Did you mean"))));
  report::write_synthetic_run(runs_);
  EXPECT_THAT(refused(kFailed, {"report", "qwertz"}),
              AllOf(HasSubstr("`shardlens runs`"), Not(HasSubstr("Did you mean"))));
  EXPECT_THAT(refused(kFailed, {"report", "made upp"}), HasSubstr("Did you mean 'made up'?"));
}

TEST_F(CommandLine, SaysWhatOfThatWhichWasAskedForHasNoEffect) {
  const std::string said =
      refused(kFailed, {"run", "--set", "sharding_strategy=full_shard", "--set", "bucket_cap_mb=4",
                        "--set", "forward_prefetch=true", "--set", "lr_min_ratio=0.1", "--set",
                        "epochs=3", "--steps", "30", "--predict-from", "absent"});
  EXPECT_THAT(said, HasSubstr("bucket_cap_mb has no effect with full_shard"));
  EXPECT_THAT(said, HasSubstr("lr_min_ratio has no effect with lr_schedule: cosine"));
  EXPECT_THAT(said, HasSubstr("steps has no effect with epochs: 3"));
  EXPECT_THAT(said, Not(HasSubstr("forward_prefetch has")));
  EXPECT_THAT(said, Not(HasSubstr("epochs has")));
}

// Once, whether it was asked for by an argument, a file or both.
TEST_F(CommandLine, SaysWhatDoesNothingOnACpu) {
  const std::string job = file("job.yaml",
                               "device: cpu\nnccl_algo: Ring\nallocator_conf: auto\n"
                               "sharding_strategy: full_shard\nbucket_cap_mb: 4\n");
  const std::string said = refused(kFailed, {"run", job, "--set", "nccl_algo=Tree", "--set",
                                             "limit_all_gathers=true", "--predict-from", "absent"});
  const std::string of_nccl = "nccl_algo has no effect with device: cpu";
  EXPECT_THAT(said, HasSubstr(of_nccl));
  EXPECT_EQ(said.find(of_nccl), said.rfind(of_nccl));
  EXPECT_THAT(said, HasSubstr("limit_all_gathers has no effect with device: cpu"));
  EXPECT_THAT(said, HasSubstr("bucket_cap_mb has no effect with full_shard"));
  EXPECT_THAT(said, Not(HasSubstr("allocator_conf"))) << "the file asks for what is so anyway";
  EXPECT_THAT(call({"settings", "nccl_algo"}, false).out, HasSubstr("nothing on a CPU"));
  EXPECT_THAT(call({"settings", "bucket_cap_mb"}, false).out, Not(HasSubstr("CPU")));
}

TEST_F(CommandLine, SaysThatWhatIsKeptAfterForwardIsNotPrefetched) {
  const auto said = [&](const char* strategy) {
    return refused(kFailed, {"run", "--set", std::string("sharding_strategy=") + strategy, "--set",
                             "backward_prefetch=none", "--predict-from", "absent"});
  };
  EXPECT_THAT(said("shard_grad_op"),
              HasSubstr("backward_prefetch has no effect with shard_grad_op"));
  EXPECT_THAT(said("full_shard"), Not(HasSubstr("has no effect")));
}

TEST_F(CommandLine, WordsThatAreNotTakenAreAnsweredWithThoseThatAre) {
  EXPECT_THAT(refused(kWrongUse, {"export", "a", "--format", "deepsped"}),
              HasSubstr("there is no 'deepsped'; did you mean 'deepspeed'? There are rows, chrome, "
                        "pytorch, deepspeed, accelerate"));
  EXPECT_THAT(refused(kWrongUse, {"query", "a", "select 1", "--format", "parquet"}),
              HasSubstr("there is no 'parquet'; there are table, csv, json"));
}

TEST_F(CommandLine, ExamplesAreListedAndNamedLikeOtherRuns) {
  const Called listed = call({"runs", "--examples", "--json"});
  ASSERT_EQ(listed.code, kDone) << listed.err;
  const report::Json examples = report::Json::parse(listed.out);
  ASSERT_GE(examples.size(), 2u);
  for (const auto& example : examples) {
    const auto name = example.at("name").get<std::string>();
    const Called report = call({"report", name, "--json"});
    EXPECT_EQ(report.code, kDone) << report.err;
    EXPECT_EQ(report::Json::parse(report.out).at("run").at("name"), name);
  }
  EXPECT_EQ(call({"report", "two_ranks"}).code, kDone) << "by the name of its file";
  EXPECT_FALSE(fs::exists(runs_)) << "nothing is written to look at examples";
}

TEST_F(CommandLine, RunsAreListedWithNumbersNotesAndTags) {
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(call({"generate", name, "--ranks", "1", "--events", "20000"}).code, kDone);
  }
  EXPECT_EQ(call({"runs", "b", "--tag", "slow", "--tag", "x", "--note", "as before"}).code, kDone);
  EXPECT_EQ(call({"runs", "b", "--untag", "x", "--rename", "better"}).code, kDone);
  EXPECT_THAT(refused(kWrongUse, {"runs", "a", "--rename", "better"}), HasSubstr("Another run"));
  const report::Json runs = report::Json::parse(call({"runs", "--json"}).out);
  ASSERT_EQ(runs.size(), 2u);
  const report::Json& b = runs.at(0).at("name") == "better" ? runs.at(0) : runs.at(1);
  const report::Json& a = &b == &runs.at(0) ? runs.at(1) : runs.at(0);
  EXPECT_EQ(b.at("name"), "better");
  EXPECT_EQ(b.at("note"), "as before");
  EXPECT_EQ(b.at("tags"), report::Json::array({"slow"}));
  EXPECT_EQ(a.at("name"), "a");
  EXPECT_EQ(a.at("note"), "");
  EXPECT_EQ(a.at("number").get<int>() + b.at("number").get<int>(), 3);
  EXPECT_EQ(call({"verify", "better"}).code, kDone) << "words do not damage a run";
}

}  // namespace
}  // namespace shardlens::app::cli
