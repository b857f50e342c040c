// What a run is called that an import makes, where it lies, and what becomes of one that is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/trace/interop/kineto_traces.h"
#include "trace/interop/kineto_import.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::trace::interop {
namespace {

std::string rank_of_two(int rank) {
  return trace_of({kernel_at("5")}, "\"rank\":" + std::to_string(rank) + ",\"world_size\":2");
}

TEST_F(KinetoImport, ARunIsNamedAsItsFilesAre) {
  const auto name_of = [&](const std::string& first, const std::string& second) {
    ImportOptions options;
    options.overwrite = true;
    const auto imported = import_kineto(
        std::vector{write(first, rank_of_two(0)), write(second, rank_of_two(1))}, runs(), options);
    EXPECT_TRUE(imported) << imported.error().message;
    return open(imported->folder).figures.info.name;
  };
  EXPECT_EQ(name_of("job_rank10.json", "job_rank11.json"), "job");
  EXPECT_EQ(name_of("with space 0.json", "with space 1.json"), "with space");
  EXPECT_EQ(name_of("rank0.json", "rank1.json"), "rank0") << "nothing is left";
  EXPECT_EQ(name_of("a.json", "b.json"), "a");
  EXPECT_EQ(name_of("host7.17.pt.trace.json", "host8.18.pt.trace.json"), "host");
  EXPECT_EQ(name_of("host_7.1755000000000000000.pt.trace.json",
                    "host_8.1755000000000000001.pt.trace.json"),
            "trace")
      << "of a host and processes";
}

// The trace marks no steps, which the run's reader needs to know.
TEST_F(KinetoImport, APackedRunTellsNoFilesName) {
  const std::vector files{write("canaryhost_3711471.1755000000000000000.pt.trace.json",
                                trace_of({kernel_at("5")}, ""))};
  const auto imported = import_kineto(files, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const auto packed = folder_->path() / "packed.shardlens";
  ASSERT_TRUE(store::pack_run(imported->folder, packed));
  std::ifstream input(packed, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(input), {});
  ASSERT_GT(bytes.size(), 1000u);
  EXPECT_EQ(bytes.find("canaryhost"), bytes.npos);
  EXPECT_EQ(bytes.find("3711471"), bytes.npos);
  EXPECT_EQ(open(packed).figures.ranks[0].info.sources,
            "imported from a trace" + std::string(model::kOneStep));
}

TEST_F(KinetoImport, FilesOfOneNameGetRunsWithNumbersUnlessANameIsGiven) {
  const std::vector files{write("job.json", rank_of_two(0))};
  for (const char* name : {"job", "job 2", "job 3"}) {
    const auto imported = import_kineto(files, runs());
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(open(imported->folder).figures.info.name, name);
  }
  EXPECT_FALSE(import_kineto(files, runs(), named("job")));
}

TEST_F(KinetoImport, RefusesATakenNameUnlessItMayBeReplaced) {
  const std::vector files{write("a.json", rank_of_two(0))};
  ASSERT_TRUE(import_kineto(files, runs(), named("x")));
  EXPECT_EQ(import_kineto(files, runs(), named("x")).error().kind, base::ErrorKind::kUsage);
  EXPECT_TRUE(import_kineto(files, runs(), named("x", true)));
  EXPECT_EQ(store::list_runs(runs()).runs.size(), 1u);
}

TEST_F(KinetoImport, ATakenNameIsToldBeforeAnyFileIsRead) {
  const std::vector files{write("job.json", rank_of_two(0))};
  ASSERT_TRUE(import_kineto(files, runs(), named("job")));
  const std::vector damaged{write("damaged.json", "no trace")};
  const auto taken = import_kineto(damaged, runs(), named("job"));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("a run named 'job' exists"), std::string::npos)
      << taken.error().message;
  ImportOptions options;
  options.folder = folder_->path();
  const auto full = import_kineto(damaged, runs(), options);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("exists already"), std::string::npos) << full.error().message;
}

TEST_F(KinetoImport, AFolderMayBeNamedInsteadOfALibrary) {
  ImportOptions options;
  options.folder = folder_->path() / "elsewhere" / "mine";
  const std::vector files{write("a.json", rank_of_two(0))};
  const auto imported = import_kineto(files, runs(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->folder, options.folder);
  EXPECT_EQ(open(options.folder).figures.info.name, "mine");
  EXPECT_FALSE(std::filesystem::exists(runs()));
  EXPECT_FALSE(import_kineto(files, runs(), options)) << "there already";
  options.overwrite = true;
  EXPECT_TRUE(import_kineto(files, runs(), options));
  options.folder = folder_->path();
  EXPECT_FALSE(import_kineto(files, runs(), options)) << "no run, which would be lost";
  EXPECT_TRUE(std::filesystem::exists(files.front()));
}

class ReplacingImport : public KinetoImport {
 protected:
  // Options of one that replaces `old`, a run that is there.
  struct Replacement {
    ImportOptions options;
    std::filesystem::path old;
  };
  Replacement replacement(bool in_library) {
    Replacement made{named(in_library ? "job" : ""), {}};
    if (!in_library) made.options.folder = folder_->path() / "mine";
    const auto old = import_kineto(files_, runs(), made.options);
    EXPECT_TRUE(old) << old.error().message;
    if (old) made.old = old->folder;
    made.options.overwrite = true;
    return made;
  }

  const std::vector<std::filesystem::path> files_{write("job.json", rank_of_two(0))};
};

TEST_F(ReplacingImport, ThatCannotBeWrittenLeavesTheRunThatItWasToReplace) {
  for (const bool in_library : {true, false}) {
    auto [options, old] = replacement(in_library);
    std::filesystem::path half;
    options.begun = [&](const std::filesystem::path& folder) {
      half = folder;
      std::filesystem::create_directory(store::rank_file(folder, 0));
    };
    EXPECT_FALSE(import_kineto(files_, runs(), options));
    EXPECT_FALSE(half.empty());
    EXPECT_FALSE(std::filesystem::exists(half));
    EXPECT_EQ(open(old).figures.info.status, model::RunStatus::kDone);
  }
}

TEST_F(ReplacingImport, IsWholeBeforeTheOldOneGoes) {
  for (const bool in_library : {true, false}) {
    Replacement replaced = replacement(in_library);
    std::filesystem::path made;
    bool was_there = false;
    replaced.options.begun = [&](const std::filesystem::path& folder) { made = folder; };
    replaced.options.whole = [&] {
      was_there = std::filesystem::exists(replaced.old) &&
                  open(made).figures.info.status == model::RunStatus::kDone;
    };
    ASSERT_TRUE(import_kineto(files_, runs(), replaced.options));
    EXPECT_TRUE(was_there);
  }
}

TEST_F(ReplacingImport, ThatCannotTakeTheOldOnesPlaceIsKeptAndSaysWhereItLies) {
  for (const bool in_library : {true, false}) {
    auto [options, old] = replacement(in_library);
    std::filesystem::path made;
    options.begun = [&made, run = old / store::kRunFile](const std::filesystem::path& folder) {
      made = folder;
      std::filesystem::resize_file(run, 10);
    };
    const auto imported = import_kineto(files_, runs(), options);
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, testing::HasSubstr("is whole, in " + base::quoted(made)));
    EXPECT_EQ(open(made).figures.info.status, model::RunStatus::kDone);
    EXPECT_TRUE(std::filesystem::exists(old));
  }
}

// As PyTorch's tensorboard_trace_handler leaves them.
TEST_F(KinetoImport, OfAFolderIsThatOfAllTracesInItInTheirOrder) {
  const auto folder = folder_->path() / "traces";
  std::filesystem::create_directory(folder);
  std::vector<std::filesystem::path> files;
  for (const int rank : {0, 2, 10}) {
    files.push_back(write("traces/worker_" + std::to_string(rank) + ".json",
                          trace_of({kernel_at("5", std::to_string(5 + rank))}, "")));
  }
  write("traces/notes.txt", "no trace");
  write("traces/list.json", "no JSON");
  EXPECT_TRUE(may_be_kineto(folder));
  const std::vector<std::filesystem::path> only{folder};
  const auto from_folder = import_kineto(only, runs(), named("folder"));
  const auto from_files = import_kineto(files, runs(), named("files"));
  ASSERT_TRUE(from_folder && from_files) << from_folder.error().message;
  EXPECT_EQ(from_folder->ranks, (std::vector<int>{0, 1, 2}));
  const auto kernels = [](const auto& run) {
    return store::query_run(run.folder, "select rank, duration_ns from kernel order by 1")->rows;
  };
  EXPECT_EQ(kernels(*from_folder), kernels(*from_files));
}

TEST_F(KinetoImport, OfAFolderWithoutTracesIsNone) {
  const std::vector<std::filesystem::path> none{folder_->path()};
  EXPECT_FALSE(may_be_kineto(none.front()));
  const auto refused = import_kineto(none, runs(), named("none"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("holds no traces"));
}

}  // namespace
}  // namespace shardlens::trace::interop
