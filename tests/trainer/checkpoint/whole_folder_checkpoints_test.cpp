#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/files.h"
#include "trace/base/file_system.h"
#include "trainer/checkpoint/whole_folder.h"

namespace shardlens::trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using trace::job::CheckpointInfo;

class CheckpointFolders : public testing::Test {
 protected:
  fs::path checkpoints() const { return folder_.path() / "run" / "checkpoints"; }

  fs::path save(std::int64_t step, const std::string& content = "x") const {
    const auto unfinished = begin_checkpoint(checkpoints(), step);
    EXPECT_TRUE(unfinished) << unfinished.error().message;
    std::ofstream(*unfinished / "content") << content;
    CheckpointInfo info;
    info.step = step;
    const auto finished = publish_checkpoint(*unfinished, info);
    EXPECT_TRUE(finished) << finished.error().message;
    return finished.value_or("");
  }
  std::vector<std::string> names() const { return trace::test::names_in(checkpoints()); }

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

std::string content_of(const fs::path& checkpoint) {
  std::string text;
  std::ifstream(checkpoint / "content") >> text;
  return text;
}

TEST_F(CheckpointFolders, HaveTheirNameOnlyOnceTheyAreWhole) {
  const auto unfinished = begin_checkpoint(checkpoints(), 20);
  ASSERT_TRUE(unfinished);
  EXPECT_FALSE(trace::job::find_checkpoint(checkpoints()));
  CheckpointInfo info;
  info.step = 20;
  EXPECT_EQ(*publish_checkpoint(*unfinished, info), checkpoints() / "step_000020");
  EXPECT_THAT(names(), ElementsAre("step_000020"));
  EXPECT_EQ(trace::job::read_checkpoint_info(*trace::job::find_checkpoint(checkpoints()))->step,
            20);
}

// What a save has written before it was killed, stage by stage.
TEST_F(CheckpointFolders, LeftUnfinishedNeverHideTheLastAndGoWithTheNextSave) {
  save(10);
  const auto unfinished = begin_checkpoint(checkpoints(), 20);
  const std::vector<std::string> stages = {"model.safetensors", "optimizer.safetensors",
                                           "random.safetensors", "checkpoint.yaml"};
  for (const std::string& stage : stages) {
    EXPECT_EQ(trace::job::find_checkpoint(checkpoints())->filename(), "step_000010")
        << "before " << stage;
    std::ofstream(*unfinished / stage) << "half of it";
    EXPECT_EQ(trace::job::find_checkpoint(checkpoints())->filename(), "step_000010")
        << "in " << stage;
  }
  std::ofstream(checkpoints() / "notes.tmp-of-a-person") << "stays";
  save(30);
  EXPECT_THAT(names(), ElementsAre("notes.tmp-of-a-person", "step_000010", "step_000030"));
}

// As on NFS, between two renames.
TEST_F(CheckpointFolders, ThatNoNewerOneHasReplacedAreTakenBackByTheNextSave) {
  const fs::path older = save(20, "old");
  fs::rename(older, checkpoints() / "step_000020.replaced-12-34");
  fs::create_directory(checkpoints() / "step_000020.tmp-12-34");
  save(30);
  EXPECT_THAT(names(), ElementsAre("step_000020", "step_000030"));
  EXPECT_EQ(content_of(older), "old");
}

TEST_F(CheckpointFolders, KeepTheLastAndTheOneJustSaved) {
  for (const std::int64_t step : {5, 100, 20, 30}) save(step);
  ASSERT_TRUE(keep_last(checkpoints(), 0, 30));
  EXPECT_EQ(names().size(), 4u);
  ASSERT_TRUE(keep_last(checkpoints(), 3, 30));
  EXPECT_THAT(names(), ElementsAre("step_000020", "step_000030", "step_000100"));
  // A run that was started again from an earlier step.
  ASSERT_TRUE(keep_last(checkpoints(), 2, 20));
  EXPECT_THAT(names(), ElementsAre("step_000020", "step_000100"));
  ASSERT_TRUE(keep_last(checkpoints(), 1, 20));
  EXPECT_THAT(names(), ElementsAre("step_000020"));
  ASSERT_TRUE(keep_last(checkpoints(), 5, 20));
  EXPECT_THAT(names(), ElementsAre("step_000020"));
}

TEST_F(CheckpointFolders, AreRefusedWhereAFileIsInTheWay) {
  fs::create_directories(checkpoints().parent_path());
  std::ofstream(checkpoints()) << "a file";
  const auto begun = begin_checkpoint(checkpoints(), 1);
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().message, testing::HasSubstr(checkpoints().string()));
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
