#include "trainer/huggingface/weight_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trainer/huggingface/model_folder.h"

namespace shardlens::trainer::huggingface {
namespace {

using ::testing::HasSubstr;

const std::string kIndex =
    R"({"metadata": {"total_size": 24}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})";

class WeightFiles : public testing::Test {
 protected:
  void write_two() {
    folder_.write_tensors("one.safetensors", {{"a", checkpoint::DataType::kF32, {2}}});
    folder_.write_tensors("two.safetensors", {{"b", checkpoint::DataType::kF32, {4}}});
  }
  std::string error_of_index(const std::string& index) {
    folder_.write(kIndexFile, index);
    const auto files = open_weight_files(folder_.path());
    return files ? "accepted" : files.error().message;
  }
  ModelFolder folder_;
};

TEST_F(WeightFiles, AreOneOrSeveralWithAnIndex) {
  write_two();
  EXPECT_EQ(error_of_index(kIndex), "accepted");
  EXPECT_EQ(open_weight_files(folder_.path())->size(), 2u);
  folder_.write_tensors(kWeightsFile, {{"c", checkpoint::DataType::kF32, {1}}});
  EXPECT_EQ(open_weight_files(folder_.path())->size(), 1u) << "the single file comes first";
}

TEST_F(WeightFiles, RefusePicklesAndEmptyFolders) {
  EXPECT_EQ(open_weight_files(folder_.path()).error().kind, trace::base::ErrorKind::kMissing);
  folder_.write("pytorch_model.bin", "x");
  const auto files = open_weight_files(folder_.path());
  EXPECT_THAT(files.error().message, HasSubstr("save_pretrained()"));
}

TEST_F(WeightFiles, RefuseIndexesThatLeadElsewhere) {
  write_two();
  for (const char* name : {"../one.safetensors", "/etc/passwd", "..", "", "a/b"}) {
    EXPECT_THAT(error_of_index(R"({"weight_map": {"a": ")" + std::string(name) + "\"}}"),
                HasSubstr("names no file of this folder"));
  }
  EXPECT_LT(error_of_index(R"({"weight_map": {"a": ")" + std::string(30'000, '9') + "\"}}").size(),
            2000u)
      << "a message stays a line";
  EXPECT_THAT(error_of_index(R"({"weight_map": {"a": 7}})"), HasSubstr("names no file"));
  EXPECT_THAT(error_of_index(R"({"weight_map": {"a": "three.safetensors"}})"),
              HasSubstr("is not there"));
  EXPECT_THAT(error_of_index(R"({"weight_map": {"a": "two.safetensors"}})"),
              HasSubstr("does not have it"));
  for (const char* text : {"", "{}", "[]", R"({"weight_map": {}})", R"({"weight_map": [1]})"}) {
    EXPECT_THAT(error_of_index(text), HasSubstr("no index")) << text;
  }
}

TEST_F(WeightFiles, SayWhatToDoAboutOneThatIsCutOff) {
  write_two();
  for (const std::uintmax_t bytes : {90, 20, 3}) {
    std::filesystem::resize_file(folder_.path() / "two.safetensors", bytes);
    EXPECT_THAT(error_of_index(kIndex), HasSubstr("Download the folder again")) << bytes;
  }
}

TEST_F(WeightFiles, RefuseATensorInTwoFiles) {
  write_two();
  folder_.write_tensors("two.safetensors", {{"a", checkpoint::DataType::kF32, {2}},
                                            {"b", checkpoint::DataType::kF32, {4}}});
  EXPECT_THAT(error_of_index(kIndex), HasSubstr("both have tensor 'a'"));
}

TEST_F(WeightFiles, SurviveAnyIndex) {
  write_two();
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string index = kIndex;
    for (unsigned change = 0; change <= random() % 4; ++change) {
      index[random() % index.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) index.resize(random() % index.size());
    refused += error_of_index(index) != "accepted";
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
