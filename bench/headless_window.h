// The program without a screen: controller, session, panels; the renderer alone is missing. One
// thread.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <memory>

#include "app/session/controller.h"
#include "ui/window/main_view.h"

namespace shardlens::bench {

class HeadlessWindow {
 public:
  HeadlessWindow(const std::filesystem::path& run, ImVec2 size)
      : controller_(options_of(run), [] {}) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.DisplaySize = size;
    io.DeltaTime = 1.0f / 60;
  }
  ~HeadlessWindow() { ImGui::DestroyContext(); }
  HeadlessWindow(const HeadlessWindow&) = delete;
  HeadlessWindow& operator=(const HeadlessWindow&) = delete;

  app::session::Controller& controller() { return controller_; }
  ui::window::MainView& view() { return view_; }
  // Of the last frame; null before the first.
  const ui::state::Snapshot* snapshot() const { return snapshot_.get(); }

  void draw() {
    snapshot_ = controller_.snapshot();
    const ImGuiIO& io = ImGui::GetIO();
    if (view_.prepare_fonts(*io.Fonts)) {
      unsigned char* pixels = nullptr;
      int width = 0, height = 0;
      io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    }
    ImGui::NewFrame();
    ui::state::Commands commands;
    view_.draw(*snapshot_, commands);
    ImGui::Render();
    for (const auto& command : commands) controller_.execute(command);
  }

 private:
  static app::session::ControllerOptions options_of(const std::filesystem::path& run) {
    app::session::ControllerOptions options;
    options.runs_dir = run.parent_path();
    options.run = run;
    return options;
  }

  app::session::Controller controller_;
  ui::window::MainView view_;
  std::shared_ptr<const ui::state::Snapshot> snapshot_;
};

}  // namespace shardlens::bench
