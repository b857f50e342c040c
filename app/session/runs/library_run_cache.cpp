#include "app/session/runs/library_run_cache.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "trace/store/run/kept_values.h"

namespace shardlens::app::session {

namespace {

// What the run's own file says, so that it is not opened to list it. The names of all members, here
// and below, so that none is forgotten.
template <typename Cache, typename Info>
void each_value_of_info(Cache& cache, Info& info) {
  auto& [name, folder, status, reason, start_ns, end_ns, device, world_size, recorded_ranks,
         machine, job, is_packed, program, imported_from, command, settings, simulated_link,
         shared_gpu, communication_off, note, tags, bookmarks, predicted, unreadable] = info;
  each_value(cache, name, status, reason, start_ns, end_ns, device, world_size, recorded_ranks,
             machine, job, is_packed, program, imported_from, command, simulated_link, shared_gpu,
             communication_off, note, tags, unreadable);
  cache.list(bookmarks, [&](auto& bookmark) {
    auto& [time_ns, place] = bookmark;
    each_value(cache, time_ns, place);
  });
  bool was_predicted = predicted.has_value();
  cache.value(was_predicted);
  if (was_predicted) {
    if constexpr (!std::is_const_v<Info>) predicted.emplace();
    auto& [step_ns, low_ns, high_ns, from] = *predicted;
    each_value(cache, step_ns, low_ns, high_ns, from);
  }
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), trace::job::ChoiceMember>) {
            int place = member.get(settings);
            cache.value(place);
            if constexpr (!std::is_const_v<std::remove_reference_t<decltype(settings)>>) {
              const int last = static_cast<int>(knob.choices.size()) - 1;
              member.set(settings, std::clamp(place, 0, last));
            }
          } else {
            each_value(cache, settings.*member);
          }
        },
        knob.member);
  }
}

// All but what only the library knows: where the run lies, and its number.
template <typename Cache, typename Record>
void each_cached_value(Cache& cache, Record& record) {
  auto& [info, summary, peak, peak_total, is_padded, noise, hosts, devices, losses, pulse,
         is_bundled, number] = record;
  each_value_of_info(cache, info);
  each_value(cache, summary, peak, peak_total, is_padded, noise, hosts, devices, losses);
  auto& [status, start_ns, alive_ns, world_size, processes] = pulse;
  each_value(cache, status, start_ns, alive_ns, world_size);
  cache.list(processes, [&](auto& process) {
    auto& [host, id] = process;
    each_value(cache, host, id);
  });
}

}  // namespace

std::optional<LibraryRun> kept_record(const std::filesystem::path& run,
                                      const trace::store::RunStamp& stamp) {
  const auto bytes = trace::store::read_kept(run, kRecordCacheFile, stamp);
  if (!bytes) return std::nullopt;
  LibraryRun record;
  trace::store::KeptReader reader(*bytes);
  each_cached_value(reader, record);
  if (!reader.has_all()) return std::nullopt;
  record.info.folder = run.string();
  return record;
}

void keep_record(const LibraryRun& record, const trace::store::RunStamp& stamp) {
  trace::store::KeptWriter writer;
  each_cached_value(writer, record);
  trace::store::keep(record.info.folder, kRecordCacheFile, stamp, writer.bytes());
}

}  // namespace shardlens::app::session
