#include "ui/inspect/tabs/recording_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "ui/present/format.h"
#include "ui/present/headline.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

namespace {

using present::column_head;
using trace::analysis::RankFigures;

constexpr std::size_t kMostLossesTold = 8;

double lost_of(const RankFigures& rank, const std::vector<trace::model::Lost>& losses) {
  double lost = rank.cost ? 0 : present::kNotKnown;
  for (const trace::model::Lost& loss : losses) {
    if (loss.rank != rank.info.rank) continue;
    lost = (std::isnan(lost) ? 0 : lost) + static_cast<double>(loss.count);
  }
  return lost;
}

// Ranks with rows of their own, and the others; keeps alive what they are of.
struct RecordingFold {
  std::shared_ptr<const state::RunView> run;
  std::vector<const RankFigures*> shown, rest;
};

// Those that say nothing of their recording stand out, too: it may have failed. While a run goes on
// its counts change with every look, and rows must not: whoever lost something comes first then, by
// number.
std::shared_ptr<const RecordingFold> folded_ranks(const std::shared_ptr<const state::RunView>& run,
                                                  bool folded) {
  const trace::analysis::RunFigures& figures = run->figures;
  auto fold = std::make_shared<RecordingFold>(RecordingFold{.run = run, .shown = {}, .rest = {}});
  using Weight = std::tuple<double, std::int64_t, std::int64_t>;
  const bool folds = folded && figures.ranks.size() > kMostRecordingRows;
  const auto weight_of = [&](const RankFigures& rank) {
    if (!folds) return Weight{};
    const double lost = lost_of(rank, figures.recorder.losses);
    if (figures.info.status == trace::model::RunStatus::kRunning) return Weight(lost != 0, 0, 0);
    return Weight(std::isnan(lost) ? std::numeric_limits<double>::infinity() : lost,
                  rank.cost ? rank.cost->callback_ns : 0, rank.cost ? rank.cost->events : 0);
  };
  std::vector<std::pair<Weight, const RankFigures*>> ranks;
  for (const RankFigures& rank : figures.ranks) ranks.emplace_back(weight_of(rank), &rank);
  std::ranges::stable_sort(ranks, std::greater<>(), [](const auto& rank) { return rank.first; });
  for (const auto& [weight, rank] : ranks) {
    const bool own = !folds || fold->shown.size() < kMostRecordingRows / 2;
    (own ? fold->shown : fold->rest).push_back(rank);
  }
  return fold;
}

// "0 to 15, 17"
std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

class RecordingColumns {
 public:
  RecordingColumns(const RecordingFold& fold, present::Table& out)
      : losses_(&fold.run->figures.recorder.losses),
        rest_(fold.rest),
        columns_(out, fold.shown),
        out_(out) {
    if (!rest_.empty()) out_.pinned.emplace_back();
  }

  void add_all() {
    add_figure(
        column_head("Rank", "rank", "Global rank", 62, 100),
        [](const RankFigures& r) { return r.info.rank; },
        [](double rank) {
          return present::Quantity{present::format_plain(rank), ""};
        });
    if (!rest_.empty()) {
      out_.pinned.front().front() = present::TableCell::words(
          "+ " + present::format_integer(static_cast<std::int64_t>(rest_.size())));
    }
    add_text(column_head("Device", "device_name", "What it computes on", 190, 9),
             [](const RankFigures& r) { return r.info.device_name; });
    add_text(
        column_head("Index", "device", "Of the device among those that its process sees", 74, 4),
        [](const RankFigures& r) { return r.info.device; });
    add_text(column_head("Software", "versions",
                         "Versions of the program, LibTorch, the driver, CUDA and NCCL", 210, 8),
             [](const RankFigures& r) { return r.info.versions; });
    add_text(column_head("Link", "link", "What links it to the other ranks", 150, 7),
             [](const RankFigures& r) { return r.info.link; });
    add_figure(
        column_head("Link peak", "link_bytes_per_s",
                    "Of the link in one direction, without protocol: what a bus bandwidth is held "
                    "against",
                    92, 6),
        [](const RankFigures& r) {
          return r.info.link_bytes_per_second > 0 ? std::optional(r.info.link_bytes_per_second)
                                                  : std::nullopt;
        },
        present::format_bandwidth);
    add_text(column_head("Host", "host", "Name of its machine", 120, 3),
             [](const RankFigures& r) { return r.info.host; });
    add_cost();
  }

 private:
  template <typename Text>
  void add_text(present::TableColumn head, Text text) {
    const auto says_nothing = [&](const RankFigures* r) { return text(*r).empty(); };
    if (std::ranges::all_of(columns_.rows(), says_nothing) &&
        std::ranges::all_of(rest_, says_nothing)) {
      return;
    }
    head.wish = head.width * 1.7f;
    columns_.add_words(std::move(head), [text](const RankFigures* r) { return text(*r); });
    if (rest_.empty()) return;
    present::TableCell rest = present::TableCell::words(text(*rest_.front()));
    const bool differ =
        std::ranges::any_of(rest_, [&](const RankFigures* r) { return text(*r) != rest.text; });
    if (differ) rest = present::TableCell::words("various", state::Tone::kMuted);
    out_.pinned.front().push_back(std::move(rest));
  }

  template <typename Value, typename Show>
  void add_figure(present::TableColumn head, Value value, Show show) {
    double least = present::kNotKnown, most = present::kNotKnown;
    for (const RankFigures* rank : rest_) {
      const double given = present::number_of(value(*rank));
      least = std::fmin(least, given);
      most = std::fmax(most, given);
    }
    auto& column = columns_.add_figure(
        std::move(head), [value](const RankFigures* r) { return value(*r); }, show);
    if (std::isnan(most) && !present::has_numbers(out_, column)) return out_.columns.pop_back();
    if (rest_.empty()) return;
    present::TableCell rest;
    if (!std::isnan(most)) rest = present::TableCell::figure(show(most));
    if (!rest.text.empty() && least < most) rest.text = "≤ " + rest.text;
    out_.pinned.front().push_back(std::move(rest));
  }

  // What `figure` says of a rank's recording; none where the rank says nothing of it.
  static auto of_cost(std::int64_t trace::model::RecorderCost::*figure) {
    return [figure](const RankFigures& r) {
      return r.cost && (*r.cost).*figure >= 0 ? std::optional((*r.cost).*figure) : std::nullopt;
    };
  }

  void add_cost() {
    add_figure(
        column_head("Events", "events", "Bulk events and collectives that were recorded", 104, 5),
        of_cost(&trace::model::RecorderCost::events), present::whole_number);
    add_figure(
        column_head("Lost", "lost", "Records that could not be kept; the reasons stand beside", 84,
                    8),
        [losses = losses_](const RankFigures& r) { return lost_of(r, *losses); },
        present::whole_number);
    add_figure(
        column_head(
            "Callbacks", "callback_ns",
            "Time that recording took of the job's own threads: an estimate from samples, and from "
            "what LibTorch needs for an observed operator on this machine",
            98, 5),
        of_cost(&trace::model::RecorderCost::callback_ns), present::format_duration);
    add_figure(column_head("Writer", "writer_ns", "CPU time of the recorder's own threads", 90, 4),
               of_cost(&trace::model::RecorderCost::writer_ns), present::format_duration);
  }

  const std::vector<trace::model::Lost>* losses_;
  const std::vector<const RankFigures*>& rest_;
  present::RowColumns<const RankFigures*> columns_;
  present::Table& out_;
};

}  // namespace

std::shared_ptr<const present::Table> recording_table(
    const std::shared_ptr<const state::RunView>& run, bool folded) {
  auto out = std::make_shared<present::Table>();
  out->id = "recording";
  const auto fold = folded_ranks(run, folded);
  out->data = fold;
  RecordingColumns(*fold, *out).add_all();
  return out;
}

std::string losses_text(const trace::analysis::RecorderFigures& recorder) {
  std::vector<trace::model::Lost> losses = recorder.losses;
  std::ranges::stable_sort(losses, std::greater<>(), &trace::model::Lost::count);
  std::string text;
  for (std::size_t i = 0; i < std::min(losses.size(), kMostLossesTold); ++i) {
    const trace::model::Lost& loss = losses[i];
    text += (text.empty() ? "" : "; ") + std::string("rank ") + std::to_string(loss.rank) + ": " +
            present::format_integer(loss.count) + " (" + loss.reason + ")";
  }
  if (losses.size() <= kMostLossesTold) return text;
  std::int64_t rest = 0;
  for (std::size_t i = kMostLossesTold; i < losses.size(); ++i) rest += losses[i].count;
  return text + "; " + present::format_integer(rest) + " elsewhere";
}

std::vector<SourceLine> source_lines(const trace::analysis::RunFigures& figures) {
  std::vector<SourceLine> lines;
  std::vector<std::vector<int>> ranks;  // by line
  std::size_t telling = 0;
  for (const RankFigures& rank : figures.ranks) {
    if (!rank.info.sources.empty()) ++telling;
    for (const std::string_view part : present::source_parts(rank.info.sources)) {
      const auto colon = part.find(": ");
      SourceLine line;
      if (colon != std::string_view::npos) line.what = part.substr(0, colon);
      line.source = colon == std::string_view::npos ? part : part.substr(colon + 2);
      const auto same = std::ranges::find_if(lines, [&](const SourceLine& other) {
        return other.what == line.what && other.source == line.source;
      });
      const auto at = static_cast<std::size_t>(same - lines.begin());
      if (same == lines.end()) {
        lines.push_back(std::move(line));
        ranks.emplace_back();
      }
      ranks[at].push_back(rank.info.rank);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (ranks[i].size() == telling) continue;
    lines[i].ranks = (ranks[i].size() == 1 ? "rank " : "ranks ") + ranks_text(ranks[i]);
  }
  return lines;
}

}  // namespace shardlens::ui::inspect
