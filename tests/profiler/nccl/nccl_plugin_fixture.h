// NCCL's profiler plugin with a made-up NCCL, and what is in the file afterwards. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "profiler/nccl/nccl_plugin.h"
#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::nccl {

class NcclPluginTest : public testing::Test {
 protected:
  void attach(LaunchMarker marker = FakeMarks::marker(), int rank = 0) {
    FakeMarks::reset();
    auto attached = NcclPlugin::attach(run_.recorder(), rank, marker);
    ASSERT_TRUE(attached) << attached.error().message;
    plugin_ = std::move(*attached);
  }
  // As the GPU's records do, long after the launch.
  void end_launch(std::uint64_t launch, std::int64_t start_ns, std::int64_t end_ns) {
    run_.recorder().end_launch(launch, 9, start_ns, end_ns);
  }
  RecordedRun::Content finish() {
    plugin_.reset();
    return run_.finish();
  }

  RecordedRun run_;
  std::unique_ptr<NcclPlugin> plugin_;
};

}  // namespace shardlens::profiler::nccl
