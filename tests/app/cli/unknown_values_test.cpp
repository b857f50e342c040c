// Whatever a run's files do not tell, no command tells either. The test knows neither columns nor
// keys: it changes each column that may be NULL, sees which keys follow it, and then takes it away.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "app/report/report_json.h"
#include "tests/app/cli/called_command.h"
#include "tests/app/report/synthetic_run.h"
#include "tests/app/report/unknown_runs.h"
#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using report::Json;
using Leaves = std::map<std::string, Json>;  // by path: "ranks/0/step_ms"

// Figures of a comparison come and go: their names tell which is which.
void add_leaves(const Json& json, const std::string& path, Leaves& leaves) {
  if (!json.is_structured()) {
    leaves[path] = json;
    return;
  }
  for (const auto& [key, value] : json.items()) {
    const bool is_named = json.is_array() && value.is_object() && value.contains("unit");
    add_leaves(value, path + "/" + (is_named ? value["name"].get<std::string>() : key), leaves);
  }
}

// "ranks/*/step_ms": the same key of all.
std::string kind_of(const std::string& path) {
  std::string kind;
  bool is_number = false;
  for (const char c : path) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit || !is_number) is_number = c == '/';
    if (is_digit && is_number) {
      if (!kind.ends_with('*')) kind += '*';
    } else {
      kind += c;
    }
  }
  return kind;
}

bool is_zero(const Json& value) { return value.is_number() && value == 0; }

std::set<std::string> kinds_with_zero(const Leaves& leaves) {
  std::set<std::string> kinds;
  for (const auto& [path, value] : leaves) {
    if (is_zero(value)) kinds.insert(kind_of(path));
  }
  return kinds;
}

class UnknownValues : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { base_ = report::write_known_run(GetParam(), folder_ / "base"); }

  Json call(const fs::path& library, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json", "--runs-dir", library.string()});
    const Called answer = called(arguments);
    EXPECT_EQ(answer.code, 0) << arguments[0] << ": " << answer.err;
    return Json::parse(answer.out, nullptr, false);
  }

  // Everything that is told of a run whose rows `sql` has changed.
  Leaves told_after(const std::string& sql) {
    const fs::path library = folder_ / std::to_string(++runs_);
    const fs::path run = library / "run";
    fs::create_directories(library);
    fs::copy(base_, run, fs::copy_options::recursive);
    if (!sql.empty()) report::change(run, sql);
    Leaves leaves;
    add_leaves(call(library, {"report", run.string()}), "report", leaves);
    add_leaves(call(library, {"compare", run.string(), base_.string()}), "compare", leaves);
    add_leaves(call(library, {"runs"}), "runs", leaves);
    // The files themselves differ, whatever is in them.
    std::erase_if(leaves, [](const auto& leaf) {
      return leaf.first.ends_with("/folder") || leaf.first.ends_with("/bytes_on_disk");
    });
    last_ = run;
    return leaves;
  }

  void expect_null_in_query(const report::NullableColumn& column) const {
    const Json answer =
        call(last_.parent_path(),
             {"query", last_.string(), "select " + column.name + " from " + column.table});
    const bool is_imported = std::string(GetParam()) == "imported";
    ASSERT_TRUE(is_imported || !answer["rows"].empty())
        << column.table << " has no rows: give the test some";
    for (const Json& row : answer["rows"]) {
      EXPECT_TRUE(row[0].is_null()) << column.table << "." << column.name;
    }
  }

  // 0 where nothing like it was 0 before.
  void expect_no_new_zero(const Leaves& base, const Leaves& found, const std::string& what) const {
    const std::set<std::string> before = kinds_with_zero(base);
    for (const auto& [path, value] : found) {
      // Where it is not told what of exposed time was waiting, both are one part, as known as
      // before.
      if (path.ends_with("explained_by/exposed/difference") ||
          path.ends_with("explained_by/exposed/difference_ms")) {
        continue;
      }
      EXPECT_FALSE(is_zero(value) && !before.contains(kind_of(path)))
          << path << " is 0 without " << what;
    }
  }

  const trace::test::Folder folder_;
  fs::path base_, last_;
  int runs_ = 0;
};

// A category of memory is known by itself; sums, and what the others held at another peak, are
// known without it. Of calls the last that has a number is told. Which of two runs is faster is
// told by time where nobody knows the throughput.
bool is_told_otherwise(const report::NullableColumn& column, const std::string& path) {
  if (column.name == "nonfinite") return true;  // says of the loss what it is
  if (column.table == "pending") return path.starts_with("report/diagnosis");
  if (column.table == "memory") {
    const std::string category = column.name.substr(0, column.name.rfind("_bytes"));
    return !path.ends_with("/memory_by_category/" + category);
  }
  return path.starts_with("compare/relative") || path.starts_with("compare/noise");
}

TEST_P(UnknownValues, AreNullOrAbsentWhateverTellsThem) {
  const Leaves base = told_after("");
  std::size_t keys = 0;
  for (const report::NullableColumn& column : report::nullable_columns()) {
    const std::string set = "update " + column.table + " set " + column.name + "=";
    const Leaves changed =
        told_after(set + column.name + (column.is_real ? "*1.25" : "+" + column.name + "/4+1"));
    const Leaves without = told_after(set + "null");
    expect_null_in_query(column);
    const std::string name = column.table + "." + column.name;
    expect_no_new_zero(base, without, name);
    for (const auto& [path, value] : base) {
      const auto after = changed.find(path);
      const bool follows = value.is_number() && (after == changed.end() || after->second != value);
      if (!follows || is_told_otherwise(column, path)) continue;
      ++keys;
      const auto found = without.find(path);
      EXPECT_TRUE(found == without.end() || found->second.is_null())
          << path << " is " << found->second << " without " << name;
    }
  }
  const bool is_imported = std::string(GetParam()) == "imported";
  EXPECT_GT(keys, is_imported ? 2u : 40u) << "the columns reach what is told";
}

// What is told and is 0, is 0: null is for what nobody told.
TEST_P(UnknownValues, AreOtherThanZero) {
  const Leaves base = told_after("");
  std::size_t keys = 0;
  for (const char* column : {"collective set bytes", "pending set bytes", "step set tokens",
                             "step set samples", "memory set activations_bytes"}) {
    const std::string set = "update " + std::string(column) + "=";
    const Leaves without = told_after(set + "null");
    const Leaves zero = told_after(set + "0");
    for (const auto& [path, value] : base) {
      const auto unknown = without.find(path);
      // What moved nothing has no bandwidth.
      const bool follows = value.is_number() && unknown != without.end() &&
                           unknown->second.is_null() && path.find("bw_g") == std::string::npos;
      if (!follows) continue;
      ++keys;
      const auto found = zero.find(path);
      EXPECT_TRUE(found != zero.end() && found->second.is_number())
          << path << " is told as not known after " << set << "0";
    }
  }
  EXPECT_GE(keys, 2u);
}

TEST_P(UnknownValues, OneCategoryOfMemoryHidesNoOther) {
  if (std::string(GetParam()) == "imported") GTEST_SKIP() << "knows no category";
  const std::string path = "report/ranks/0/memory_by_category/";
  const Leaves base = told_after("");
  const Leaves without = told_after("update memory set activations_bytes=null");
  for (const auto& [each, value] : base) {
    if (!each.starts_with(path)) continue;
    const bool is_known = value.is_number() && each != path + "activations";
    EXPECT_EQ(without.at(each).is_number(), is_known) << each;
  }
}

// Nobody told of the settings, the recorder or the model, whatever is in the rows.
TEST_P(UnknownValues, AreNullOfARunThatWasImported) {
  if (std::string(GetParam()) != "imported") GTEST_SKIP();
  const Leaves leaves = told_after("");
  for (const char* path :
       {"report/run/settings", "report/run/parameters", "report/summary/tokens_per_s",
        "report/summary/samples_per_s", "report/summary/mfu", "report/summary/effective_batch",
        "report/summary/loss_last", "report/summary/phase_ms/optimizer",
        "report/ranks/0/memory_by_category/activations", "report/ranks/0/peak_tflops",
        "report/ranks/0/memory_estimate_by_category", "report/recorder/events",
        "report/recorder/lost", "report/recorder/overhead_percent", "compare/settings"}) {
    const auto found = leaves.find(path);
    EXPECT_TRUE(found == leaves.end() || found->second.is_null())
        << path << " is " << found->second;
  }
  for (const char* path : {"report/summary/exposed_ms", "report/summary/bytes_sent_per_step",
                           "report/ranks/0/peak_memory_bytes"}) {
    ASSERT_TRUE(leaves.contains(path)) << path;
    EXPECT_GT(leaves.at(path), 0) << path;
  }
}

// Some rows without some of their values: what is left is not told as if it were all.
TEST_P(UnknownValues, MakeNoZeroWhereOnlySomeAreMissing) {
  const Leaves base = told_after("");
  const auto columns = report::nullable_columns();
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::string sql, what = "seed " + std::to_string(seed) + ":";
    for (const report::NullableColumn& column : columns) {
      if (random() % 4 != 0) continue;
      const std::string rank = std::to_string(random() % report::SyntheticRun::kRanks);
      sql += "update " + column.table + " set " + column.name + "=null where " +
             (random() % 2 == 0 ? "rank=" + rank : "rank>=0") + ";";
      what += " " + column.table + "." + column.name;
    }
    expect_no_new_zero(base, told_after(sql), what);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, UnknownValues, testing::Values("own", "foreign", "imported"),
                         [](const auto& run) { return std::string(run.param); });

}  // namespace
}  // namespace shardlens::app::cli
