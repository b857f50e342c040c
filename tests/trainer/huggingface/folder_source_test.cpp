#include "trainer/huggingface/folder_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/trainer/huggingface/model_folder.h"

namespace shardlens::trainer::huggingface {
namespace {

using ::testing::HasSubstr;

torch::Tensor read(FolderSource& source, const char* name, std::int64_t begin, std::int64_t count,
                   torch::ScalarType type = torch::kFloat32) {
  const auto into = torch::empty({count}, type);
  const auto done = source.read(name, begin, into);
  EXPECT_TRUE(done) << done.error().message;
  return into;
}

TEST(FolderSource, ReadsRangesIntoAnyType) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  auto source = FolderSource::open(folder.path(), folder_shape());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE(torch::equal(read(*source, "transformer.wte.weight", 3, 4),
                           torch::tensor({3.5f, 4.5f, 5.5f, 6.5f})));
  EXPECT_TRUE(torch::equal(read(*source, "transformer.wpe.weight", 0, 2, torch::kBFloat16),
                           torch::tensor({240.5f, 241.5f}).to(torch::kBFloat16)));
  EXPECT_EQ(read(*source, "transformer.ln_f.bias", 8, 0).numel(), 0);
  EXPECT_EQ(source->stored_type(), checkpoint::DataType::kF32);
}

// A rank tells its launcher so that it does not hang.
TEST(FolderSource, TellsOfEachPieceThatItReads) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  trace::job::Settings settings;
  settings.model = folder.path().string();
  int pieces = 0;
  auto source = FolderSource::open(settings, folder_shape(), [&] { ++pieces; });
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(pieces, 0) << "of headers";
  read(*source, "transformer.wte.weight", 3, 4);
  EXPECT_EQ(pieces, 1);
}

TEST(FolderSource, RefusesWhatIsNotThere) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  auto source = FolderSource::open(folder.path(), folder_shape());
  ASSERT_TRUE(source);
  const auto two = torch::empty({2});
  EXPECT_FALSE(source->read("transformer.wte.weight", 239, two));
  EXPECT_FALSE(source->read("transformer.wte.weight", -1, two));
  EXPECT_FALSE(source->read("lm_head.weight", 0, two));
}

TEST(FolderSource, TellsOtherWeightsOfTheSameModelApart) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  const auto checksum = [&](std::uint64_t seed = 1) {
    auto source = FolderSource::open(folder.path(), folder_shape());
    EXPECT_TRUE(source);
    const auto sampled = source->sample_checksum(seed);
    EXPECT_TRUE(sampled);
    return sampled.value_or(0);
  };
  const std::uint64_t before = checksum();
  EXPECT_EQ(checksum(), before);
  EXPECT_NE(checksum(2), before);
  std::fstream file(folder.path() / kWeightsFile, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x01');
  file.close();
  EXPECT_NE(checksum(), before);
}

TEST(FolderSource, RefusesAHeadForOtherClassesUnlessTheyWereAskedFor) {
  trace::job::ModelShape shape = folder_shape();
  shape.layout = trace::job::ModelLayout::kBert;
  shape.tied_head = false;
  shape.token_types = 2;
  shape.padding_token = 0;
  shape.labels = 5;
  const ModelFolder folder;
  folder.write_model(shape);
  trace::job::Settings settings;
  settings.model = folder.path().string();
  EXPECT_TRUE(FolderSource::open(settings, shape));
  shape.labels = 2;
  const auto refused = FolderSource::open(settings, shape);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has a head for 5 classes, but its config.json"));
  settings.num_labels = 2;
  const auto asked = FolderSource::open(settings, shape);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->other_classes(), 5);
}

TEST(FolderSource, ReadsLargeTensorsInPieces) {
  trace::job::ModelShape shape = folder_shape();
  shape.vocabulary = 300'000;  // 9.6 MB
  const ModelFolder folder;
  folder.write_model(shape);
  auto source = FolderSource::open(folder.path(), shape);
  ASSERT_TRUE(source);
  const auto values = read(*source, "transformer.wte.weight", 1, 2'399'999);
  EXPECT_TRUE(torch::equal(values, torch::arange(1, 2'400'000, torch::kFloat32) + 0.5));
}

TEST(FolderSource, ComparesTiedMatricesThatAreThereTwice) {
  const ModelFolder folder;
  std::vector<checkpoint::TensorEntry> entries;
  for (const auto& each : trace::job::parameter_shapes(folder_shape())) {
    entries.push_back({each.name, checkpoint::DataType::kF32, each.sizes});
  }
  entries.push_back({"lm_head.weight", checkpoint::DataType::kF32, {30, 8}});
  folder.write_tensors(kWeightsFile, entries);
  const auto source = FolderSource::open(folder.path(), folder_shape());
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, HasSubstr("tie_word_embeddings"));
}

TEST(FolderSource, SaysThatAFileWasCutOffMeanwhile) {
  trace::job::ModelShape shape = folder_shape();
  shape.vocabulary = 30'000;
  const ModelFolder folder;
  folder.write_model(shape);
  auto source = FolderSource::open(folder.path(), shape);
  ASSERT_TRUE(source);
  std::filesystem::resize_file(folder.path() / kWeightsFile, 8192);
  const auto done = source->read("transformer.ln_f.weight", 0, torch::empty({8}));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("cut off"));
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
