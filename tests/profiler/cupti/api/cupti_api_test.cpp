#include "profiler/cupti/api/cupti_api.h"

#include <gtest/gtest.h>

#include "profiler/cupti/cupti_source.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::cupti {
namespace {

// First of these: a CUPTI that the process has loaded comes before the one that is named.
TEST(CuptiLibrary, RefusesALibraryThatLacksItsFunctions) {
  const auto api = load_cupti("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_NE(api.error().message.find("has no cuptiGetVersion"), std::string::npos)
      << api.error().message;
}

TEST(CuptiLibrary, SaysWhatWasTriedIfThereIsNone) {
  const auto api = load_cupti("/nowhere/libcupti.so.13");
  if (api) GTEST_SKIP() << "the loader finds " << api->library;
  EXPECT_EQ(api.error().kind, trace::base::ErrorKind::kMissing);
  EXPECT_NE(api.error().message.find("/nowhere/libcupti.so.13"), std::string::npos);
  EXPECT_NE(api.error().message.find("nvidia-cuda-cupti"), std::string::npos);
}

// The real library of the build, where it is: its functions have the names and the version that are
// expected. With no driver it starts as far as CUPTI lets it.
TEST(CuptiLibrary, OfTheBuildIsUnderstood) {
  const auto api = load_cupti(SHARDLENS_CUPTI);
  ASSERT_TRUE(api) << api.error().message;
  EXPECT_NE(api->library.string().find("libcupti.so"), std::string::npos);
  EXPECT_NE(api->enable_driver_api, nullptr);
  EXPECT_NE(api->enable_runtime_api, nullptr);
  EXPECT_NE(api->enable_all_sync_records, nullptr);
  EXPECT_NE(api->set_attribute, nullptr);
  const auto version = check_version(*api);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, static_cast<std::uint32_t>(CUPTI_API_VERSION));
  RecordedRun run;
  CuptiOptions options;
  options.buffers = 2;
  options.library = SHARDLENS_CUPTI;
  const auto source = CuptiSource::start(run.recorder(), options);
  if (source) GTEST_SKIP() << "this machine has a driver";
  EXPECT_NE(source.error().message.find("cuptiActivity"), std::string::npos);
  EXPECT_NE(source.error().message.find("shardlens doctor"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
