#include "trainer/checkpoint/checkpoint_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trainer::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

PieceDescription piece(const std::string& name, std::int64_t begin, std::int64_t end,
                       bool moments = true) {
  PieceDescription description{name, {4, 5}, begin, end, 3, {DataType::kF32, {}, {}}};
  if (moments) description.types = {DataType::kF32, DataType::kF32, DataType::kBF16};
  return description;
}

using Ranks = std::vector<std::vector<PieceDescription>>;

std::string problem_of(const Ranks& ranks) {
  const auto plan = plan_checkpoint(ranks, false);
  return plan ? "planned" : plan.error().message;
}

TEST(CheckpointPlan, PutsWholeTensorsIntoTwoFilesThatAllRanksWrite) {
  const auto plan = plan_checkpoint(
      Ranks{{piece("a", 0, 12), piece("b", 0, 20, false)}, {piece("a", 12, 20)}}, false);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->files.size(), 2u);
  const PlannedFile& model = plan->files[0];
  EXPECT_EQ(model.name, "model.safetensors");
  ASSERT_EQ(model.tensors.size(), 2u);
  EXPECT_EQ(model.tensors[0].name, "a");
  EXPECT_EQ(model.tensors[0].sizes, (std::vector<std::int64_t>{4, 5}));
  ASSERT_EQ(model.chunks.size(), 3u);
  EXPECT_EQ(model.chunks[1].rank, 1u);
  EXPECT_EQ(model.chunks[1].begin, 12);
  EXPECT_EQ(model.chunks[1].piece_begin, 0);
  const PlannedFile& optimizer = plan->files[1];
  ASSERT_EQ(optimizer.tensors.size(), 2u);
  EXPECT_EQ(optimizer.tensors[1].name, "a.second_moment");
  EXPECT_EQ(optimizer.tensors[1].begin, 80);
  EXPECT_EQ(optimizer.tensors[1].end, 120);
  EXPECT_EQ(optimizer.metadata.at("optimizer_steps:b"), "3");
  EXPECT_EQ(plan->optimizer_steps, 3);
}

TEST(CheckpointPlan, GivesEachRankItsOwnFilesWithRangesInNames) {
  const auto plan =
      plan_checkpoint(Ranks{{piece("a", 0, 12), piece("b", 0, 20)}, {piece("a", 12, 20)}}, true);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->files.size(), 4u);
  EXPECT_EQ(plan->files[2].name, "model_rank_00001_of_00002.safetensors");
  EXPECT_EQ(plan->files[2].owner, 1u);
  ASSERT_EQ(plan->files[2].tensors.size(), 1u);
  EXPECT_EQ(plan->files[2].tensors[0].name, "a@12:20");
  EXPECT_EQ(plan->files[2].tensors[0].sizes, (std::vector<std::int64_t>{8}));
  EXPECT_EQ(plan->files[3].tensors[0].name, "a.first_moment@12:20");
  EXPECT_EQ(plan->files[0].tensors[1].name, "b");
}

// Replicas on another machine, which may have another disk.
TEST(CheckpointPlan, HasNoFilesOfRanksWithoutPieces) {
  const auto plan =
      plan_checkpoint(Ranks{{piece("a", 0, 12, false)}, {}, {piece("a", 12, 20, false)}, {}}, true);
  ASSERT_TRUE(plan);
  std::vector<std::string> names;
  for (const PlannedFile& file : plan->files) names.push_back(file.name);
  EXPECT_THAT(names, testing::ElementsAre("model_rank_00000_of_00004.safetensors",
                                          "optimizer_rank_00000_of_00004.safetensors",
                                          "model_rank_00002_of_00004.safetensors",
                                          "optimizer_rank_00002_of_00004.safetensors"));
}

TEST(CheckpointPlan, CutsLargeTensorsIntoChunks) {
  PieceDescription large = piece("a", 0, 2 * kChunkElements + 1, false);
  large.sizes = {2 * kChunkElements + 1};
  const auto plan = plan_checkpoint(Ranks{{large}}, false);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->files[0].chunks.size(), 3u);
  EXPECT_EQ(plan->files[0].chunks[2].begin, 2 * kChunkElements);
  EXPECT_EQ(plan->files[0].chunks[2].end, 2 * kChunkElements + 1);
}

TEST(CheckpointPlan, HasAHeaderOfOneLengthWhateverTheChecksums) {
  auto plan = *plan_checkpoint(Ranks{{piece("a", 0, 20)}}, false);
  const std::string before = plan.files[0].header;
  plan.files[0].chunks[0].checksum = ~std::uint64_t{0};
  plan.files[0].encode();
  EXPECT_EQ(plan.files[0].header.size(), before.size());
  EXPECT_NE(plan.files[0].header, before);
}

TEST(CheckpointPlan, RefusesGapsOverlapsAndRanksThatDisagree) {
  EXPECT_THAT(problem_of({{piece("a", 0, 12)}, {piece("a", 13, 20)}}),
              AllOf(HasSubstr("'a'"), HasSubstr("no rank from element 12")));
  EXPECT_THAT(problem_of({{piece("a", 0, 12)}}), HasSubstr("no rank from element 12"));
  EXPECT_THAT(problem_of({{piece("a", 0, 20)}, {piece("a", 10, 20)}}), HasSubstr("twice"));
  EXPECT_THAT(problem_of({{piece("a", 0, 12)}, {piece("a", 12, 20, false)}}), HasSubstr("moments"));
  EXPECT_THAT(problem_of({{piece("a", 0, 21)}}), HasSubstr("outside"));
  EXPECT_THAT(problem_of({{piece("a@b", 0, 20)}}), HasSubstr("no name"));
  PieceDescription other = piece("a", 12, 20);
  other.sizes = {5, 4};
  EXPECT_THAT(problem_of({{piece("a", 0, 12)}, {other}}),
              AllOf(HasSubstr("[4, 5]"), HasSubstr("[5, 4]")));
  other = piece("a", 12, 20);
  other.optimizer_steps = 2;
  EXPECT_THAT(problem_of({{piece("a", 0, 12)}, {other}}), HasSubstr("steps"));
}

TEST(CheckpointPlan, TellsOtherRanksItsPiecesInText) {
  std::vector<PieceDescription> pieces = {piece("h.0.weight", 3, 7),
                                          piece("with space", 0, 0, false)};
  pieces[1].sizes = {};
  pieces[1].optimizer_steps = 0.1;
  const auto read = pieces_from_text(pieces_to_text(pieces));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].name, pieces[i].name);
    EXPECT_EQ((*read)[i].sizes, pieces[i].sizes);
    EXPECT_EQ((*read)[i].begin, pieces[i].begin);
    EXPECT_EQ((*read)[i].end, pieces[i].end);
    EXPECT_EQ((*read)[i].types, pieces[i].types);
    EXPECT_EQ((*read)[i].optimizer_steps, pieces[i].optimizer_steps);
  }
  EXPECT_FALSE(pieces_from_text("F32 - - 1 x\n"));
}

TEST(StoredNames, AreReadBack) {
  const StoredName part = parse_stored_name("h.0.weight.first_moment@3:7", true);
  EXPECT_EQ(part.parameter, "h.0.weight");
  EXPECT_EQ(part.slot, Slot::kFirstMoment);
  EXPECT_EQ(part.range, (std::pair<std::int64_t, std::int64_t>(3, 7)));
  const StoredName whole = parse_stored_name("odd.first_moment", false);
  EXPECT_EQ(whole.parameter, "odd.first_moment");
  EXPECT_EQ(whole.slot, Slot::kValue);
  EXPECT_FALSE(whole.range);
}

TEST(StoredNames, WithChecksumsMustCoverTheWholeTensor) {
  const std::string text = checksums_to_text(std::vector<ChecksumRange>{{0, 3, 1}, {3, 9, ~0ull}});
  const auto read = checksums_from_text(text, 9);
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[1].begin, 3);
  EXPECT_EQ((*read)[1].checksum, ~0ull);
  EXPECT_FALSE(checksums_from_text(text, 8));
  EXPECT_FALSE(checksums_from_text(text, 10));
  EXPECT_TRUE(checksums_from_text("", 0));
  EXPECT_FALSE(checksums_from_text("", 1));
  for (std::size_t size = 1; size < text.size(); ++size) {
    EXPECT_FALSE(checksums_from_text(text.substr(0, size), 9)) << size;
  }
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
