#include "ui/inspect/memory/memory_table.h"

#include <string>
#include <utility>

#include "ui/inspect/memory/memory_text.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"

namespace shardlens::ui {

namespace {

using trace::StepAllocation;
using trace::StepMemory;

TableColumn column_of(std::string title, std::string csv, std::string definition, float width,
                      int priority) {
  TableColumn column;
  column.title = std::move(title);
  column.csv_title = std::move(csv);
  column.definition = std::move(definition);
  column.width = width;
  column.priority = priority;
  return column;
}

const StepAllocation& allocation_of(const StepMemory& memory, std::size_t row) {
  return memory.allocations->all[memory.peak.alive[row]];
}

TableCell figure_cell(const Quantity& quantity) {
  TableCell cell;
  cell.text = quantity.value;
  cell.unit = quantity.unit;
  return cell;
}

TableColumn what_column(const StepMemory* memory) {
  TableColumn column = column_of("Allocated by", "operator",
                                 "The innermost operator that asked for the memory, in the colour "
                                 "of what it is for; what it is for where there was none",
                                 150, 4);
  column.kind = TableColumn::Kind::kCode;
  column.wish = 240;
  column.cell = [memory](std::size_t row) {
    const StepAllocation& one = allocation_of(*memory, row);
    TableCell cell;
    cell.text = allocation_title(*memory, one);
    cell.memory_mark = one.category;
    return cell;
  };
  return column;
}

TableColumn size_column(const StepMemory* memory) {
  TableColumn column = column_of("Size", "bytes", "As it was requested", 82, 5);
  column.number = [memory](std::size_t row) {
    return static_cast<double>(allocation_of(*memory, row).bytes);
  };
  column.cell = [number = column.number](std::size_t row) {
    return figure_cell(format_bytes(number(row)));
  };
  return column;
}

TableColumn category_column(const StepMemory* memory) {
  TableColumn column = column_of("For", "category", "What it is for", 110, 2);
  column.kind = TableColumn::Kind::kText;
  column.cell = [memory](std::size_t row) {
    TableCell cell;
    cell.text = memory_name(allocation_of(*memory, row).category);
    cell.tone = Tone::kSecondary;
    return cell;
  };
  return column;
}

TableColumn life_column(const StepMemory* memory) {
  TableColumn column =
      column_of("Lived", "lived_ns",
                "Within the step, from its allocation until it was freed, if it was", 86, 3);
  column.number = [memory](std::size_t row) {
    const StepAllocation& one = allocation_of(*memory, row);
    return static_cast<double>(one.end_ns - one.start_ns);
  };
  column.cell = [memory, number = column.number](std::size_t row) {
    if (!allocation_of(*memory, row).is_constant())
      return figure_cell(format_duration(number(row)));
    TableCell cell;
    cell.text = "always";
    cell.tone = Tone::kSecondary;
    return cell;
  };
  return column;
}

}  // namespace

std::shared_ptr<const Table> memory_table(const std::shared_ptr<const StepMemory>& memory) {
  auto table = std::make_shared<Table>();
  table->id = "memory";
  table->rows = memory->peak.alive.size();
  table->data = memory;
  table->columns.push_back(what_column(memory.get()));
  table->columns.push_back(size_column(memory.get()));
  table->columns.push_back(category_column(memory.get()));
  table->columns.push_back(life_column(memory.get()));
  return table;
}

}  // namespace shardlens::ui
