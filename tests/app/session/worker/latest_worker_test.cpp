#include "app/session/worker/latest_worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/app/session/eventually.h"

namespace shardlens::app::session {
namespace {

TEST(LatestWorker, AnswersWhatIsAsked) {
  std::vector<int> answered;
  LatestWorker<int> worker([&](const int& request, const auto&) { answered.push_back(request); });
  worker.ask(7);
  worker.wait_until_idle();
  EXPECT_EQ(answered, std::vector<int>{7});
}

TEST(LatestWorker, LeavesOutWhatWasAskedInBetween) {
  std::vector<int> answered;
  std::latch first_began(1), may_end(1);
  LatestWorker<int> worker([&](const int& request, const auto&) {
    answered.push_back(request);
    if (request != 1) return;
    first_began.count_down();
    may_end.wait();
  });
  worker.ask(1);
  first_began.wait();
  for (const int request : {2, 3, 4}) worker.ask(request);
  may_end.count_down();
  worker.wait_until_idle();
  EXPECT_EQ(answered, (std::vector<int>{1, 4}));
}

TEST(LatestWorker, GoesOnAfterAnAnswerThatCouldNotBeMade) {
  std::vector<int> answered;
  LatestWorker<int> worker([&](const int& request, const auto&) {
    if (request == 1) throw std::bad_alloc();
    answered.push_back(request);
  });
  for (const int request : {1, 2}) {
    worker.ask(request);
    worker.wait_until_idle();
  }
  EXPECT_EQ(answered, std::vector<int>{2});
}

TEST(LatestWorker, TellsWhyAnAnswerThatIsWantedCouldNotBeMade) {
  std::vector<std::string> told;
  LatestWorker<int> worker(
      [&](const int& request, const auto&) {
        if (request == 1) worker.cancel();
        throw std::runtime_error("request " + std::to_string(request));
      },
      [&](const std::string& why) { told.push_back(why); });
  for (const int request : {1, 2}) {
    worker.ask(request);
    worker.wait_until_idle();
  }
  EXPECT_EQ(told, std::vector<std::string>{"request 2"});
}

TEST(LatestWorker, GoesOnWhereThereIsNoMemoryToTellThatThereIsNone) {
  std::vector<int> answered;
  LatestWorker<int> worker(
      [&](const int& request, const auto&) {
        if (request == 1) throw std::bad_alloc();
        answered.push_back(request);
      },
      [](const std::string&) { throw std::bad_alloc(); });
  for (const int request : {1, 2}) {
    worker.ask(request);
    worker.wait_until_idle();
  }
  EXPECT_EQ(answered, std::vector<int>{2});
}

TEST(LatestWorker, TellsTheAnswerUnderWayThatANewerOneIsWanted) {
  std::atomic<int> given_up = 0;
  std::latch began(1);
  LatestWorker<int> worker([&](const int& request, const auto& wanted) {
    if (request != 1) return;
    EXPECT_TRUE(wanted());
    began.count_down();
    given_up = eventually([&] { return !wanted(); }) ? 1 : 0;
  });
  worker.ask(1);
  began.wait();
  EXPECT_FALSE(worker.is_idle());
  worker.ask(2);
  worker.wait_until_idle();
  EXPECT_EQ(given_up, 1);
  EXPECT_TRUE(worker.is_idle());
}

TEST(LatestWorker, ForgetsWhatIsCancelledAndEndsWhatItIsDoing) {
  std::atomic<int> answers = 0;
  std::latch began(1);
  LatestWorker<int> worker([&](const int&, const auto& wanted) {
    ++answers;
    began.count_down();
    EXPECT_TRUE(eventually([&] { return !wanted(); }));
  });
  worker.ask(1);
  began.wait();
  worker.ask(2);
  worker.cancel();
  worker.wait_until_idle();
  EXPECT_EQ(answers, 1);
}

TEST(LatestWorker, EndsWithItsOwnerWhileAnswering) {
  std::latch began(1);
  std::atomic<bool> ended = false;
  {
    LatestWorker<int> worker([&](const int&, const auto& wanted) {
      began.count_down();
      ended = eventually([&] { return !wanted(); });
    });
    worker.ask(1);
    began.wait();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace shardlens::app::session
