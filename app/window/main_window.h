// The window on the screen: sleeps until there is input or something new, then draws. Main thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "app/session/controller.h"
#include "app/window/graphics.h"
#include "app/window/key_taps.h"
#include "ui/window/main_view.h"

namespace shardlens::app {

class MainWindow {
 public:
  MainWindow(Graphics& graphics, Controller& controller, ui::ViewPreferences preferences);
  ~MainWindow();
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  // Waits for events when nothing moves, draws when something does.
  void turn();
  void go_to(const ui::ViewAddress& address) { view_.go_to(address); }
  // Sees every frame, for tests.
  void watch_with(ui::DrawProbe* probe) { view_.set_probe(probe); }
  // The user or the window manager closed it.
  bool closed() const;
  const ui::ViewPreferences& preferences() const { return view_.preferences(); }
  std::uint64_t frames_drawn() const { return frames_drawn_; }
  // The snapshot that the last frame showed.
  const std::shared_ptr<const ui::Snapshot>& shown() const { return shown_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch_input();
  void wait_for_news();
  bool minimized() const;
  void draw(const ui::Snapshot& snapshot);
  void carry_out(const ui::Commands& commands);
  void save_picture(const ui::SavePicture& wanted);
  void name_window(const ui::Snapshot& snapshot);
  void note_input();

  Graphics& graphics_;
  Controller& controller_;
  ui::MainView view_;
  KeyTaps taps_;
  std::shared_ptr<const ui::Snapshot> shown_;
  std::string title_;
  int frames_wanted_ = 3;
  Clock::time_point last_input_ = Clock::now();
  std::uint64_t frames_drawn_ = 0;
  bool has_renderer_ = false;
};

}  // namespace shardlens::app
