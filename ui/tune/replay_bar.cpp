#include "ui/tune/replay_bar.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

constexpr std::array<double, 9> kSpeeds{0.25, 0.5, 1, 2, 5, 10, 25, 50, 100};

void draw_speed(const Theme& theme, Rect box, const ReplayState& replay, Commands& commands) {
  const Palette& p = theme.colors();
  const Rect less = box.take_left(theme.px(24)), more = box.take_right(theme.px(24));
  const Hit down = hit_area(theme, "replay/slower", less),
            up = hit_area(theme, "replay/faster", more);
  for (const auto& [hit, area, sign] : {std::tuple{down, less, "−"}, std::tuple{up, more, "+"}}) {
    if (hit.hovered) fill(area, color(p.hover), theme.px(5));
    text_in(theme, area, Face::kStrong, hit.hovered ? p.text : p.text_secondary, sign,
            Align::kCenter);
  }
  if (down.clicked) commands.push_back(SetReplaySpeed{slower(replay.speed)});
  if (up.clicked) commands.push_back(SetReplaySpeed{faster(replay.speed)});
  text_in(theme, box, Face::kMono, p.text, format_plain(replay.speed) + " ×", Align::kCenter);
  explain(theme, box, "Speed", "Recorded time per time on the wall, 0.25 to 100 ×");
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

float replay_position(const ReplayState& replay) {
  if (replay.end_ns <= replay.start_ns) return 0;
  const double done = static_cast<double>(replay.now_ns - replay.start_ns);
  return std::clamp(static_cast<float>(done / static_cast<double>(replay.end_ns - replay.start_ns)),
                    0.0f, 1.0f);
}

std::int64_t replay_time(const ReplayState& replay, float position) {
  const double span = static_cast<double>(replay.end_ns - replay.start_ns);
  return replay.start_ns +
         static_cast<std::int64_t>(span * std::clamp(static_cast<double>(position), 0.0, 1.0));
}

void draw_replay_bar(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                     Commands& commands) {
  const Palette& p = theme.colors();
  const ReplayState& replay = snapshot.replay;
  fill(rect, color(p.panel), theme.px(6));
  outline(rect, color(p.panel_edge), theme.px(6));
  Rect rest = rect.inset(theme.px(12), theme.px(6));
  const Rect play = rest.take_left(theme.px(32), theme.px(4));
  if (icon_button(theme, "replay/play", play, replay.playing ? Shape::kPause : Shape::kPlay)) {
    commands.push_back(SetReplayPlaying{!replay.playing});
  }
  const Rect restart = rest.take_left(theme.px(28), theme.px(8));
  if (icon_button(theme, "replay/restart", restart, Shape::kRestart)) {
    commands.push_back(SeekReplay{replay.start_ns});
  }
  text_in(theme, rest.take_left(text_width(theme, Face::kStrong, "Replay"), theme.px(12)),
          Face::kStrong, p.text, "Replay");
  const Rect leave = rest.take_right(button_width(theme, "Leave"), theme.px(8));
  if (button(theme, "replay/leave", leave, ButtonKind::kQuiet, "Leave")) {
    commands.push_back(StopReplay{});
  }
  draw_speed(theme, rest.take_right(theme.px(108), theme.px(12)), replay, commands);

  const double total = static_cast<double>(replay.end_ns - replay.start_ns) / 1e9;
  const double now = static_cast<double>(replay.now_ns - replay.start_ns) / 1e9;
  const std::string clock = format_elapsed(now) + " / " + format_elapsed(total);
  const float width = text_width(theme, Face::kMono, clock);
  text_in(theme, rest.take_right(width, theme.px(16)), Face::kMono, p.text_secondary, clock,
          Align::kRight);
  float position = replay_position(replay);
  if (slider(theme, "replay/scrubber", rest, position)) {
    commands.push_back(SeekReplay{replay_time(replay, position)});
  }
}

}  // namespace shardlens::ui
