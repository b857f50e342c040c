#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "tests/files.h"
#include "tests/trainer/checkpoint/sample_state.h"
#include "tests/trainer/comm/rank_threads.h"
#include "trainer/cuda/cuda_part.h"

namespace shardlens::trainer::checkpoint {
namespace {

std::vector<StatePiece> on_gpu(std::vector<StatePiece> pieces) {
  for (StatePiece& piece : pieces) {
    for (auto* tensor : {&piece.value, &piece.first_moment, &piece.second_moment}) {
      if (tensor->defined()) *tensor = tensor->cuda();
    }
  }
  return pieces;
}

TEST(CheckpointsOnAGpu, SaveAndLoadTensorsOfItsMemory) {
  const auto cuda = cuda::load_cuda_part();
  ASSERT_TRUE(cuda) << cuda.error().message;
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const trace::test::Folder folder;
  comm::CommunicatorOptions options;
  options.device = torch::Device(torch::kCUDA, 0);
  comm::on_ranks(
      1,
      [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
        const auto saved = save_checkpoint(folder.path(), test::sample_options(20, "full"),
                                           on_gpu(test::sample_pieces(0, 1)), communicator);
        ASSERT_TRUE(saved) << saved.error().message;
        auto wanted = on_gpu(test::sample_pieces(0, 1, 1));
        const auto loaded = load_checkpoint(*trace::job::read_checkpoint_info(*saved), wanted);
        ASSERT_TRUE(loaded) << loaded.error().message;
        const auto expected = test::sample_pieces(0, 1);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_TRUE(torch::equal(wanted[i].value.cpu(), expected[i].value)) << wanted[i].name;
        }
      },
      options);
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
