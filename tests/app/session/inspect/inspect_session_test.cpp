#include "app/session/inspect/inspect_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {
namespace {

struct InspectSessionTest : testing::Test {
  TemporaryFolder folder;
  SyntheticRun run{folder.path()};
  Notice notice;
  InspectSession session{notice, [] {}};

  InspectSessionTest() { run.add_steps(8); }

  std::shared_ptr<const ui::state::InspectView> settled() {
    session.wait_until_idle();
    return session.view();
  }
  // The run has ended.
  std::shared_ptr<const ui::state::InspectView> opened() {
    run.finish();
    session.show(run.folder(), false);
    return settled();
  }
  int row_of(const ui::state::InspectView& view, trace::timeline::RowKind kind) {
    const auto found =
        std::ranges::find(view.rows->rows, kind, &trace::timeline::TimelineRow::kind);
    return found == view.rows->rows.end() ? -1 : found->id;
  }
  trace::timeline::PictureRequest everything(const ui::state::InspectView& view,
                                             trace::timeline::RowKind kind) {
    return {{{row_of(view, kind), view.rows->start_ns, view.rows->end_ns}}, 1000};
  }
};

TEST_F(InspectSessionTest, OpensARunWithItsRowsTheWholeOfItAndItsStatistics) {
  const auto view = opened();
  ASSERT_TRUE(view && view->rows && view->overview && view->range);
  EXPECT_EQ(view->problem, "");
  EXPECT_EQ(view->rows->ranks.size(), 2u);
  EXPECT_EQ(view->rows->steps.size(), 16u);
  EXPECT_TRUE(view->range->is_whole_run);
  EXPECT_EQ(view->progress, 1);
}

TEST_F(InspectSessionTest, DrawsWhatIsAskedFor) {
  const auto request = everything(*opened(), trace::timeline::RowKind::kPhases);
  session.carry_out(ui::state::ShowTimeline{request});
  const auto view = settled();
  ASSERT_TRUE(view->picture);
  EXPECT_EQ(view->picture->request, request);
  ASSERT_EQ(view->picture->rows.size(), 1u);
  EXPECT_FALSE(view->picture->rows[0].pieces.empty());
}

TEST_F(InspectSessionTest, CountsASelectedRangeAndThenTheWholeRunAgain) {
  const auto whole = opened()->range;
  const auto& step = settled()->rows->steps.front();
  session.carry_out(ui::state::SelectRange{{step.start_ns, step.end_ns, {}}});
  const auto part = settled()->range;
  EXPECT_FALSE(part->is_whole_run);
  EXPECT_EQ(part->range.start_ns, step.start_ns);
  session.carry_out(ui::state::SelectRange{});
  EXPECT_TRUE(settled()->range->is_whole_run);
  EXPECT_EQ(settled()->range->tables.size(), whole->tables.size());
}

TEST_F(InspectSessionTest, FindsNamesGoesFromHitToHitAndForgetsThem) {
  opened();
  session.carry_out(
      ui::state::FindNames{{.text = "forward", .is_plain = false, .ignores_case = true}});
  auto view = settled();
  ASSERT_TRUE(view->hits);
  EXPECT_GT(view->hits->count, 0);
  session.carry_out(ui::state::GoToHit{1, view->rows->start_ns - 1});
  view = settled();
  EXPECT_EQ(view->reveal_number, 1u);
  const auto first = view->reveal;
  session.carry_out(ui::state::GoToHit{1, first.start_ns});
  view = settled();
  EXPECT_EQ(view->reveal_number, 2u);
  EXPECT_GT(view->reveal.start_ns, first.start_ns);
  session.carry_out(ui::state::FindNames{});
  EXPECT_FALSE(settled()->hits);
}

TEST_F(InspectSessionTest, CountsNoHitThatAReplayHasNotComeTo) {
  opened();
  session.carry_out(
      ui::state::FindNames{{.text = "forward", .is_plain = true, .ignores_case = false}});
  const auto all = settled()->hits;
  const auto middle = settled()->rows->steps[8].start_ns;
  session.show_until(middle);
  const auto some = settled()->hits;
  EXPECT_GT(some->count, 0);
  EXPECT_LT(some->count, all->count);
  ASSERT_FALSE(some->instances.empty());
  EXPECT_LT(some->instances.back().place.start_ns, middle);
  session.show_until(INT64_MAX);
  EXPECT_EQ(settled()->hits->count, all->count);
}

TEST_F(InspectSessionTest, SaysThatAReplaysTablesAreOfTheRunSoFar) {
  EXPECT_FALSE(opened()->range->is_so_far);
  const auto middle = settled()->rows->steps[8].start_ns;
  session.show_until(middle);
  EXPECT_TRUE(settled()->range->is_so_far);
  EXPECT_EQ(session.view()->range->range.end_ns, middle);
  session.show_until(INT64_MAX);
  EXPECT_FALSE(settled()->range->is_so_far);
}

TEST_F(InspectSessionTest, ShowsNoMemoryOfAStepThatAReplayHasNotComeTo) {
  opened();
  session.carry_out(ui::state::ShowMemory{{0, 4, false}});
  EXPECT_FALSE(settled()->memory->is_to_come);
  session.show_until(settled()->rows->steps[4].start_ns);
  EXPECT_TRUE(settled()->memory->is_to_come);
  session.show_until(INT64_MAX);
  EXPECT_FALSE(settled()->memory->is_to_come);
}

TEST_F(InspectSessionTest, PicksAnEventAndDropsIt) {
  session.carry_out(
      ui::state::ShowTimeline{everything(*opened(), trace::timeline::RowKind::kPhases)});
  const auto& pieces = settled()->picture->rows[0].pieces;
  const auto piece = std::ranges::find_if(pieces, [](const auto& p) { return p.ref.exists(); });
  ASSERT_NE(piece, pieces.end());
  session.carry_out(ui::state::PickEvent{piece->ref});
  auto view = settled();
  ASSERT_TRUE(view->details);
  EXPECT_EQ(view->details->place.ref, piece->ref);
  EXPECT_EQ(view->reveal_number, 0u) << "what is clicked is on screen";
  session.carry_out(ui::state::GoToEvent{view->details->place});
  view = settled();
  EXPECT_EQ(view->reveal_number, 1u);
  const auto first = view->reveal;
  session.carry_out(ui::state::GoToNeighbour{first.ref, 1});
  view = settled();
  EXPECT_GT(view->reveal.start_ns, first.start_ns);
  EXPECT_EQ(view->reveal.row, first.row);
  EXPECT_EQ(view->details->place.ref, view->reveal.ref);
  session.carry_out(ui::state::DropEvent{});
  EXPECT_FALSE(settled()->details);
}

TEST_F(InspectSessionTest, SaysWhichRanksHaveNoRecordOfAllocationsHoweverEarlyItIsAsked) {
  run.finish();
  session.show(run.folder(), false);
  session.carry_out(ui::state::ShowMemory{{1, 3, false}});
  auto view = settled();
  ASSERT_TRUE(view->memory) << "asked again once everything was read";
  EXPECT_EQ(view->memory->rank, 1);
  EXPECT_EQ(view->memory->step, 3);
  EXPECT_EQ(view->memory->recorded.size(), 2u);
  EXPECT_EQ(view->memory->allocations, nullptr);
  session.carry_out(ui::state::ShowMemory{{0, 2, true}});
  view = settled();
  EXPECT_EQ(view->memory->request, (trace::timeline::StepMemoryRequest{0, 2, true}));
  session.show("", false);
  EXPECT_EQ(settled(), nullptr);
}

TEST_F(InspectSessionTest, AnswersSqlAndRemembersWhatWasAsked) {
  opened();
  session.carry_out(ui::state::RunSql{"select count(*) from step"});
  session.wait_until_idle();
  session.carry_out(ui::state::RunSql{"select 2"});
  session.wait_until_idle();
  session.carry_out(ui::state::RunSql{"select count(*) from step"});
  const auto& sql = settled()->sql;
  EXPECT_FALSE(sql.running);
  ASSERT_TRUE(sql.answer);
  EXPECT_EQ(sql.answer->rows, (std::vector<std::vector<std::string>>{{"16"}}));
  EXPECT_EQ(sql.history, (std::vector<std::string>{"select count(*) from step", "select 2"}));
}

TEST_F(InspectSessionTest, StopsAQueryThatTakesTooLong) {
  opened();
  session.carry_out(ui::state::RunSql{
      "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"});
  EXPECT_TRUE(session.view()->sql.running);
  session.carry_out(ui::state::StopSql{});
  EXPECT_FALSE(session.view()->sql.running);
  session.wait_until_idle();
}

TEST_F(InspectSessionTest, FollowsARunThatIsRecorded) {
  session.show(run.folder(), true);
  ASSERT_TRUE(eventually([&] {
    const auto view = session.view();
    return view->rows && view->rows->steps.size() == 16;
  }));
  run.add_steps(4);
  EXPECT_TRUE(eventually([&] { return session.view()->rows->steps.size() == 24; }));
  run.add_steps(1);
  run.finish();
  session.show(run.folder(), false);
  EXPECT_TRUE(eventually([&] { return session.view()->rows->steps.size() == 26; }))
      << "what came last is read, too";
}

// As under torchrun, where rank 0 sets the status once it has finished itself.
TEST_F(InspectSessionTest, ReadsWhatRanksWriteAfterTheStatusWasSet) {
  session.show(run.folder(), true);
  ASSERT_TRUE(eventually([&] {
    const auto view = session.view();
    return view->rows && view->rows->steps.size() == 16;
  }));
  auto info = run.info();
  info.status = trace::model::RunStatus::kDone;
  ASSERT_TRUE(trace::store::update_run(run.folder(), info));
  session.show(run.folder(), false);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.add_steps(1);
  EXPECT_TRUE(eventually([&] { return session.view()->rows->steps.size() == 18; }));
  EXPECT_TRUE(eventually([&] {
    const auto& range = session.view()->range;
    return range && range->is_whole_run && range->range.end_ns >= session.view()->rows->end_ns;
  })) << "and is counted";
}

TEST_F(InspectSessionTest, CountsWhatIsSearchedForAgainAsARunGrows) {
  session.show(run.folder(), true);
  const auto counts = [&](std::int64_t count) {
    return eventually([&] {
      const auto hits = session.view()->hits;
      return hits && hits->is_complete && hits->count == count;
    });
  };
  // As the run is being opened nobody can answer yet.
  ASSERT_TRUE(eventually([&] { return session.view()->rows != nullptr; }));
  session.carry_out(
      ui::state::FindNames{{.text = "forward", .is_plain = true, .ignores_case = false}});
  ASSERT_TRUE(counts(16));
  run.add_steps(4);
  EXPECT_TRUE(counts(24));
}

TEST_F(InspectSessionTest, FollowsARunThatIsKnownToLiveOnlyAfterItWasShown) {
  session.show(run.folder(), false);
  ASSERT_TRUE(settled()->rows) << "as much of it as was committed by then";
  session.show(run.folder(), true);
  run.add_steps(4);
  EXPECT_TRUE(eventually([&] { return session.view()->rows->steps.size() == 24; }));
  run.add_steps(1);
  run.finish();
  session.show(run.folder(), false);
  EXPECT_TRUE(eventually([&] { return session.view()->rows->steps.size() == 26; }));
}

// Panels show the same rows of the same times, and do not ask again.
TEST_F(InspectSessionTest, OpensTheRunThatTookThePlaceOfTheOneThatIsShown) {
  const auto request = everything(*opened(), trace::timeline::RowKind::kPhases);
  session.carry_out(ui::state::ShowTimeline{request});
  ASSERT_EQ(settled()->rows->steps.size(), 16u);
  const TemporaryFolder elsewhere;
  const auto other = finished_run(elsewhere.path());
  std::filesystem::remove_all(run.folder());
  std::filesystem::rename(other, run.folder());
  session.show(run.folder(), false);
  EXPECT_EQ(settled()->rows->steps.size(), 16u) << "nobody said so";
  session.show(run.folder(), false, 1);
  const auto view = settled();
  ASSERT_TRUE(view && view->rows && view->picture);
  EXPECT_EQ(view->rows->steps.size(), 12u);
  EXPECT_EQ(view->picture->request, request);
  EXPECT_TRUE(view->range->is_whole_run);
  session.show(run.folder(), false, 1);
  EXPECT_EQ(session.view(), view);
}

TEST_F(InspectSessionTest, SaysWhyAFileCannotBeShown) {
  run.finish();
  const auto file = folder.path() / "notes.shardlens";
  std::ofstream(file) << "no trace";
  session.show(file, false);
  EXPECT_NE(settled()->problem, "");
  session.show(run.folder(), false);
  EXPECT_EQ(settled()->problem, "");
  EXPECT_TRUE(settled()->rows);
  session.show({}, false);
  EXPECT_FALSE(session.view());
}

TEST_F(InspectSessionTest, SaysWhyAnEventThatIsPickedCannotBeTold) {
  opened();
  trace::timeline::EventRef gone;
  gone.table = trace::timeline::EventTableKind::kSpan;
  gone.rank = 9;
  session.carry_out(ui::state::PickEvent{gone});
  EXPECT_FALSE(settled()->details);
  EXPECT_TRUE(notice.words().is_error);
  EXPECT_EQ(settled()->problem, "") << "all else is shown";
}

TEST_F(InspectSessionTest, KeepsBookmarksWithTheRun) {
  const auto at = opened()->rows->start_ns + 1'000'000;
  session.carry_out(ui::state::ChangeBookmark{{at, "here"}});
  EXPECT_EQ(session.view()->bookmarks, (trace::model::Bookmarks{{at, "here"}})) << "shown at once";
  session.carry_out(ui::state::ChangeBookmark{{at, "the late rank"}});
  EXPECT_EQ(settled()->bookmarks, (trace::model::Bookmarks{{at, "the late rank"}}));
  EXPECT_EQ(trace::store::read_run_info(run.folder())->bookmarks, settled()->bookmarks);
  EXPECT_FALSE(notice.take_change());

  InspectSession another{notice, [] {}};
  another.show(run.folder(), false);
  another.wait_until_idle();
  EXPECT_EQ(another.view()->bookmarks, settled()->bookmarks);
}

TEST_F(InspectSessionTest, ABookmarkThatWasAskedForIsKeptThoughTheWindowClosesAtOnce) {
  run.finish();
  {
    InspectSession closing{notice, [] {}};
    closing.show(run.folder(), false);
    for (int i = 0; i < 50; ++i) closing.carry_out(ui::state::ChangeBookmark{{i, "x"}});
  }
  EXPECT_EQ(trace::store::read_run_info(run.folder())->bookmarks.size(), 50u);
}

TEST_F(InspectSessionTest, ABookmarkThatCannotBeKeptIsToldAndNotShown) {
  opened();
  // As when its folder was deleted meanwhile.
  std::filesystem::remove(run.folder() / trace::store::kRunFile);
  session.carry_out(ui::state::ChangeBookmark{{5, "here"}});
  EXPECT_TRUE(settled()->bookmarks.empty());
  EXPECT_TRUE(notice.words().is_error);
  EXPECT_TRUE(notice.words().text.starts_with("The bookmark was not kept: "))
      << notice.words().text;
}

}  // namespace
}  // namespace shardlens::app::session
