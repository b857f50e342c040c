#include "trace/store/run/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/store/testing/store_fixture.h"

namespace shardlens::trace::store {
namespace {

using test::Folder;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& yaml) {
  const auto settings = parse_settings(yaml, "job.yaml");
  EXPECT_FALSE(settings) << yaml;
  if (settings) return {};
  EXPECT_EQ(settings.error().kind, base::ErrorKind::kUsage);
  return settings.error().message;
}

job::Settings parsed(const std::string& yaml) {
  const auto settings = parse_settings(yaml, "job.yaml");
  EXPECT_TRUE(settings) << settings.error().message;
  return settings ? *settings : job::Settings();
}

TEST(SettingsFile, ReadsFlatKeysAndKeepsDefaults) {
  const job::Settings settings = parsed("bucket_cap_mb: 60\nmodel: small\nstatic_graph: true\n");
  job::Settings expected;
  expected.bucket_cap_mb = 60;
  expected.model = "small";
  expected.static_graph = true;
  EXPECT_EQ(settings, expected);
}

TEST(SettingsFile, ThatIsEmptyIsAllDefaults) {
  EXPECT_EQ(parsed(""), job::Settings());
  EXPECT_EQ(parsed("# only a comment\n"), job::Settings());
  EXPECT_EQ(parsed("{}"), job::Settings());
}

TEST(SettingsFile, FlattensNestedMaps) {
  EXPECT_EQ(parsed("simulate_link: {latency_us: 50, gbps: 1}").simulate_link,
            "latency_us=50,gbit_per_s=1");
  EXPECT_EQ(parsed("inject:\n  - rank: 1\n    step: 5\n    delay_ms: 100\n  - rank=0,step=2,nan\n")
                .inject,
            "rank=1,step=5,delay_ms=100;rank=0,step=2,nan");
}

TEST(SettingsFile, NamesTheNearestKeyAndTheLine) {
  EXPECT_THAT(error_of("model: tiny\n\nbucket_cap: 25\n"),
              AllOf(HasSubstr("job.yaml"), HasSubstr("line 3"), HasSubstr("'bucket_cap'"),
                    HasSubstr("'bucket_cap_mb'")));
}

TEST(SettingsFile, NamesTheLineOfAWrongValue) {
  EXPECT_THAT(error_of("model: tiny\nranks: two\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("ranks")));
  EXPECT_THAT(error_of("bucket_cap_mb: -3\n"), AllOf(HasSubstr("line 1"), HasSubstr("bucket_cap")));
}

TEST(SettingsFile, RefusesWhatIsNotYaml) {
  EXPECT_THAT(error_of("model: [tiny\nranks: 2"), HasSubstr("not YAML"));
  EXPECT_THAT(error_of("\tmodel: tiny"), HasSubstr("not YAML"));
  EXPECT_THAT(error_of("model: 'tiny"), HasSubstr("not YAML"));
  EXPECT_THAT(error_of("model: \"\\\x01\""), HasSubstr("unknown escape character: �"));
  error_of(
      std::string("\x7f"
                  "ELF\x02\x01\x01\x00\x00",
                  9));
}

TEST(SettingsFile, RefusesAnythingButOneMap) {
  EXPECT_THAT(error_of("- model\n- tiny\n"), HasSubstr("a list"));
  EXPECT_THAT(error_of("just words"), HasSubstr("key: value"));
  EXPECT_THAT(error_of("model: tiny\n---\nmodel: small\n"),
              AllOf(HasSubstr("more than one"), HasSubstr("line 2")));
  EXPECT_THAT(error_of(","), HasSubstr("more than one")) << "yaml-cpp takes it for endlessly many";
  EXPECT_THAT(error_of("? [a, b]\n: c\n"), HasSubstr("plain word"));
}

TEST(SettingsFile, RefusesAKeyGivenTwiceOrWithoutValue) {
  EXPECT_THAT(error_of("ranks: 2\nranks: 4\n"), AllOf(HasSubstr("line 2"), HasSubstr("twice")));
  EXPECT_THAT(error_of("ranks:\n"), HasSubstr("no value"));
  EXPECT_THAT(error_of("simulate_link: {a: {b: 1}}"), HasSubstr("too deep"));
  error_of("inject: [[1]]");
}

TEST(SettingsFile, NamesAMissingFileAFolderAndATooLargeOne) {
  const Folder folder;
  EXPECT_THAT(read_settings(folder / "absent.yaml").error().message, HasSubstr("absent.yaml"));
  EXPECT_THAT(read_settings(folder.path()).error().message, HasSubstr("not a file"));
  test::write_text(folder / "big.yaml", std::string(2 << 20, '#'));
  EXPECT_THAT(read_settings(folder / "big.yaml").error().message, HasSubstr("too large"));
}

TEST(SettingsFile, WritesOnlyWhatDiffersAndReadsItBack) {
  job::Settings settings;
  settings.bucket_cap_mb = 0.75;
  settings.learning_rate = 1e-5;
  settings.overlap_comm = false;
  settings.data = "/my texts/it's \"quoted\" 🚀 \\ #1: a.txt";
  settings.record = "steps 10..20";
  settings.simulate_link = "latency_us=50,gbit_per_s=10";
  const std::string yaml = settings_to_yaml(settings);
  EXPECT_EQ(parsed(yaml), settings) << yaml;
  EXPECT_THAT(yaml, HasSubstr("# A bucket of gradients is reduced"));
  EXPECT_EQ(yaml.find("weight_decay"), std::string::npos);
  EXPECT_EQ(parsed(settings_to_yaml(job::Settings())), job::Settings());
  for (const char* const empty : {"null", "Null", "NULL", "~"}) {
    settings.data = empty;
    EXPECT_EQ(parsed(settings_to_yaml(settings)), settings) << empty;
  }
}

std::string list_error_of(const std::string& yaml) {
  const auto lists = parse_setting_lists(yaml, "points.yaml");
  return lists ? "" : lists.error().message;
}

TEST(SettingLists, AreMapsInTheirOrder) {
  const auto lists = parse_setting_lists(
      "- {bucket_cap_mb: 4, ranks: 2}\n- simulate_link: {latency_us: 50, gbps: 1}\n- {}\n",
      "points.yaml");
  ASSERT_TRUE(lists) << lists.error().message;
  EXPECT_THAT(*lists, testing::ElementsAre(SettingTexts{{"bucket_cap_mb", "4"}, {"ranks", "2"}},
                                           SettingTexts{{"simulate_link", "latency_us=50,gbps=1"}},
                                           SettingTexts{}));
}

TEST(SettingLists, NameTheLineThatIsWrong) {
  EXPECT_THAT(list_error_of("- {ranks: 2}\n- {rank: 2}\n"),
              AllOf(HasSubstr("points.yaml"), HasSubstr("line 2"), HasSubstr("ranks")));
  EXPECT_THAT(list_error_of("- {ranks: 2}\n- {ranks: many}\n"), HasSubstr("line 2"));
  EXPECT_THAT(list_error_of("- {ranks: 2, ranks: 4}\n"), HasSubstr("twice"));
  EXPECT_THAT(list_error_of("- ranks\n"), HasSubstr("must be a map"));
  EXPECT_THAT(list_error_of("ranks: 2\n"), HasSubstr("a list is expected"));
  EXPECT_THAT(list_error_of(""), HasSubstr("a list is expected"));
}

TEST(SettingsFile, TellsWhichKnobsItNamesThoughTheyHaveTheirDefaults) {
  const auto read = parse_said_settings("steps: 100\nbucket_cap_mb: 4\n", "job.yaml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->said, (std::vector<std::string_view>{"steps", "bucket_cap_mb"}));
  EXPECT_EQ(read->settings.steps, job::Settings().steps);
  EXPECT_TRUE(parse_said_settings("", "job.yaml")->said.empty());
}

TEST(SettingsFile, ReadsWhatItWroteToDisk) {
  const Folder folder;
  job::Settings settings;
  settings.steps = 7;
  test::write_text(folder / "job.yaml", settings_to_yaml(settings));
  const auto read = read_settings(folder / "job.yaml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, settings);
}

}  // namespace
}  // namespace shardlens::trace::store
