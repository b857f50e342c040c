#include "ui/inspect/draw/timeline_tooltip.h"

#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui {

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item) {
  const ItemFacts facts = item_facts(scene.rows, scene.borders, item);
  const TooltipScope tip(scene.theme());
  tip.title(facts.title);
  if (!facts.what.empty()) tip.note(facts.what);
  for (const ItemFacts::Row& row : facts.rows) {
    const Rgb swatch =
        time_color(scene.theme().colors(), row.swatch.value_or(trace::TimeClass::kIdle));
    tip.row(row.swatch ? &swatch : nullptr, row.name, row.value);
  }
  for (const std::string& note : facts.notes) tip.note(note);
}

}  // namespace shardlens::ui
