#include "trainer/rank/rank_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/text/text_files.h"

namespace shardlens::trainer::rank {
namespace {

using ::testing::HasSubstr;

class LabelsOfAJob : public ::testing::Test {
 protected:
  LabelsOfAJob() {
    settings_.model = "tiny";
    settings_.token_cache = "off";
  }
  // What is wrong with them.
  std::string error_of(const std::string& training, const std::string& evaluation) {
    settings_.data = files_.write("training.jsonl", lines_with(training));
    settings_.evaluation_data = files_.write("evaluation.jsonl", lines_with(evaluation));
    const auto nothing = [](const char*) -> const char* { return nullptr; };
    loop::RankLog log(nullptr);
    const auto text = load_rank_text(settings_, 257, 2, nothing, nullptr, log);
    return text ? "" : text.error().message;
  }
  static std::string lines_with(const std::string& label) {
    return R"({"text": "a", "label": )" + label + "}\n";
  }

  const text::TextFiles files_;
  trace::job::Settings settings_;
};

TEST_F(LabelsOfAJob, AreNamesOrNumbersInBothTexts) {
  EXPECT_EQ(error_of("1", "0"), "");
  EXPECT_EQ(error_of("\"good\"", "\"good\""), "");
  EXPECT_THAT(error_of("1", "\"good\""), HasSubstr("are numbers, those of evaluation_data"));
  EXPECT_THAT(error_of("\"good\"", "0"), HasSubstr("are names, those of evaluation_data"));
}

TEST_F(LabelsOfAJob, AreEitherWhereTheModelNamesItsClasses) {
  files_.write("model/config.json", R"({"label2id": {"bad": 0, "good": 1}})");
  settings_.model = (files_.folder() / "model").string();
  settings_.tokenizer = "bytes";
  EXPECT_EQ(error_of("1", "\"good\""), "");
  EXPECT_EQ(error_of("\"bad\"", "0"), "");
}

// 1 has none in the model, and is shown as "LABEL_1".
TEST_F(LabelsOfAJob, AreNoneOfTheNamesThatClassesWithoutAnyAreShownBy) {
  files_.write("model/config.json", R"({"label2id": {"bad": 0, "good": 2}})");
  settings_.model = (files_.folder() / "model").string();
  settings_.tokenizer = "bytes";
  EXPECT_EQ(error_of("\"bad\"", "\"bad\""), "");
  EXPECT_THAT(error_of("\"bad\"", "\"LABEL_1\""),
              HasSubstr("the label \"LABEL_1\" is none of bad, good"));
}

}  // namespace
}  // namespace shardlens::trainer::rank
