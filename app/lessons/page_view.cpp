#include "app/lessons/page_view.h"

#include <string>
#include <utility>
#include <vector>

#include "app/lessons/styled_text.h"
#include "trace/base/text.h"
#include "trace/base/words/quantity.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_preferences.h"

namespace shardlens::app::lessons {

using trace::base::Result;

namespace {

constexpr std::string_view kReplay = "replay ";

// What follows the program's name; "": the line calls another one.
std::string_view arguments_of(std::string_view line) {
  line = trace::base::trimmed(line);
  for (const std::string_view program : {"./run ", "shardlens "}) {
    if (line.starts_with(program)) return trace::base::trimmed(line.substr(program.size()));
  }
  return {};
}

bool names_view(std::string_view arguments) {
  return arguments.starts_with("--view ") || arguments.starts_with("--view=");
}

// As a shell takes them apart, but for its escapes.
std::vector<std::string> words_of(std::string_view arguments) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_new = true;
  for (const char c : arguments) {
    const bool is_quote = quote != 0 ? c == quote : c == '\'' || c == '"';
    if (is_quote) quote = quote != 0 ? '\0' : c;
    const bool ends = quote == 0 && (c == ' ' || c == '\t');
    if (!ends && is_new) words.emplace_back();
    if (!ends && !is_quote) words.back() += c;
    is_new = ends;
  }
  return words;
}

struct Replay {
  std::string run, speed;
};

Replay replay_in(std::string_view arguments) {
  constexpr std::string_view kSpeed = "--speed";
  Replay replay;
  const auto words = words_of(arguments);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with(std::string(kSpeed) + "=")) {
      replay.speed = words[i].substr(kSpeed.size() + 1);
    } else if (words[i] == kSpeed && i + 1 < words.size()) {
      replay.speed = words[++i];
    } else {
      replay.run = words[i];
    }
  }
  return replay;
}

Result<double> speed_of(std::string_view arguments, const PageView& page, int line) {
  using ui::state::kFastestReplay;
  using ui::state::kSlowestReplay;
  const Replay replay = replay_in(arguments);
  if (page.address.workspace == ui::state::kCompareWorkspace) {
    return wrong_at(line,
                    "runs beside each other are not played: show one of them in tune/ or "
                    "inspect/, or leave `replay` out");
  }
  if (replay.run != page.address.run) {
    return wrong_at(line, "the page shows " + trace::base::shortened(page.address.run) +
                              ", and plays " + trace::base::shortened(replay.run) +
                              ": name the same run in both lines");
  }
  const auto speed = trace::base::number_from<double>(replay.speed);
  if (!speed || *speed < kSlowestReplay || *speed > kFastestReplay) {
    return wrong_at(line, "\"" + trace::base::shortened(replay.speed) +
                              "\" is no speed of a replay: write --speed and a number from " +
                              trace::base::format_plain(kSlowestReplay) + " to " +
                              trace::base::format_plain(kFastestReplay));
  }
  return *speed;
}

}  // namespace

Result<std::optional<PageView>> view_in(std::string_view code, int first_line) {
  std::optional<PageView> page;
  std::string_view replay, other;
  int replay_line = 0, other_line = 0;
  int line = first_line;
  for (const std::string_view text : trace::base::split(code, '\n')) {
    const std::string_view arguments = arguments_of(text);
    if (names_view(arguments)) {
      if (page) return wrong_at(line, "a page shows one view: begin another page with ##");
      auto address = ui::state::parse_address(trace::base::trimmed(text));
      if (!address) return wrong_at(line, address.error().message);
      page = PageView{std::move(*address)};
    } else if (arguments.starts_with(kReplay) && replay.empty()) {
      replay = arguments;
      replay_line = line;
    } else if (!trace::base::trimmed(text).empty() && other_line == 0) {
      other = text;
      other_line = line;
    }
    ++line;
  }
  if (!page) return page;
  if (other_line > 0) {
    return wrong_at(other_line, "beside a view stands only `./run replay RUN --speed X`: give \"" +
                                    trace::base::shortened(trace::base::trimmed(other), 40) +
                                    "\" a block of its own");
  }
  if (replay_line > 0) {
    TRY_ASSIGN(page->replay_speed, speed_of(replay, *page, replay_line));
  }
  return page;
}

}  // namespace shardlens::app::lessons
