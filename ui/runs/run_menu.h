// The menu of a run of the ledger, or of several: what can be done with them, and the user's words
// about them. Interface thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::runs {

class RunMenu {
 public:
  // At the mouse, or below the run that has the keyboard, from the next draw() on.
  void open(std::vector<state::LedgerRow> runs);
  void draw(const kit::Theme& theme, state::Commands& commands);

 private:
  void draw_title(const kit::Theme& theme) const;
  void draw_entries(const kit::Theme& theme, state::Commands& commands);
  void draw_words(const kit::Theme& theme);
  void send_words(state::Commands& commands);
  bool may_change() const;

  std::vector<state::LedgerRow> runs_;
  std::string name_, note_, tags_;  // as they are being edited
  bool wants_open_ = false, is_open_ = false;
};

// Two to six. The baseline is what the others are compared with, else the oldest of them.
bool may_be_compared(const std::vector<state::LedgerRow>& runs);
void compare_runs(const std::vector<state::LedgerRow>& runs, state::Commands& commands);
void delete_runs(const std::vector<state::LedgerRow>& runs, state::Commands& commands);
bool may_be_deleted(const state::LedgerRow& row);
std::size_t deletable_runs(const std::vector<state::LedgerRow>& runs);  // how many of them

}  // namespace shardlens::ui::runs
