#include "trace/explore/run_explorer.h"

#include <algorithm>
#include <future>
#include <utility>

#include "trace/explore/explored_run.h"
#include "trace/explore/find/event_facts.h"
#include "trace/explore/find/name_search.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/memory_of_step.h"
#include "trace/explore/paint/picture_maker.h"
#include "trace/explore/statistics/collective_tables.h"
#include "trace/explore/statistics/range_statistics.h"

namespace shardlens::trace::explore {

struct RunExplorer::State {
  std::unique_ptr<ExploredRun> run;
  std::optional<NameSearch> search;  // once the run is open
};

RunExplorer::RunExplorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunExplorer::~RunExplorer() = default;

base::Result<std::unique_ptr<RunExplorer>> RunExplorer::open(
    const std::filesystem::path& run, const store::EventStoreOptions& options, bool is_live) {
  auto state = std::make_unique<State>();
  TRY_ASSIGN(state->run, ExploredRun::open(run, options, is_live));
  state->search.emplace(*state->run->snapshot()->store, state->run->names());
  return std::unique_ptr<RunExplorer>(new RunExplorer(std::move(state)));
}

std::shared_ptr<const timeline::TimelineRows> RunExplorer::rows() const {
  return state_->run->snapshot()->rows;
}

base::Result<timeline::TimelinePicture> RunExplorer::picture(
    const timeline::PictureRequest& request, const std::function<bool()>& wanted) {
  return make_picture(*state_->run->snapshot(), request, wanted);
}

base::Result<timeline::RangeFigures> RunExplorer::statistics(const timeline::TimeRange& range,
                                                             const std::function<bool()>& wanted) {
  if (const auto known = state_->run->whole(); known && known->range == range) return *known;
  const auto run = state_->run->snapshot();
  auto stragglers =
      std::async(std::launch::async, [&run, &range] { return stragglers_in(*run, range); });
  TRY_ASSIGN(timeline::RangeFigures figures, range_statistics(*run, range, wanted));
  figures.stragglers = stragglers.get();
  state_->run->take_whole(*run, figures);
  return figures;
}

timeline::TimeRange RunExplorer::whole() const { return whole_range(*rows()); }

std::shared_ptr<const timeline::RangeFigures> RunExplorer::whole_so_far() const {
  auto known = state_->run->whole();
  return known ? known : state_->run->whole_so_far();
}

base::Result<timeline::NameHits> RunExplorer::find(const timeline::NamePattern& pattern,
                                                   const std::function<bool()>& wanted,
                                                   std::int64_t until_ns) {
  const auto run = state_->run->snapshot();
  TRY_ASSIGN(timeline::NameHits hits, state_->search->find(pattern, *run, wanted, until_ns));
  hits.is_complete = std::ranges::all_of(run->ranks, &RankSnapshot::has_all_rows);
  for (timeline::HitInstance& instance : hits.instances) {
    const RankSnapshot* const rank = run->rank(instance.place.ref.rank);
    const model::Step* const step =
        rank == nullptr ? nullptr : rank->rows->step_at(instance.place.start_ns);
    if (step != nullptr) instance.step = step->index;
  }
  return hits;
}

std::optional<timeline::EventPlace> RunExplorer::neighbour_hit(
    const timeline::NamePattern& pattern, int direction, std::int64_t from_ns,
    const std::function<bool()>& wanted) {
  const auto run = state_->run->snapshot();
  auto hit = state_->search->neighbour_hit(pattern, direction, from_ns, *run, wanted);
  if (hit) hit->row = row_of_event(*run, hit->ref);
  return hit;
}

std::optional<timeline::EventPlace> RunExplorer::neighbour_event(const timeline::EventRef& event,
                                                                 int direction) {
  return row_neighbour(*state_->run->snapshot(), event, direction);
}

base::Result<timeline::EventDetails> RunExplorer::details(const timeline::EventRef& event) {
  return event_details(*state_->run->snapshot(), event);
}

base::Result<timeline::StepMemory> RunExplorer::memory(const timeline::StepMemoryRequest& request,
                                                       const std::function<bool()>& wanted,
                                                       std::int64_t until_ns) {
  return memory_of_step(*state_->run->snapshot(), request, wanted, until_ns);
}

base::Result<bool> RunExplorer::work() { return state_->run->work(); }
double RunExplorer::progress() const { return state_->run->progress(); }
base::Result<bool> RunExplorer::refresh(bool has_ended) { return state_->run->refresh(has_ended); }

}  // namespace shardlens::trace::explore
