#include "ui/tune/replay_bar.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

constexpr std::array<double, 9> kSpeeds{0.25, 0.5, 1, 2, 5, 10, 25, 50, 100};

void draw_speed(const Look& look, Rect box, const ReplayState& replay, Commands& commands) {
  const Palette& p = look.colors();
  const Rect less = box.take_left(look.px(24)), more = box.take_right(look.px(24));
  const Hit down = hit_area(look, "replay/slower", less),
            up = hit_area(look, "replay/faster", more);
  for (const auto& [hit, area, sign] : {std::tuple{down, less, "−"}, std::tuple{up, more, "+"}}) {
    if (hit.hovered) fill(area, color(p.hover), look.px(5));
    text_in(look, area, Face::kStrong, hit.hovered ? p.text : p.text_secondary, sign,
            Align::kCenter);
  }
  if (down.clicked) commands.push_back(SetReplaySpeed{slower(replay.speed)});
  if (up.clicked) commands.push_back(SetReplaySpeed{faster(replay.speed)});
  text_in(look, box, Face::kMono, p.text, format_plain(replay.speed) + " ×", Align::kCenter);
  explain(look, box, "Speed", "Recorded time per time on the wall, 0.25 to 100 ×");
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

void draw_replay_bar(const Look& look, const Rect& rect, const Snapshot& snapshot,
                     Commands& commands) {
  const Palette& p = look.colors();
  const ReplayState& replay = snapshot.replay;
  fill(rect, color(p.panel), look.px(6));
  outline(rect, color(p.panel_edge), look.px(6));
  Rect rest = rect.inset(look.px(12), look.px(6));
  const Rect play = rest.take_left(look.px(32), look.px(4));
  if (icon_button(look, "replay/play", play, replay.playing ? Shape::kPause : Shape::kPlay)) {
    commands.push_back(SetReplayPlaying{!replay.playing});
  }
  const Rect restart = rest.take_left(look.px(28), look.px(8));
  if (icon_button(look, "replay/restart", restart, Shape::kRestart)) {
    commands.push_back(SeekReplay{replay.start_ns});
  }
  text_in(look, rest.take_left(text_width(look, Face::kStrong, "Replay"), look.px(12)),
          Face::kStrong, p.text, "Replay");
  const Rect leave = rest.take_right(button_width(look, "Leave"), look.px(8));
  if (button(look, "replay/leave", leave, ButtonKind::kQuiet, "Leave")) {
    commands.push_back(StopReplay{});
  }
  draw_speed(look, rest.take_right(look.px(108), look.px(12)), replay, commands);

  const double total = static_cast<double>(replay.end_ns - replay.start_ns) / 1e9;
  const double now = static_cast<double>(replay.now_ns - replay.start_ns) / 1e9;
  const std::string clock = format_elapsed(now) + " / " + format_elapsed(total);
  const float width = text_width(look, Face::kMono, clock);
  text_in(look, rest.take_right(width, look.px(16)), Face::kMono, p.text_secondary, clock,
          Align::kRight);
  float position = replay_position(replay);
  if (slider(look, "replay/scrubber", rest, position)) {
    commands.push_back(SeekReplay{replay_time(replay, position)});
  }
}

}  // namespace shardlens::ui
