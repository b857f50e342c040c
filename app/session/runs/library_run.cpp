#include "app/session/runs/library_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/analysis/steps/host_clocks.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/kept_values.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::analysis::HostClocks;
using trace::analysis::RunFigures;
using trace::store::KeptReader;
using trace::store::KeptWriter;

trace::analysis::NoiseRun noise_run(const LibraryRun& record) {
  return {{&record.info, record.hosts, record.devices}, &record.noise};
}

std::vector<trace::analysis::NoiseRun> noise_runs(const std::vector<LibraryRun>& records) {
  std::vector<trace::analysis::NoiseRun> runs;
  for (const LibraryRun& record : records) runs.push_back(noise_run(record));
  return runs;
}

LibraryRun record_from_figures(const trace::analysis::RunFigures& figures) {
  LibraryRun record;
  record.info = figures.info;
  record.summary = figures.summary;
  record.liveness = liveness_of(figures);
  record.is_padded = trace::analysis::padded_width(figures).has_value();
  record.noise = trace::analysis::noise_of(figures);
  auto machine = trace::analysis::machine_of(figures.ranks);
  record.hosts = std::move(machine.hosts);
  record.devices = std::move(machine.devices);
  for (const auto& rank : figures.ranks) {
    record.peak_memory_bytes =
        std::max(record.peak_memory_bytes, static_cast<double>(rank.peak.allocated_bytes()));
    record.peak_total_bytes =
        std::max(record.peak_total_bytes, static_cast<double>(rank.peak.total_bytes()));
  }
  for (const auto& step : figures.steps) {
    // With `loss_every` most steps' losses are not known.
    const bool was_read = !std::isnan(step.loss) || step.nonfinite;
    if (step.complete && was_read) record.losses.push_back({step.index, step.loss});
  }
  return record;
}

trace::base::Result<trace::analysis::RunAnalysis> analyse_run(trace::store::RunReader& reader,
                                                              trace::model::RunInfo info) {
  trace::analysis::RunAnalysis analysis(info);
  TRY_ASSIGN(auto problems,
             trace::store::read_everything(
                 reader, [&](const trace::model::Batch& batch) { analysis.add(batch); }));
  analysis.set_info(trace::store::without_unreadable(std::move(info), std::move(problems),
                                                     reader.readable_ranks()));
  return analysis;
}

trace::base::Result<trace::analysis::RunFigures> read_run_figures(const fs::path& run) {
  const auto stamp = trace::store::run_stamp(run);
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(auto info, reader->info());
  info.folder = run.string();
  if (auto kept = kept_figures(run, stamp)) {
    kept->info = std::move(info);
    return std::move(*kept);
  }
  TRY_ASSIGN(const auto analysis, analyse_run(*reader, std::move(info)));
  auto figures = analysis.figures();
  if (trace::store::is_settled(run, stamp)) keep_figures(run, stamp, figures);
  return figures;
}

trace::base::Result<LibraryRun> read_library_run(const fs::path& run) {
  TRY_ASSIGN(const auto figures, read_run_figures(run));
  return record_from_figures(figures);
}

namespace {

// Takes the structs apart, here and below, so that a new member does not compile until it is kept.
template <typename Cache, typename Step>
void each_value_of_step(Cache& cache, Step& figures) {
  auto& [index, warmup, complete, start_ns, end_ns, slowest_rank, ranks, loss, gradient_norm,
         nonfinite, nonfinite_rank, learning_rate, tokens, samples, model_flops, throttling,
         exposed_wait_ns, wait_error_ns] = figures;
  each_value(cache, index, warmup, complete, start_ns, end_ns, slowest_rank, ranks, loss,
             gradient_norm, nonfinite, nonfinite_rank, learning_rate, tokens, samples, model_flops,
             throttling, exposed_wait_ns, wait_error_ns);
}

template <typename Cache, typename Info>
void each_value_of_rank_info(Cache& cache, Info& info) {
  auto& [rank, local_rank, host, process_id, device, device_name, sources, versions, peak_flops,
         parameters, link, link_bytes_per_second, peak_flops_origin, environment,
         trained_parameters, model] = info;
  each_value(cache, rank, local_rank, host, process_id, device, device_name, sources, versions,
             peak_flops, parameters, link, link_bytes_per_second, peak_flops_origin, environment,
             trained_parameters, model);
}

template <typename Cache, typename Rank>
void each_value_of_rank(Cache& cache, Rank& figures) {
  auto& [info, step_ns, exposed_ns, exposed_wait_ns, wait_doubt, now, peak, category_peaks,
         has_step_memory, estimate, estimate_peaks, totals, heartbeat, cost, pending,
         last_completed, recent_completed] = figures;
  each_value_of_rank_info(cache, info);
  each_value(cache, step_ns, exposed_ns, exposed_wait_ns, wait_doubt, now, peak, category_peaks,
             has_step_memory, estimate, estimate_peaks, totals, heartbeat, cost, pending,
             last_completed, recent_completed);
}

template <typename Cache, typename Group>
void each_value_of_collectives(Cache& cache, Group& figures) {
  auto& [function, executed, tag, bytes, count, matched, median_ns, wait_ns, transfer_ns, algbw,
         busbw, algorithm, protocol, exposed_ns] = figures;
  each_value(cache, function, executed, tag, bytes, count, matched, median_ns, wait_ns, transfer_ns,
             algbw, busbw, algorithm, protocol, exposed_ns);
}

template <typename Cache, typename Recorder>
void each_value_of_recorder(Cache& cache, Recorder& figures) {
  // How large the files are is asked anew.
  auto& [overhead, overhead_is_measured, overhead_is_least, events, lost, lacks_end, losses,
         bytes_on_disk] = figures;
  each_value(cache, overhead, overhead_is_measured, overhead_is_least, events, lost, lacks_end);
  cache.list(losses, [&](auto& loss) {
    auto& [rank, reason, count] = loss;
    each_value(cache, rank, reason, count);
  });
}

// All but the clocks.
template <typename Cache, typename Figures>
void each_value_of_run(Cache& cache, Figures& figures) {
  auto& [info, summary, ranks, steps, collectives, buckets, units, evaluations, recorder,
         process_groups, clocks, ignored_rows] = figures;
  each_value(cache, summary, evaluations, ignored_rows);
  cache.list(ranks, [&](auto& rank) { each_value_of_rank(cache, rank); });
  cache.list(steps, [&](auto& step) { each_value_of_step(cache, step); });
  cache.list(collectives, [&](auto& group) { each_value_of_collectives(cache, group); });
  cache.list(buckets, [&](auto& bucket) {
    auto& [index, bytes, parameters, parameter_bytes, oversize_reason] = bucket;
    each_value(cache, index, bytes, parameters, parameter_bytes, oversize_reason);
  });
  cache.list(units, [&](auto& unit) {
    auto& [index, name, bytes, shard_bytes, reduced_bytes, shard_count, data_type, parameters,
           parameter_bytes] = unit;
    each_value(cache, index, name, bytes, shard_bytes, reduced_bytes, shard_count, data_type,
               parameters, parameter_bytes);
  });
  each_value_of_recorder(cache, recorder);
  cache.list(process_groups, [&](auto& group) {
    auto& [id, name, backend, ranks_of_group] = group;
    each_value(cache, id, name, backend, ranks_of_group);
  });
}

// Such as the program does not check when it looks at them.
bool is_sensible(const RunFigures& figures) {
  const auto has_its_slowest = [](const trace::analysis::StepFigures& step) {
    return step.ranks.empty() ||
           (step.slowest_rank >= 0 && step.slowest_rank < std::ssize(step.ranks));
  };
  return std::ranges::all_of(figures.steps, has_its_slowest) &&
         std::ranges::is_sorted(figures.steps, {}, &trace::analysis::StepFigures::index) &&
         (!figures.clocks || figures.clocks->is_sound());
}

}  // namespace

std::optional<RunFigures> kept_figures(const std::filesystem::path& run,
                                       const trace::store::RunStamp& stamp) {
  const auto bytes = trace::store::read_kept(run, kFiguresCacheFile, stamp);
  if (!bytes) return std::nullopt;
  RunFigures figures;
  KeptReader reader(*bytes);
  each_value_of_run(reader, figures);
  bool has_clocks = false;
  reader.value(has_clocks);
  if (has_clocks) {
    auto clocks = std::make_shared<HostClocks>();
    HostClocks::each_value_of_clocks(reader, *clocks);
    figures.clocks = std::move(clocks);
  }
  if (!reader.has_all() || !is_sensible(figures)) return std::nullopt;
  return figures;
}

void keep_figures(const std::filesystem::path& run, const trace::store::RunStamp& stamp,
                  const RunFigures& figures) {
  const bool has_ended = figures.info.status != trace::model::RunStatus::kRunning;
  if (!has_ended || !figures.info.unreadable.empty()) return;
  KeptWriter writer;
  each_value_of_run(writer, figures);
  const bool has_clocks = figures.clocks != nullptr;
  writer.value(has_clocks);
  if (has_clocks) HostClocks::each_value_of_clocks(writer, *figures.clocks);
  trace::store::keep(run, kFiguresCacheFile, stamp, writer.bytes());
}

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
  auto& [info, summary, peak, peak_total, is_padded, noise, hosts, devices, losses, liveness,
         is_bundled, number] = record;
  each_value_of_info(cache, info);
  each_value(cache, summary, peak, peak_total, is_padded, noise, hosts, devices, losses);
  auto& [status, start_ns, alive_ns, world_size, processes] = liveness;
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
