#include "ui/inspect/memory/memory_table.h"

#include <string>

#include "ui/inspect/memory/memory_text.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::StepAllocation;
using trace::timeline::StepMemory;

const StepAllocation& allocation_of(const StepMemory& memory, std::size_t row) {
  return memory.allocations->all[memory.peak.alive[row]];
}

present::TableColumn what_column(const StepMemory* memory) {
  present::TableColumn column{
      .title = "Allocated by",
      .csv_title = "operator",
      .definition =
          "The innermost operator that asked for the memory, in the colour of what "
          "it is for; what it is for where there was none",
      .kind = present::TableColumn::Kind::kCode,
      .width = 150,
      .wish = 240,
      .priority = 4};
  column.cell = [memory](std::size_t row) {
    const StepAllocation& one = allocation_of(*memory, row);
    return present::TableCell{.text = allocation_title(*memory, one), .memory_mark = one.category};
  };
  return column;
}

present::TableColumn size_column(const StepMemory* memory) {
  present::TableColumn column{.title = "Size",
                              .csv_title = "bytes",
                              .definition = "As it was requested",
                              .width = 82,
                              .priority = 5};
  column.number = [memory](std::size_t row) {
    return static_cast<double>(allocation_of(*memory, row).bytes);
  };
  column.show_numbers(present::format_bytes);
  return column;
}

present::TableColumn category_column(const StepMemory* memory) {
  present::TableColumn column{.title = "For",
                              .csv_title = "category",
                              .definition = "What it is for",
                              .kind = present::TableColumn::Kind::kText,
                              .width = 110,
                              .priority = 2};
  column.cell = [memory](std::size_t row) {
    return present::TableCell::words(
        std::string(present::memory_name(allocation_of(*memory, row).category)),
        state::Tone::kSecondary);
  };
  return column;
}

present::TableColumn life_column(const StepMemory* memory) {
  present::TableColumn column{
      .title = "Lived",
      .csv_title = "lived_ns",
      .definition = "Within the step, from its allocation until it was freed, if it was",
      .width = 86,
      .priority = 3};
  column.number = [memory](std::size_t row) {
    const StepAllocation& one = allocation_of(*memory, row);
    return static_cast<double>(one.end_ns - one.start_ns);
  };
  column.cell = [memory, number = column.number](std::size_t row) {
    return allocation_of(*memory, row).is_constant()
               ? present::TableCell::words("always", state::Tone::kSecondary)
               : present::TableCell::figure(present::format_duration(number(row)));
  };
  return column;
}

}  // namespace

std::shared_ptr<const present::Table> memory_table(
    const std::shared_ptr<const StepMemory>& memory) {
  auto table = std::make_shared<present::Table>();
  table->id = "memory";
  table->rows = memory->peak.alive.size();
  table->data = memory;
  table->columns.push_back(what_column(memory.get()));
  table->columns.push_back(size_column(memory.get()));
  table->columns.push_back(category_column(memory.get()));
  table->columns.push_back(life_column(memory.get()));
  return table;
}

}  // namespace shardlens::ui::inspect
