// The menu of a run of the ledger, or of several: what can be done with them, and the user's words
// about them. Interface thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

class RunMenu {
 public:
  // At the mouse, from the next draw() on.
  void open(std::vector<LedgerRow> runs);
  void draw(const Theme& theme, Commands& commands);

 private:
  void draw_entries(const Theme& theme, Commands& commands);
  void draw_words(const Theme& theme);
  void send_words(Commands& commands);
  bool may_change() const;

  std::vector<LedgerRow> runs_;
  std::string name_, note_, tags_;  // as they are being edited
  bool wants_open_ = false, is_open_ = false;
};

// Which of two runs is compared with which: the newer one is shown against the older one.
void compare_two(const std::vector<LedgerRow>& runs, Commands& commands);
void delete_runs(const std::vector<LedgerRow>& runs, Commands& commands);
bool may_be_deleted(const LedgerRow& row);

}  // namespace shardlens::ui
