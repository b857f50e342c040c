// From what the kernel says of a folder's file system to the sentence on the screen. This program's
// own statfs() stands before the C library's, so that a local folder can pass for a remote one.
#include <gtest/gtest.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "app/session/watch/run_follower.h"
#include "tests/app/session/synthetic_run.h"

namespace {

long pretended_type = 0;  // 0: the true one

}  // namespace

extern "C" int statfs(const char* path, struct statfs* status) noexcept {
  const long result = syscall(SYS_statfs, path, status);
  if (result == 0 && pretended_type != 0) status->f_type = pretended_type;
  return static_cast<int>(result);
}

namespace shardlens::app::session {
namespace {

class NetworkFileSystem : public testing::Test {
 protected:
  void TearDown() override { pretended_type = 0; }

  // The banner that speaks of the file system; "" for none.
  static std::string warning_of(const SyntheticRun& run, std::int64_t now_ns) {
    auto feed = RunFollower::open(run.folder());
    EXPECT_TRUE(feed && (*feed)->advance());
    const auto view = (*feed)->view(now_ns, false, {});
    EXPECT_TRUE(view);
    const auto& banners = (*view)->banners;
    const auto found = std::ranges::find_if(banners, [](const std::string& banner) {
      return banner.find("network file system") != std::string::npos;
    });
    return found == banners.end() ? "" : *found;
  }

  TemporaryFolder folder_;
};

constexpr std::int64_t kNow = 1'700'000'001'000'000'000;

TEST_F(NetworkFileSystem, IsWarnedOfWhileARunIsBeingRecorded) {
  SyntheticRun run(folder_.path());
  run.add_steps(2);
  run.beat(kNow);
  EXPECT_EQ(warning_of(run, kNow), "");
  pretended_type = 0x6969;
  const auto warning = warning_of(run, kNow);
  EXPECT_NE(warning.find("(NFS)"), std::string::npos) << warning;
  EXPECT_NE(warning.find(run.folder().string()), std::string::npos) << warning;
  EXPECT_NE(warning.find("local disk"), std::string::npos) << warning;
}

TEST_F(NetworkFileSystem, IsNoMatterOnceTheRunHasEnded) {
  SyntheticRun run(folder_.path());
  run.add_steps(2);
  run.finish();
  pretended_type = 0x6969;
  EXPECT_EQ(warning_of(run, kNow), "");
}

}  // namespace
}  // namespace shardlens::app::session
