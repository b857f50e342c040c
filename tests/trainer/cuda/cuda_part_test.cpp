#include "trainer/cuda/cuda_part.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trainer::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

bool is_loaded(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

TEST(CudaPart, IsLoadedOnlyWhenItIsWanted) {
  // Else each rank on the CPU pays for it again, which nothing else would show.
  ASSERT_FALSE(is_loaded("libtorch_cuda.so"));
  ASSERT_FALSE(is_loaded("libnccl.so.2"));
  const auto part = load_cuda_part();
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_TRUE(is_loaded("libtorch_cuda.so"));
  EXPECT_THAT((*part)->nccl_version(), MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(*load_cuda_part(), *part);
}

TEST(CudaPart, LeavesWorkOfOthersAsItIs) {
  const auto part = load_cuda_part();
  ASSERT_TRUE(part) << part.error().message;
  const auto work = c10::make_intrusive<c10d::Work>();
  EXPECT_EQ((*part)->without_tensors(work), work);
}

TEST(CudaPart, SaysWhatIsWrongWhereItDoesNotLoad) {
  const auto missing = load_cuda_part("not-there.so");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("not-there.so"), HasSubstr("./run")));
  const auto foreign = load_cuda_part("libc.so.6");
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("shardlens_cuda_part"));
}

}  // namespace
}  // namespace shardlens::trainer::cuda
