#include <gtest/gtest.h>

#include <cerrno>

#include "tests/files.h"
#include "trace/base/file_system.h"

namespace shardlens::trace::base {
namespace {

TEST(OutputFile, SaysWhyItCannotBeWrittenWhateverFailedSince) {
  errno = ENOENT;
  EXPECT_EQ(cannot_write("file", ENOSPC).value().kind, ErrorKind::kDiskFull);
  errno = ENOSPC;
  EXPECT_EQ(cannot_write("file", EACCES).value().kind, ErrorKind::kIo);
}

TEST(OutputFile, IsReplacedByNothingThatIsNotThere) {
  const test::Folder folder;
  const auto file = folder.write("there", "mine");
  const auto refused = publish_output(folder / "absent", file, /*overwrite=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
  EXPECT_EQ(test::bytes_of(file), "mine");
}

}  // namespace
}  // namespace shardlens::trace::base
