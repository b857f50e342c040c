#include "ui/plan/plan_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/shape/model_shape.h"
#include "trace/predict/plan/gpu_table.h"
#include "ui/kit/widgets.h"
#include "ui/present/tables/plan_table.h"

namespace shardlens::ui::plan {

namespace {

constexpr std::array<std::string_view, 5> kGpusPerNode{"1", "2", "4", "8", "16"};
constexpr std::array<std::string_view, 8> kNodeCounts{"1", "2", "4", "8", "16", "32", "64", "128"};

std::vector<std::string_view> plannable_models() {
  std::vector<std::string_view> names;
  for (const auto& shape : trace::job::model_presets()) names.push_back(shape.name);
  for (const auto& shape : trace::job::planning_presets()) names.push_back(shape.name);
  return names;
}

std::vector<std::string_view> plannable_gpus() {
  std::vector<std::string_view> names;
  for (const auto& gpu : trace::predict::gpu_models()) names.push_back(gpu.name);
  return names;
}

struct PlanField {
  std::string_view label, name;
  std::string value;
  std::span<const std::string_view> choices;
  bool open = false;  // other values can be typed
};

// As wide as its longest choice, so that nothing moves when another one is picked.
float field_width(const kit::Theme& theme, const PlanField& field) {
  float widest = kit::text_width(theme, kit::Face::kMono, field.value);
  for (const auto choice : field.choices) {
    widest = std::max(widest, kit::text_width(theme, kit::Face::kMono, choice));
  }
  return std::ceil(widest) + theme.px(32);
}

void draw_field(const kit::Theme& theme, state::Rect& row, const PlanField& field,
                state::Commands& commands) {
  const float label_width = kit::text_width(theme, kit::Face::kSmall, field.label);
  const state::Rect label = row.take_left(label_width, theme.px(6));
  kit::text_in(theme, label, kit::Face::kSmall, theme.colors().text_secondary, field.label);
  const state::Rect box = row.take_left(field_width(theme, field), theme.px(16));
  std::string value = field.value;
  if (kit::choice_field(theme, "plan/" + std::string(field.name),
                        box.inset(0, (box.h - theme.px(26)) / 2), value, field.choices,
                        field.open)) {
    commands.push_back(state::SetPlanTarget{std::string(field.name), value});
  }
}

}  // namespace

void draw_plan_fields(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::PlanCard& card = *snapshot.plan;
  const auto models = plannable_models();
  const auto gpus = plannable_gpus();
  const PlanField fields[] = {
      {"Model", "model", card.target.model.empty() ? snapshot.knobs.next.model : card.target.model,
       models},
      {"GPU", "gpu", card.target.gpu, gpus},
      {"GPUs per node", "gpus_per_node", std::to_string(card.target.gpus_per_node), kGpusPerNode,
       true},
      {"Nodes", "nodes", std::to_string(card.target.nodes), kNodeCounts, true},
  };
  state::Rect row = rect;
  for (const PlanField& field : fields) draw_field(theme, row, field, commands);
  if (snapshot.notice_is_error) {
    kit::text_in(theme, row, kit::Face::kSmall, p.danger, snapshot.notice);
    kit::explain(theme, row, "Not taken over", snapshot.notice);
  } else if (card.plan) {
    const auto gpu = trace::predict::find_gpu(card.target.gpu);
    kit::label_in(theme, row, kit::Face::kSmall, p.text_muted,
                  present::plan_device_text(*card.plan, gpu ? gpu->title : card.target.gpu),
                  kit::Align::kRight);
  }
}

}  // namespace shardlens::ui::plan
