#include <gtest/gtest.h>

#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {
namespace {

std::int64_t chunk_of(const char* model, std::int64_t tokens, std::int64_t knob = kAuto) {
  Settings settings;
  settings.loss_chunk_tokens = knob;
  return loss_chunk_tokens(settings, *find_model_preset(model), tokens);
}

TEST(LossChunks, AreLeftOutWhereLogitsAreSmall) {
  EXPECT_EQ(chunk_of("tiny", 8 * 128), 0);
  EXPECT_EQ(chunk_of("gpt2", 166), 0) << "50,257 values of 4 bytes each: just below 32 MiB";
  EXPECT_EQ(chunk_of("gpt2", 167), 167);
}

TEST(LossChunks, AreWideEnoughForTheMatrixThatEachAddsTo) {
  EXPECT_EQ(chunk_of("gpt-162m", 8192), 2048);
  EXPECT_EQ(chunk_of("gpt-1.4b", 8192), 4096);
  EXPECT_EQ(chunk_of("small", 64 * 1024), 1024);
  EXPECT_EQ(chunk_of("gpt-162m", 1024), 1024) << "one chunk";
}

TEST(LossChunks, FollowTheKnob) {
  EXPECT_EQ(chunk_of("gpt2", 8192, 0), 0);
  EXPECT_EQ(chunk_of("gpt2", 8192, 300), 300);
  EXPECT_EQ(chunk_of("tiny", 1024, 4096), 1024);
}

}  // namespace
}  // namespace shardlens::trace::job
