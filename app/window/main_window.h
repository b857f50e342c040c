// The window on the screen: sleeps until there is input or something new, then draws. Main thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "app/session/controller.h"
#include "app/window/graphics.h"
#include "app/window/input_queue.h"
#include "ui/window/main_view.h"

namespace shardlens::app::window {

class MainWindow {
 public:
  MainWindow(Graphics& graphics, session::Controller& controller,
             ui::state::ViewPreferences preferences);
  ~MainWindow();
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  // Waits for events when nothing moves, draws when something does.
  void turn();
  void go_to(const ui::state::ViewAddress& address) { view_.go_to(address); }
  void open_lesson(int lesson, int page) { view_.open_lesson(lesson, page); }
  // Sees every frame, for tests.
  void watch_with(ui::kit::DrawProbe* probe) { view_.set_probe(probe); }
  const ui::state::ViewPreferences& preferences() const { return view_.preferences(); }
  std::uint64_t frames_drawn() const { return frames_drawn_; }
  // The snapshot that the last frame showed.
  const std::shared_ptr<const ui::state::Snapshot>& shown() const { return shown_; }

 private:
  using Clock = std::chrono::steady_clock;

  void ask_to_close();
  void watch_input();
  void queue_input();
  void wait_for_news();
  bool minimized() const;
  void draw(const ui::state::Snapshot& snapshot);
  void carry_out(const ui::state::Commands& commands);
  void save_picture(const ui::state::SavePicture& wanted);
  void name_window(const ui::state::Snapshot& snapshot);
  void note_input();

  Graphics& graphics_;
  session::Controller& controller_;
  ui::window::MainView view_;
  InputQueue input_;
  std::shared_ptr<const ui::state::Snapshot> shown_;
  std::string title_;
  int frames_wanted_ = 3;
  Clock::time_point last_input_ = Clock::now();
  std::uint64_t frames_drawn_ = 0;
  bool has_renderer_ = false;
};

}  // namespace shardlens::app::window
