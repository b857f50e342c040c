#include "trace/base/words/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {
namespace {

constexpr std::string_view kCommands[] = {"run",    "record", "report", "compare", "replay",
                                          "query",  "import", "export", "verify",  "pack",
                                          "doctor", "plan",   "bench",  "settings"};

std::string_view command(std::string_view written) {
  return base::nearest_names(written, kCommands).front();
}

TEST(Suggestion, SwappedLettersAreOneMistake) {
  EXPECT_TRUE(base::is_near("urn", "run"));
  EXPECT_FALSE(base::is_near("unr", "run"));
  EXPECT_FALSE(base::is_near("sitting", "kitten"));
  EXPECT_TRUE(base::is_near("RUn", "run"));
}

TEST(Suggestion, FindsTheCommandThatWasMeant) {
  EXPECT_EQ(command("comapre"), "compare");
  EXPECT_EQ(command("repotr"), "report");
  EXPECT_EQ(command("setings"), "settings");
  EXPECT_EQ(command("Verfiy"), "verify");
  EXPECT_TRUE(base::is_near("comapre", "compare"));
  EXPECT_FALSE(base::is_near("my first run", "record"));
}

TEST(Suggestion, FindsASettingByItsBeginningOrAPartOfIt) {
  EXPECT_EQ(nearest_knob("buket"), "bucket_cap_mb");
  EXPECT_EQ(nearest_knob("bucket_cap"), "bucket_cap_mb");
  EXPECT_EQ(nearest_knob("shardin"), "sharding_strategy");
  EXPECT_EQ(nearest_knob("lora_rnak"), "lora_rank");
  EXPECT_EQ(nearest_knob("seqence_length"), "sequence_length");
}

TEST(Suggestion, OneMistakeInAnySettingIsMended) {
  for (const Knob& knob : knobs()) {
    const std::string name(knob.name);
    if (name.size() < 6) continue;
    for (std::size_t i = 1; i + 2 < name.size(); i += 7) {
      std::string swapped = name, without = name;
      std::swap(swapped[i], swapped[i + 1]);
      without.erase(i, 1);
      if (find_knob(swapped) == nullptr) {
        EXPECT_EQ(nearest_knob(swapped), name) << swapped;
      }
      if (find_knob(without) == nullptr) {
        EXPECT_EQ(nearest_knob(without), name) << without;
      }
    }
  }
}

TEST(Suggestion, GivesAsManyAsAreAskedForAndThere) {
  const std::vector<std::string_view> names{"baseline", "cap 1", "cap 60"};
  EXPECT_EQ(base::nearest_names("cap 6", names, 2),
            (std::vector<std::string_view>{"cap 60", "cap 1"}));
  EXPECT_EQ(base::nearest_names("cap", names, 9).size(), 3u);
  EXPECT_TRUE(base::nearest_names("cap", {}, 1).empty());
}

}  // namespace
}  // namespace shardlens::trace::job
