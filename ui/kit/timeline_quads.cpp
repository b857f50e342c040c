#include "ui/kit/timeline_quads.h"

namespace shardlens::ui::kit {

void QuadBatch::flush() {
  if (count_ == 0) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int count = static_cast<int>(count_);
  list->PrimReserve(count * 6, count * 4);
  for (std::size_t i = 0; i < count_; ++i) {
    list->PrimRect(quads_[i].low, quads_[i].high, quads_[i].color);
  }
  count_ = 0;
}

}  // namespace shardlens::ui::kit
