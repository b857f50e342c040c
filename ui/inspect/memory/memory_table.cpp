#include "ui/inspect/memory/memory_table.h"

#include <string>

#include "ui/inspect/memory/memory_text.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

namespace {

using present::TableCell;
using trace::timeline::StepAllocation;
using trace::timeline::StepMemory;

TableCell lived_cell(const StepAllocation& one) {
  if (one.is_constant()) return TableCell::words("always", state::Tone::kSecondary);
  return TableCell::figure(
      present::format_duration(static_cast<double>(one.end_ns - one.start_ns)));
}

}  // namespace

std::shared_ptr<const present::Table> memory_table(
    const std::shared_ptr<const StepMemory>& memory) {
  auto table = std::make_shared<present::Table>();
  table->id = "memory";
  table->data = memory;
  present::RowColumns<std::uint32_t> columns(*table, memory->peak.alive);
  const auto of = [data = memory.get()](std::uint32_t place) -> const StepAllocation& {
    return data->allocations->all[place];
  };
  columns.add(
      {.title = "Allocated by",
       .csv_title = "operator",
       .definition = "The innermost operator that asked for the memory, in the colour of what it "
                     "is for; what it is for where there was none",
       .kind = present::TableColumn::Kind::kCode,
       .width = 150,
       .wish = 240,
       .priority = 4},
      [of, data = memory.get()](std::uint32_t place) {
        return TableCell{.text = allocation_title(*data, of(place)),
                         .memory_mark = of(place).category};
      });
  columns.add_figure(
      {.title = "Size",
       .csv_title = "bytes",
       .definition = "As it was requested",
       .width = 82,
       .priority = 5},
      [of](std::uint32_t place) { return of(place).bytes; }, present::format_bytes);
  columns.add_words(
      {.title = "For",
       .csv_title = "category",
       .definition = "What it is for",
       .width = 110,
       .priority = 2},
      [of](std::uint32_t place) { return std::string(present::memory_name(of(place).category)); },
      state::Tone::kSecondary);
  columns.add(
      {.title = "Lived",
       .csv_title = "lived_ns",
       .definition = "Within the step, from its allocation until it was freed, if it was",
       .width = 86,
       .priority = 3},
      [of](std::uint32_t place) { return lived_cell(of(place)); },
      [of](std::uint32_t place) { return of(place).end_ns - of(place).start_ns; });
  return table;
}

}  // namespace shardlens::ui::inspect
