#include "trace/store/run/output_file.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/files.h"

namespace shardlens::trace::store {
namespace {

TEST(OutputFile, SaysWhyItCannotBeWrittenWhateverFailedSince) {
  errno = ENOENT;
  EXPECT_EQ(cannot_write("file", ENOSPC).value().kind, base::ErrorKind::kDiskFull);
  errno = ENOSPC;
  EXPECT_EQ(cannot_write("file", EACCES).value().kind, base::ErrorKind::kIo);
}

TEST(OutputFile, IsReplacedByNothingThatIsNotThere) {
  const test::Folder folder;
  const auto file = folder.write("there", "mine");
  const auto refused = publish_output(folder / "absent", file, /*overwrite=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kIo);
  EXPECT_EQ(test::bytes_of(file), "mine");
}

}  // namespace
}  // namespace shardlens::trace::store
