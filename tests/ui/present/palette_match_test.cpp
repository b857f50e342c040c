#include "ui/present/palette_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shardlens::ui::present {

namespace {

TEST(CommandPalette, RanksWordsBeforeBeginningsBeforeAbbreviations) {
  EXPECT_EQ(match_of("Fit the timeline", "fit the TIMELINE"), Match::kExact);
  EXPECT_EQ(match_of("fit", "Fit the timeline"), Match::kPrefix);
  EXPECT_EQ(match_of("time fit", "Fit the timeline"), Match::kWords);
  EXPECT_EQ(match_of("line", "Fit the timeline"), Match::kPart);
  EXPECT_EQ(match_of("bcap", "Bucket cap"), Match::kAbbreviation);
  EXPECT_EQ(match_of("scale", "Start run 5 · all else"), Match::kNone);
  EXPECT_EQ(match_of("xyz", "Bucket cap"), Match::kNone);
}

TEST(CommandPalette, TakesLettersFromTheBeginningsOfWordsAndFromWhatFollowsThem) {
  EXPECT_EQ(match_of("bucap", "Bucket cap"), Match::kAbbreviation);
  EXPECT_EQ(match_of("bu cap", "Bucket last cap"), Match::kWords);
  EXPECT_EQ(match_of("blc", "Bucket last cap"), Match::kAbbreviation);
  EXPECT_EQ(match_of("bul c", "Bucket last cap"), Match::kAbbreviation);
  EXPECT_EQ(match_of("bk", "Bucket cap"), Match::kNone) << "within a word";
  EXPECT_EQ(match_of("cb", "Bucket cap"), Match::kNone) << "the other way round";
}

// Of all ways to choose 40 of 80 words there are more than any frame has time for.
TEST(CommandPalette, TakesNoTimeForManyWaysToAbbreviate) {
  std::string words, letters;
  for (int i = 0; i < 80; ++i) words += "a ";
  letters.assign(40, 'a');
  EXPECT_EQ(match_of(letters + "z", words), Match::kNone);
  EXPECT_EQ(match_of(letters, words), Match::kAbbreviation);
}

TEST(CommandPalette, FindsByTitleAndByOtherWords) {
  const std::vector<Findable> all{{"Fit the timeline", ""},
                                  {"Bucket cap", "bucket_cap_mb"},
                                  {"Dark or light", "theme colours"},
                                  {"The mesh", ""},
                                  {"", "Start the run, train", true}};
  EXPECT_EQ(best_matches("bcap", all).front(), 1u);
  EXPECT_EQ(best_matches("bucket_cap_mb", all).front(), 1u);
  EXPECT_EQ(best_matches("theme", all).front(), 2u);
  EXPECT_EQ(best_matches("", all).size(), 5u);
  EXPECT_EQ(best_matches("start", all), std::vector<std::size_t>{4});
  // What trains is not found by a part of a word or by first letters.
  EXPECT_TRUE(best_matches("rain", all).empty());
  EXPECT_TRUE(best_matches("str", all).empty());
}

TEST(CommandPalette, PrefersWholeWords) {
  const std::vector<Findable> all{{"Open run 12 · steps 960", "run 12 steps 960"},
                                  {"Open run 10 · steps 9", "run 10 steps 9"},
                                  {"Open run 9 · winner", "run 9 winner"},
                                  {"Open run 1 · cap 4", "run 1 cap 4"}};
  EXPECT_EQ(best_matches("run 9", all).front(), 2u);
  EXPECT_EQ(best_matches("run 1", all), (std::vector<std::size_t>{3, 0, 1}));
  EXPECT_EQ(best_matches("open run 1", all), (std::vector<std::size_t>{3, 0, 1}));
}

TEST(CommandPalette, ReadsAPath) {
  EXPECT_EQ(typed_path("open /data/rank0.json.gz "), "/data/rank0.json.gz");
  EXPECT_EQ(typed_path("Import ./a b.json"), "./a b.json");
  EXPECT_EQ(typed_path("open run"), "");
  EXPECT_EQ(typed_path("open "), "");
}

TEST(CommandPalette, ReadsAnAssignment) {
  EXPECT_EQ(typed_assignment("bucket_cap_mb 60").value, "60");
  EXPECT_EQ(typed_assignment("bucket_cap_mb=60").name, "bucket_cap_mb");
  EXPECT_TRUE(typed_assignment("fit").name.empty());
  EXPECT_TRUE(typed_assignment("bucket_cap_mb ").name.empty());
  for (const char* typed : {"cap 4", "Bucket cap 4", "bucket cap = 4", "cap=4 "}) {
    EXPECT_EQ(typed_assignment(typed).name, "bucket_cap_mb") << typed;
    EXPECT_EQ(typed_assignment(typed).value, "4") << typed;
  }
  EXPECT_EQ(typed_assignment("strategy full_shard").name, "sharding_strategy");
  EXPECT_TRUE(typed_assignment("cap four").name.empty()) << "it is no such value";
  EXPECT_TRUE(typed_assignment("steps one above the other").name.empty()) << "a command";
  EXPECT_EQ(typed_assignment("steps=one").name, "steps") << "why it is none is told";
  EXPECT_TRUE(typed_assignment("run 4").name.empty());
  EXPECT_TRUE(typed_assignment("open 4").name.empty());
}

}  // namespace

}  // namespace shardlens::ui::present
