#include "tests/ui/inspect/testing/timeline_test.h"

#include <memory>

namespace shardlens::ui::inspect {

void TimelineTest::show(std::int64_t start_ns, std::int64_t end_ns) {
  state().window.show(start_ns, end_ns);
  inspect_.settle();
}

void TimelineTest::show_steps(int first, int last) {
  show(run().step_start(0, first), run().step_end(0, last));
  inspect_.take_commands();
}

void TimelineTest::replay_until(std::int64_t now_ns) {
  inspect_.snapshot().replay.active = true;
  inspect_.snapshot().replay.now_ns = now_ns;
  inspect_.settle();
}

void TimelineTest::publish(const trace::timeline::EventDetails& details, bool reveal) {
  state::InspectView& view = inspect_.change();
  view.details = std::make_shared<trace::timeline::EventDetails>(details);
  if (reveal) {
    view.reveal = details.place;
    ++view.reveal_number;
  }
  inspect_.settle();
}

void TimelineTest::publish(const trace::timeline::EventPlace& place, bool reveal) {
  trace::timeline::EventDetails details;
  details.place = place;
  details.title = "picked elsewhere";
  publish(details, reveal);
}

void TimelineTest::press(kit::Key key) {
  window().press(snapshot(), key);
  inspect_.settle();
}

void TimelineTest::drag(float x0, float y0, float x1, float y1) {
  window().move_to(snapshot(), x0, y0);
  ImGui::GetIO().MouseDown[0] = true;
  window().frame(snapshot());
  window().move_to(snapshot(), (x0 + x1) / 2, (y0 + y1) / 2);
  window().move_to(snapshot(), x1, y1);
  ImGui::GetIO().MouseDown[0] = false;
  window().frames(snapshot(), 2);
}

float TimelineTest::x_of(std::int64_t time_ns) {
  return plot().x + static_cast<float>(state().window.position(time_ns)) * plot().w;
}

std::int64_t TimelineTest::time_at(float x) {
  return state().window.time_at(static_cast<double>(x - plot().x) / static_cast<double>(plot().w));
}

float TimelineTest::y_of(int row) {
  const ShownRow* shown = layout().find(row);
  return plot().y + shown->y - state().scroll + shown->level_height / 2;
}

int TimelineTest::row_of(int rank, std::string_view label) const {
  for (const auto& row : run().rows().rows) {
    if (row.rank == rank && row.label.starts_with(label)) return row.id;
  }
  return -1;
}

trace::timeline::EventPlace TimelineTest::place_of(int row, int step, std::size_t index) const {
  const SampleEvent event = run().events(row, step)[index];
  return {event.ref, event.start_ns, event.end_ns, row};
}

}  // namespace shardlens::ui::inspect
