#include <algorithm>
#include <array>
#include <tuple>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

constexpr std::array<double, 13> kSpeeds{0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1,
                                         2,    5,    10,   25,  50,   100};

void draw_speed(const kit::Theme& theme, state::Rect box, const state::ReplayState& replay,
                state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::Rect less = box.take_left(theme.px(24)), more = box.take_right(theme.px(24));
  const kit::Hit down = kit::hit_area(theme, "replay/slower", less),
                 up = kit::hit_area(theme, "replay/faster", more);
  for (const auto& [hit, area, sign] : {std::tuple{down, less, "−"}, std::tuple{up, more, "+"}}) {
    if (hit.hovered) kit::fill(area, kit::color(p.hover), theme.px(5));
    kit::text_in(theme, area, kit::Face::kStrong, hit.hovered ? p.text : p.text_secondary, sign,
                 kit::Align::kCenter);
  }
  if (down.clicked) commands.push_back(state::SetReplaySpeed{slower(replay.speed)});
  if (up.clicked) commands.push_back(state::SetReplaySpeed{faster(replay.speed)});
  kit::text_in(theme, box, kit::Face::kMono, p.text, present::format_plain(replay.speed) + " ×",
               kit::Align::kCenter);
  kit::explain(
      theme, box, "Speed",
      "Recorded time per time on the wall, 0.01 to 100 ×. Slowly, Inspect shows how a step "
      "grows bucket by bucket");
}

}  // namespace

double faster(double speed) {
  const auto* next = std::upper_bound(kSpeeds.begin(), kSpeeds.end(), speed * 1.001);
  return next == kSpeeds.end() ? kSpeeds.back() : *next;
}

double slower(double speed) {
  const auto* at = std::lower_bound(kSpeeds.begin(), kSpeeds.end(), speed * 0.999);
  return at == kSpeeds.begin() ? kSpeeds.front() : *(at - 1);
}

float replay_position(const state::ReplayState& replay) {
  if (replay.end_ns <= replay.start_ns) return 0;
  const double done = static_cast<double>(replay.now_ns - replay.start_ns);
  return std::clamp(static_cast<float>(done / static_cast<double>(replay.end_ns - replay.start_ns)),
                    0.0f, 1.0f);
}

std::int64_t replay_time(const state::ReplayState& replay, float position) {
  const double span = static_cast<double>(replay.end_ns - replay.start_ns);
  return replay.start_ns +
         static_cast<std::int64_t>(span * std::clamp(static_cast<double>(position), 0.0, 1.0));
}

void draw_replay_bar(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::ReplayState& replay = snapshot.replay;
  kit::panel_surface(theme, rect);
  state::Rect rest = rect.inset(theme.px(12), theme.px(6));
  const state::Rect play = rest.take_left(theme.px(32), theme.px(4));
  if (kit::icon_button(theme, "replay/play", play,
                       replay.playing ? kit::Shape::kPause : kit::Shape::kPlay)) {
    commands.push_back(state::SetReplayPlaying{!replay.playing});
  }
  const state::Rect restart = rest.take_left(theme.px(28), theme.px(8));
  if (kit::icon_button(theme, "replay/restart", restart, kit::Shape::kRestart)) {
    commands.push_back(state::SeekReplay{replay.start_ns});
  }
  kit::take_text(theme, rest, theme.px(12), kit::Face::kStrong, p.text, "Replay");
  if (kit::button_at_right(theme, "replay/leave", rest, kit::ButtonKind::kQuiet, "Leave")) {
    commands.push_back(state::StopReplay{});
  }
  draw_speed(theme, rest.take_right(theme.px(108), theme.px(12)), replay, commands);

  const double total = static_cast<double>(replay.end_ns - replay.start_ns) / 1e9;
  const double now = static_cast<double>(replay.now_ns - replay.start_ns) / 1e9;
  const std::string clock = present::format_elapsed(now) + " / " + present::format_elapsed(total);
  kit::take_text(theme, rest, theme.px(16), kit::Face::kMono, p.text_secondary, clock,
                 kit::Align::kRight);
  float position = replay_position(replay);
  if (kit::slider(theme, "replay/scrubber", rest, position)) {
    commands.push_back(state::SeekReplay{replay_time(replay, position)});
  }
}

}  // namespace shardlens::ui::tune
