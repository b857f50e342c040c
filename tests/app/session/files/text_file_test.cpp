#include "app/session/files/text_file.h"

#include <gtest/gtest.h>

#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

TEST(TextFile, SavesUnderItsNameAndNeverOverAnother) {
  const TemporaryFolder folder;
  const auto first = save_text(folder.path(), "kernels.csv", "a\n");
  const auto second = save_text(folder.path(), "kernels.csv", "b\n");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->filename(), "kernels.csv");
  EXPECT_EQ(second->filename(), "kernels 2.csv");
  EXPECT_EQ(trace::test::bytes_of(*first), "a\n");
  EXPECT_EQ(trace::test::bytes_of(*second), "b\n");
}

TEST(TextFile, AnEndingOfTwoPartsStaysWhole) {
  const TemporaryFolder folder;
  for (const char* name : {"a.json.gz", "a 2.json.gz", "a 3.json.gz"}) {
    const auto saved = save_text(folder.path(), "a.json.gz", "a");
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->filename(), name);
  }
}

TEST(TextFile, NamesStayWithinTheFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"../../etc/passwd", "a/b.csv", "c:\\d", "", ".."}) {
    const auto file = free_file_name(folder.path(), name);
    EXPECT_EQ(file.parent_path(), folder.path()) << name;
    EXPECT_NE(file.filename().string().front(), '.') << name;
  }
}

TEST(TextFile, AFolderThatIsGoneIsSaid) {
  const auto saved = save_text("/nowhere/at/all", "kernels.csv", "a");
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("/nowhere/at/all/kernels.csv"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::app::session
