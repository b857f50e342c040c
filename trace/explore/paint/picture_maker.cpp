#include "trace/explore/paint/picture_maker.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/base/side_by_side.h"
#include "trace/explore/paint/row_painter.h"

namespace shardlens::trace::explore {

namespace {

constexpr std::uint32_t kUnknownName = UINT32_MAX;

}  // namespace

PictureNames::PictureNames(const store::EventStore* store)
    : store_(store), by_global_(store == nullptr ? 0 : store->names().count(), kUnknownName) {}

std::uint32_t PictureNames::number_of(std::string_view text) {
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(text);
  return found->second;
}

std::uint32_t PictureNames::of_global(std::uint32_t name) {
  if (store_ == nullptr) return 0;
  // Strings that came while the picture was made.
  if (name >= by_global_.size()) by_global_.resize(store_->names().count(), kUnknownName);
  if (name >= by_global_.size()) return 0;
  std::uint32_t& number = by_global_[name];
  if (number == kUnknownName) number = number_of(store_->names().text(name));
  return number;
}

std::uint32_t PictureNames::of_label(const RankSnapshot& rank, std::uint32_t label) {
  auto& numbers = by_label_[rank.rank];
  if (numbers.empty()) numbers.resize(rank.rows->labels.size(), kUnknownName);
  if (label >= numbers.size()) return 0;
  if (numbers[label] == kUnknownName) numbers[label] = number_of(rank.rows->labels[label]);
  return numbers[label];
}

void PictureNames::take_over(RowDraft& draft, const RankSnapshot* rank) {
  if (rank == nullptr) return;
  const auto renamed = [&](std::uint32_t name) {
    return draft.names_are_labels ? of_label(*rank, name) : of_global(name);
  };
  for (timeline::Piece& piece : draft.picture.pieces) piece.name = renamed(piece.name);
  for (timeline::ReadyPoint& point : draft.picture.ready) point.name = renamed(point.name);
}

namespace {

using PictureClock = std::chrono::steady_clock;

// No screen has more; a request for them is a mistake that must not cost the whole run.
constexpr double kMostPixels = 65536;

// Asks whether a picture is still wanted. Several threads ask; the caller's function is called by
// one of them at a time.
class Wanted {
 public:
  explicit Wanted(const std::function<bool()>& wanted) : wanted_(wanted) {}
  bool still() {
    if (given_up_) return false;
    if (!wanted_) return true;
    const std::lock_guard lock(mutex_);
    if (!wanted_()) given_up_ = true;
    return !given_up_;
  }

 private:
  const std::function<bool()>& wanted_;
  std::mutex mutex_;
  std::atomic<bool> given_up_ = false;
};

class PictureMaker {
 public:
  PictureMaker(const RunSnapshot& run, const timeline::PictureRequest& request,
               const std::function<bool()>& wanted)
      : run_(run), request_(request), wanted_(wanted) {}

  base::Result<timeline::TimelinePicture> make() {
    for (const timeline::RowWindow& window : request_.windows) tasks_.push_back(task_of(window));
    plan();
    TRY(side_by_side(activities_, [&](auto& each) { measure(each.first, each.second); }));
    TRY(side_by_side(ribbons_, [&](auto& each) { measure(each.first, each.second); }));
    drafts_.resize(tasks_.size());
    std::vector<std::size_t> order(tasks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    TRY(side_by_side(order, [&](std::size_t i) { paint(i); }));
    return join();
  }

 private:
  using WindowKey = std::tuple<int, std::int64_t, std::int64_t, double>;  // rank, window, zoom
  static constexpr int kAllRanks = -1;                                    // in place of a rank

  struct MeanOfRanks {
    std::mutex mutex;  // for the sum
    timeline::MeanRibbon sum;
  };
  // Of a rank. What is only part of a mean is not kept: there may be a thousand ranks.
  struct RibbonTask {
    timeline::RowPicture ribbon;
    bool is_shown = false;
    MeanOfRanks* mean = nullptr;
  };

  static WindowKey key_of(int rank, const RowTask& task) {
    return {rank, task.window.start_ns, task.window.end_ns, task.ns_per_pixel};
  }
  static WindowKey key_of(const RankSnapshot& rank, const RowTask& task) {
    return key_of(rank.rank, task);
  }

  RowTask task_of(const timeline::RowWindow& window) const {
    RowTask task;
    task.window = {timeline::drawn_instant(window.start_ns),
                   timeline::drawn_instant(window.end_ns)};
    task.ns_per_pixel = std::max(request_.ns_per_pixel > 0 ? request_.ns_per_pixel : 1,
                                 static_cast<double>(task.window.length()) / kMostPixels);
    if (window.row < 0 || static_cast<std::size_t>(window.row) >= run_.rows->rows.size()) {
      return task;
    }
    task.row = &run_.rows->rows[static_cast<std::size_t>(window.row)];
    task.rank = run_.rank(task.row->rank);
    return task;
  }

  bool needs_activity(const RowTask& task) const {
    if (!run_.needs_events(task.ns_per_pixel)) return false;
    if (task.row->kind == timeline::RowKind::kCommunication) return task.rank->has_all_rows;
    return is_communication(*task.rank, *task.row);
  }

  // What several rows share is computed once.
  void plan() {
    for (const RowTask& task : tasks_) {
      if (task.row == nullptr) continue;
      if (task.row->kind == timeline::RowKind::kRibbon && task.rank == nullptr) {
        MeanOfRanks& mean = means_[key_of(kAllRanks, task)];
        for (const RankSnapshot& rank : run_.ranks) ribbons_[key_of(rank, task)].mean = &mean;
      } else if (task.rank != nullptr && task.row->kind == timeline::RowKind::kRibbon) {
        ribbons_[key_of(*task.rank, task)].is_shown = true;
      } else if (task.rank != nullptr && needs_activity(task)) {
        activities_.try_emplace(key_of(*task.rank, task));
      }
    }
  }

  void measure(const WindowKey& key, WindowActivity& activity) {
    const auto& [rank, start_ns, end_ns, ns_per_pixel] = key;
    const base::Interval columns = timeline::PixelGrid(ns_per_pixel).around({start_ns, end_ns});
    activity = window_activity(*run_.store, *run_.rank(rank), columns);
  }
  void measure(const WindowKey& key, RibbonTask& task) {
    const auto& [rank, start_ns, end_ns, ns_per_pixel] = key;
    const auto shared = activities_.find(key);
    const WindowActivity* activity = shared == activities_.end() ? nullptr : &shared->second;
    WindowActivity own;
    if (activity == nullptr && run_.needs_events(ns_per_pixel)) {
      measure(key, own);
      activity = &own;
    }
    timeline::RowPicture painted =
        rank_ribbon(*run_.rank(rank), {start_ns, end_ns}, ns_per_pixel, activity);
    if (task.mean != nullptr) {
      const std::lock_guard lock(task.mean->mutex);
      task.mean->sum.add(painted);
    }
    if (task.is_shown) task.ribbon = shown_ribbon(std::move(painted));
  }

  void paint(std::size_t i) {
    const RowTask& task = tasks_[i];
    RowDraft& draft = drafts_[i];
    if (task.row != nullptr && task.row->kind == timeline::RowKind::kRibbon) {
      draft.picture = ribbon_of(task);
    } else if (task.row != nullptr && task.rank != nullptr) {
      const auto activity = activities_.find(key_of(*task.rank, task));
      const bool has_activity = needs_activity(task) && activity != activities_.end();
      draft = paint_row(run_, task, has_activity ? &activity->second : nullptr);
    }
    draft.picture.window = request_.windows[i];
  }

  timeline::RowPicture ribbon_of(const RowTask& task) const {
    if (task.rank == nullptr) return shown_ribbon(means_.at(key_of(kAllRanks, task)).sum.picture());
    return ribbons_.at(key_of(*task.rank, task)).ribbon;
  }

  template <typename Things, typename Work>
  base::Result<void> side_by_side(Things& things, Work work) {
    std::vector<typename Things::iterator> places;
    for (auto i = things.begin(); i != things.end(); ++i) places.push_back(i);
    base::for_each_side_by_side(run_.store->threads(), places.size(), [&](int, std::size_t i) {
      if (wanted_.still()) work(*places[i]);
    });
    if (!wanted_.still())
      return base::fail(base::ErrorKind::kFailed, "the picture is not wanted any more");
    return {};
  }

  timeline::TimelinePicture join() {
    timeline::TimelinePicture picture;
    picture.request = request_;
    PictureNames names(run_.store);
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      names.take_over(drafts_[i], tasks_[i].rank);
      picture.rows.push_back(std::move(drafts_[i].picture));
    }
    picture.names = names.take();
    return picture;
  }

  const RunSnapshot& run_;
  const timeline::PictureRequest& request_;
  Wanted wanted_;
  std::vector<RowTask> tasks_;
  std::map<WindowKey, WindowActivity> activities_;
  std::map<WindowKey, MeanOfRanks> means_;
  std::map<WindowKey, RibbonTask> ribbons_;
  std::vector<RowDraft> drafts_;
};

}  // namespace

base::Result<timeline::TimelinePicture> make_picture(const RunSnapshot& run,
                                                     const timeline::PictureRequest& request,
                                                     const std::function<bool()>& wanted) {
  const auto began = PictureClock::now();
  TRY_ASSIGN(timeline::TimelinePicture picture, PictureMaker(run, request, wanted).make());
  picture.prepare_ms =
      std::chrono::duration<double, std::milli>(PictureClock::now() - began).count();
  return picture;
}

}  // namespace shardlens::trace::explore
