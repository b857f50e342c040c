#include "profiler/nvml/nvml_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiler/nvml/fake_nvml_library.h"

namespace shardlens::profiler::nvml {
namespace {

using testing::HasSubstr;

TEST(NvmlLibrary, SaysWhatToDoWhereThereIsNoDriver) {
  const auto library = NvmlLibrary::open("libno-such-driver.so.1");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, trace::base::ErrorKind::kMissing);
  EXPECT_THAT(library.error().message, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(library.error().message, HasSubstr("--gpus all"));
}

TEST(NvmlLibrary, ADriverThatDoesNotStartIsAnotherErrorThanNone) {
  test::FakeNvmlLibrary fake;
  fake.state().init_status = kNvmlVersionMismatch;
  const auto library = NvmlLibrary::open(fake.path());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, trace::base::ErrorKind::kFailed);
  EXPECT_THAT(library.error().message, HasSubstr("Driver/library version mismatch"));
  EXPECT_THAT(library.error().message, HasSubstr("updated while it ran"));
  EXPECT_EQ(fake.state().shutdowns, 0) << "what did not start is not shut down";
}

TEST(NvmlLibrary, TellsVersionsAndEndsWhatItBegan) {
  test::FakeNvmlLibrary fake;
  {
    const auto library = NvmlLibrary::open(fake.path());
    ASSERT_TRUE(library) << library.error().message;
    EXPECT_EQ((*library)->driver_version(), "580.95.05");
    EXPECT_EQ((*library)->cuda_version(), 13000);
    EXPECT_EQ((*library)->error_text(15), "GPU is lost");
    EXPECT_EQ(fake.state().inits, 1);
  }
  EXPECT_EQ(fake.state().shutdowns, 1);
}

TEST(NvmlLibrary, FindsAGpuByItsBusIdWhateverItsIndex) {
  test::FakeNvmlLibrary fake;
  fake.state().gpus = {{.bus = "00000000:1B:00.0", .name = "first"},
                       {.bus = "00000000:43:00.0", .name = "second"}};
  const auto library = NvmlLibrary::open(fake.path());
  ASSERT_TRUE(library);
  EXPECT_EQ((*library)->device_count(), 2);
  const auto device = (*library)->device_at("00000000:43:00.0");
  ASSERT_TRUE(device);
  EXPECT_EQ(*device, (*library)->device(1));
  EXPECT_FALSE((*library)->device_at("00000000:99:00.0"));
  EXPECT_FALSE((*library)->device(2));
}

TEST(NvmlLibrary, WritesCudaVersionsAsCudaCountsThem) {
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
  EXPECT_EQ(cuda_version_text(0), "");
}

}  // namespace
}  // namespace shardlens::profiler::nvml
