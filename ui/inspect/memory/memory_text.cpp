#include "ui/inspect/memory/memory_text.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "trace/base/number_text.h"
#include "trace/job/settings/grammars.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"
#include "ui/present/table_model.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

using present::TableCell;
using trace::timeline::StepAllocation;
using trace::timeline::StepMemory;

constexpr std::size_t kMostNamedSteps = 6;

std::string place_text(const trace::timeline::StepMemory& memory, std::int64_t time_ns) {
  std::string text =
      present::length_text(time_ns - memory.allocations->start_ns) + " into the step";
  for (const auto& phase : memory.phases) {
    if (time_ns < phase.start_ns || time_ns >= phase.end_ns) continue;
    return text + ", in " + std::string(trace::base::to_string(phase.phase));
  }
  return text;
}

std::string steps_text(const std::vector<std::int64_t>& steps) {
  std::string text = steps.size() == 1 ? "step " : "steps ";
  for (std::size_t i = 0; i < std::min(steps.size(), kMostNamedSteps); ++i) {
    text += (i > 0 ? ", " : "") + present::format_integer(steps[i]);
  }
  if (steps.size() > kMostNamedSteps) {
    text += " and " +
            present::format_integer(static_cast<std::int64_t>(steps.size() - kMostNamedSteps)) +
            " more";
  }
  return text;
}

std::int64_t nearest(const std::vector<std::int64_t>& steps, std::int64_t step) {
  const auto closest = std::ranges::min_element(
      steps, {}, [step](std::int64_t each) { return std::abs(each - step); });
  return closest == steps.end() ? -1 : *closest;
}

std::string why_none(const RecordedRun& run) {
  const auto record = trace::job::parse_record_schedule(run.record);
  if (record && record->is_empty()) {
    return "The run's record was \"" + run.record +
           "\", and then no allocations are recorded either";
  }
  constexpr std::int64_t kWarmUp = 4;
  const std::int64_t after = std::max<std::int64_t>(run.first_step, 0) + kWarmUp;
  const bool can_have_it = run.is_live || run.first_step < 0 || after <= run.last_step;
  const std::string step = std::to_string(can_have_it ? after : run.last_step);
  std::string text = "The run's record_allocations was \"" + run.record_allocations + "\"";
  if (run.first_step >= 0) {
    text += ", its steps " + std::to_string(run.first_step) + " to " +
            std::to_string(run.last_step) + (run.is_live ? " so far" : "");
  }
  if (run.record_allocations == "step " + step) {
    return text + (run.is_live ? "" : ". Its log may tell why there is no record of this one");
  }
  return text + ". Set it to \"step " + step + "\", say, for the next run: one step costs little";
}

TableCell lived_cell(const StepAllocation& one) {
  if (one.is_constant()) return TableCell::words("always", state::Tone::kSecondary);
  return TableCell::figure(
      present::format_duration(static_cast<double>(one.end_ns - one.start_ns)));
}

}  // namespace

std::string allocation_title(const trace::timeline::StepMemory& memory,
                             const trace::timeline::StepAllocation& allocation) {
  const auto& names = memory.allocations->names;
  if (allocation.name != 0 && allocation.name < names.size()) return names[allocation.name];
  return std::string(present::memory_name(allocation.category));
}

std::string allocated_text(const trace::timeline::StepMemory& memory,
                           const trace::timeline::StepAllocation& allocation) {
  if (allocation.is_older) return "before the step began";
  return place_text(memory, allocation.start_ns);
}

std::string freed_text(const trace::timeline::StepMemory& memory,
                       const trace::timeline::StepAllocation& allocation) {
  if (allocation.outlives) return "not in this step";
  const std::string place = place_text(memory, allocation.end_ns);
  if (allocation.is_older) return place;
  return place + ", after " + present::length_text(allocation.end_ns - allocation.start_ns);
}

std::string small_text(std::int64_t count, std::int64_t bytes) {
  return present::format_integer(count) + (count == 1 ? " smaller one, " : " smaller ones, ") +
         present::bytes_text(bytes);
}

std::string memory_summary(const trace::timeline::StepMemory& memory) {
  if (!memory.allocations) return "";
  return "Step's peak of tensors " + present::bytes_text(memory.peak.bytes) + ", " +
         place_text(memory, memory.peak.time_ns) + " · " +
         trace::base::counted(memory.allocations->all.size(), "allocation");
}

std::string peak_sources(const trace::timeline::StepMemory& memory) {
  std::string text;
  if (memory.counted_peak_bytes >= 0) {
    text = memory.counted_peak_bytes == memory.peak.bytes
               ? "The bytes counted while the step ran have the same peak. "
               : "While the step ran, a peak of " + present::bytes_text(memory.counted_peak_bytes) +
                     " was counted: allocations were lost, or belong to no step. ";
  }
  const std::int64_t unused = memory.reserved_bytes - memory.peak.bytes;
  if (memory.reserved_bytes >= 0 && unused > 0) {
    text += "The caching allocator held " + present::bytes_text(memory.reserved_bytes) + " then, " +
            present::bytes_text(unused) +
            " of it unused: rounded up, cached, or between allocations. ";
  }
  return text + "An allocation counts from the request until its memory can be given out again";
}

NoMemoryRecord no_memory_record(const trace::timeline::StepMemory& memory,
                                const std::optional<RecordedRun>& run) {
  NoMemoryRecord none;
  if (memory.is_to_come) {
    none.title = memory.step < 0 ? "No step's single allocations so far"
                                 : "No single allocations of step " +
                                       present::format_integer(memory.step) + " so far";
    none.body = "They are shown once the replay has come to the end of the step";
    return none;
  }
  const auto of_rank =
      std::ranges::find(memory.recorded, memory.rank, &trace::timeline::StepMemory::Recorded::rank);
  const bool has_any = of_rank != memory.recorded.end() && !of_rank->steps.empty();
  if (!has_any) {
    none.title = memory.rank < 0 ? "No step's single allocations were recorded"
                                 : "No step's single allocations were recorded on rank " +
                                       std::to_string(memory.rank);
    none.body =
        !run ? "They come with runs of this program's own trainer. Of a trace of PyTorch's "
               "profiler, [memory] events (profile_memory=True) are single moments: they are "
               "in the table allocation of the tab SQL, and make no picture here"
             : why_none(*run);
    return none;
  }
  none.nearest_step = nearest(of_rank->steps, memory.step);
  none.title =
      "The allocations of step " + present::format_integer(memory.step) + " were not recorded";
  none.body = "Rank " + std::to_string(memory.rank) + " has those of " +
              steps_text(of_rank->steps) + ". record_allocations: \"step " +
              std::to_string(memory.step) + "\" records this one in the next run";
  return none;
}

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
      present::column_head("Size", "bytes", "As it was requested", 82, 5),
      [of](std::uint32_t place) { return of(place).bytes; }, present::format_bytes);
  columns.add_words(
      present::column_head("For", "category", "What it is for", 110, 2),
      [of](std::uint32_t place) { return std::string(present::memory_name(of(place).category)); },
      state::Tone::kSecondary);
  columns.add(
      present::column_head("Lived", "lived_ns",
                           "Within the step, from its allocation until it was freed, if it was", 86,
                           3),
      [of](std::uint32_t place) { return lived_cell(of(place)); },
      [of](std::uint32_t place) { return of(place).end_ns - of(place).start_ns; });
  return table;
}

}  // namespace shardlens::ui::inspect
