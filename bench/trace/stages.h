// What the benchmark of the trace store measures, stage by stage. Each throws std::runtime_error
// with a message for the user. A stage runs in a process of its own, so that what it needs of
// memory is its own, too. Main thread, before any other thread was started.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace shardlens::bench {

using Figures = std::map<std::string, double>;

// Runs `stage` in a forked process and returns what it measured. Throws std::runtime_error with the
// stage's own message where it failed.
Figures run_stage(const std::function<Figures()>& stage);

double resident_mib();  // of this process

// The program without a display: from nothing to a first frame with the whole run in it, until all
// was read, and a scripted journey of zooming and panning.
//   first_frame_s, first_mib, first_figures_s, all_read_s; frame_p50_ms, frame_p99_ms,
//   frame_max_ms: time of the interface thread; picture_p50_ms, picture_p99_ms; resident_mib
Figures measure_window(const std::filesystem::path& run);

// statistics_cold_ms, statistics_warm_ms, search_cold_ms, search_warm_ms
Figures measure_questions(const std::filesystem::path& run);

// Questions to virtual tables and, where `plain` is not empty, to plain rows of the same events.
//   count_s, group_s, like_s; plain_group_s, plain_like_s, plain_statistics_s, plain_search_s
Figures measure_sql(const std::filesystem::path& run, const std::filesystem::path& plain);

// events, file_bytes, kernels, kernel_chunk_bytes
Figures measure_sizes(const std::filesystem::path& run);

// One core writing chunks: events_per_core_s.
Figures measure_writing(const std::filesystem::path& folder);

// 8 recorders of 200,000 events a second each, for a time: lost, early_mib (resident after half of
// the time), late_mib, writer_cpu_s.
Figures measure_soak(const std::filesystem::path& folder, double seconds);

}  // namespace shardlens::bench
