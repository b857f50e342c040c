#include "app/session/worker/notice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace shardlens::app::session {
namespace {

TEST(Notice, TellsOfAChangeOnce) {
  Notice notice;
  EXPECT_FALSE(notice.take_change());
  notice.say("Saved a.png");
  EXPECT_EQ(notice.words().text, "Saved a.png");
  EXPECT_FALSE(notice.words().is_error);
  EXPECT_TRUE(notice.take_change());
  EXPECT_FALSE(notice.take_change());
  EXPECT_EQ(notice.words().text, "Saved a.png") << "it stays until the next";
}

TEST(Notice, TheSameSentenceAgainIsAChange) {
  Notice notice;
  notice.say_why_not("The run is gone");
  EXPECT_TRUE(notice.take_change());
  notice.say_why_not("The run is gone");
  EXPECT_TRUE(notice.take_change()) << "it answers another command";
}

TEST(Notice, IsSaidOnAnyThreadAndWakesWhoeverShowsIt) {
  std::atomic<int> wakes = 0;
  Notice notice([&] { ++wakes; });
  {
    std::vector<std::jthread> speakers;
    for (int i = 0; i < 4; ++i) {
      speakers.emplace_back([&] {
        for (int k = 0; k < 100; ++k) notice.say("Packing: " + std::string(40, 'x'), true);
      });
    }
    for (int k = 0; k < 100; ++k) {
      const auto words = notice.words();
      EXPECT_EQ(words.is_error, !words.text.empty()) << "both are of one sentence";
    }
  }
  EXPECT_EQ(wakes, 400);
  EXPECT_TRUE(notice.take_change());
}

TEST(Notice, AnErrorIsOverWithTheNextCommandThatGoesWell) {
  Notice notice;
  notice.take(trace::base::fail(trace::base::ErrorKind::kUsage, "world_size is no number"));
  EXPECT_EQ(notice.words().text, "world_size is no number");
  EXPECT_TRUE(notice.words().is_error);
  notice.take({});
  EXPECT_EQ(notice.words().text, "");
  EXPECT_FALSE(notice.words().is_error);
  notice.say_why_not("no room");
  notice.clear();
  EXPECT_FALSE(notice.words().is_error);
}

TEST(Notice, IsTakenBackUnlessSomethingElseWasSaidSince) {
  Notice notice;
  notice.say_why_not("The run is gone");
  notice.take_back("No room");
  EXPECT_EQ(notice.words().text, "The run is gone");
  notice.take_change();
  notice.take_back("The run is gone");
  EXPECT_EQ(notice.words().text, "");
  EXPECT_FALSE(notice.words().is_error);
  EXPECT_TRUE(notice.take_change());
}

}  // namespace
}  // namespace shardlens::app::session
