#include "app/sweep/sweep_points.h"

#include <algorithm>
#include <utility>

#include "app/launch/job_request.h"
#include "trace/base/text.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::app::sweep {
namespace {

using trace::base::ErrorKind;
using trace::base::Result;
using trace::job::Settings;

constexpr std::size_t kLongestValue = 60;  // of a text, as shown

struct SweepAxis {
  const trace::job::Knob* knob = nullptr;
  std::vector<std::string> values;  // as the knob's own name has them
};

std::vector<std::string> values_in(std::string_view text) {
  std::vector<std::string> values;
  const bool has_parts = text.find('=') != std::string_view::npos;  // "latency_us=50,gbit_per_s=1"
  const bool is_one = has_parts && text.find(';') == std::string_view::npos;
  const char separator = has_parts || text.find(';') != std::string_view::npos ? ';' : ',';
  if (is_one) return {std::string(text)};
  for (const auto part : trace::base::split(text, separator)) {
    const auto value = trace::base::trimmed(part);
    // "a,b;" is one value with a comma.
    if (value.empty() && separator == ';') continue;
    values.emplace_back(value);
  }
  return values;
}

Result<void> add_axis(std::vector<SweepAxis>& axes, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return trace::base::fail(ErrorKind::kUsage, "'" + trace::base::shortened(text) +
                                                    "' is not of the form key=value,value, as in "
                                                    "bucket_cap_mb=1,4,25.");
  }
  const std::string key(trace::base::trimmed(std::string_view(text).substr(0, equals)));
  auto values = values_in(std::string_view(text).substr(equals + 1));
  const trace::job::Knob* knob = trace::job::find_knob(key);
  Settings checked;
  for (auto& value : values) {
    TRY(trace::job::set_value(checked, key, value));
    value = trace::job::value_text(checked, *knob);
  }
  if (knob == nullptr || values.empty()) {
    return trace::base::fail(ErrorKind::kUsage, key + ": no values are given.");
  }
  auto axis = std::ranges::find(axes, knob, &SweepAxis::knob);
  if (axis == axes.end()) axis = axes.insert(axes.end(), {knob, {}});
  std::ranges::move(values, std::back_inserter(axis->values));
  return {};
}

Result<void> check_count(std::size_t count) {
  if (count <= kMostPoints) return {};
  return trace::base::fail(ErrorKind::kUsage,
                           "These are more than " + trace::base::grouped(kMostPoints) +
                               " points: leave out values, or sweep one knob after the other.");
}

Result<void> check_twins(const SweepPoints& points) {
  for (std::size_t i = 0; i < points.settings.size(); ++i) {
    const auto first = std::ranges::find(points.settings, points.settings[i]);
    if (static_cast<std::size_t>(first - points.settings.begin()) == i) continue;
    return trace::base::fail(ErrorKind::kUsage, "The point " + point_text(points, i) +
                                                    " is given twice: leave one of them out; "
                                                    "repeats run each several times.");
  }
  return {};
}

// Files and folders are found again from wherever the sweep goes on.
Result<SweepPoints> complete(SweepPoints points) {
  for (Settings& settings : points.settings) {
    settings = trace::job::with_absolute_paths(std::move(settings));
  }
  TRY(check_twins(points));
  return points;
}

Result<trace::model::RunInfo> job_of(const Settings& settings, const launch::CudaProbe& cuda) {
  // Any name will do; without one the library would be searched.
  const launch::JobRequest point{.settings = settings, .name = "a point", .is_measured = true};
  TRY_ASSIGN(auto job, launch::check_job(point, cuda));
  if (settings.epochs > 0 || settings.steps > settings.skip_steps) return job;
  return trace::base::fail(ErrorKind::kUsage, "steps: of " + std::to_string(settings.steps) +
                                                  " steps skip_steps leaves out " +
                                                  std::to_string(settings.skip_steps) +
                                                  ", so that none is measured.");
}

void reset_what_does_nothing(const trace::model::RunInfo& job, Settings& acting) {
  const Settings defaults;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const bool is_idle = !trace::job::without_effect_with(knob, job.settings).empty();
    if (is_idle) copy_value(knob, defaults, acting);
  }
  // Nothing is saved.
  acting = trace::job::saving_nothing(acting);
  acting.keep_checkpoints = defaults.keep_checkpoints;
  acting.checkpoint_format = defaults.checkpoint_format;
  acting.merge_lora = defaults.merge_lora;
}

// Unlike those of a run, which are held against others: who varies a seed wants to see it.
Settings doing(const trace::model::RunInfo& job) {
  Settings acting = with_reached_caps(trace::model::acting_settings(job, {}));
  acting.steps = job.settings.steps;
  acting.epochs = job.settings.epochs;
  acting.seed = job.settings.seed;
  reset_what_does_nothing(job, acting);
  return acting;
}

}  // namespace

Result<SweepPoints> grid_of(const Settings& base, const std::vector<std::string>& texts) {
  std::vector<SweepAxis> axes;
  for (const auto& text : texts) TRY(add_axis(axes, text));
  SweepPoints points;
  points.settings.push_back(base);
  for (const SweepAxis& axis : axes) {
    points.varied.push_back(axis.knob);
    TRY(check_count(points.settings.size() * axis.values.size()));
    std::vector<Settings> more;
    for (const Settings& settings : points.settings) {
      for (const auto& value : axis.values) {
        TRY(trace::job::set_value(more.emplace_back(settings), axis.knob->name, value));
      }
    }
    points.settings = std::move(more);
  }
  return complete(std::move(points));
}

Result<SweepPoints> points_of(const Settings& base,
                              const std::vector<trace::store::SettingTexts>& lists) {
  SweepPoints points;
  TRY(check_count(lists.size()));
  if (lists.empty()) return trace::base::fail(ErrorKind::kUsage, "The list has no points.");
  for (const auto& texts : lists) {
    Settings& settings = points.settings.emplace_back(base);
    for (const auto& [key, value] : texts) {
      TRY(trace::job::set_value(settings, key, value));
      const trace::job::Knob* knob = trace::job::find_knob(key);
      if (std::ranges::find(points.varied, knob) == points.varied.end()) {
        points.varied.push_back(knob);
      }
    }
  }
  return complete(std::move(points));
}

namespace {

std::string text_of(const Settings& settings, const std::vector<const trace::job::Knob*>& knobs) {
  return trace::base::joined(knobs, ", ", [&](const trace::job::Knob* knob) {
    return std::string(knob->name) + "=" +
           trace::base::shortened(trace::job::value_text(settings, *knob), kLongestValue);
  });
}

}  // namespace

std::string point_text(const SweepPoints& points, std::size_t point) {
  return text_of(points.settings[point], points.varied);
}

std::vector<const trace::job::Knob*> obeyed_knobs(const SweepPoints& points, std::size_t point) {
  std::vector<const trace::job::Knob*> knobs;
  const auto strategy = points.settings[point].sharding_strategy;
  std::ranges::copy_if(points.varied, std::back_inserter(knobs),
                       [&](const auto* knob) { return trace::job::applies(*knob, strategy); });
  return knobs;
}

std::string obeyed_text(const SweepPoints& points, std::size_t point) {
  return text_of(points.settings[point], obeyed_knobs(points, point));
}

PointJobs jobs_of(const SweepPoints& points, const launch::CudaProbe& cuda) {
  PointJobs jobs;
  for (const Settings& settings : points.settings) jobs.push_back(job_of(settings, cuda));
  return jobs;
}

PointJobs jobs_of(const SweepPoints& points) {
  const bool may_need_gpu = std::ranges::any_of(points.settings, [](const Settings& settings) {
    return settings.device != trace::job::DeviceChoice::kCpu;
  });
  return jobs_of(points, may_need_gpu ? launch::probe_cuda() : launch::CudaProbe{});
}

Settings with_reached_caps(Settings settings) {
  const auto shape = trace::job::find_model(settings);
  if (!shape) return settings;
  const auto values = trace::predict::model_sizes(*shape, settings).trained_values();
  const double all_mb = static_cast<double>(4 * values) / (1 << 20);
  settings.first_bucket_mb = std::min(
      trace::model::first_bucket_mb(settings.first_bucket_mb, settings.bucket_cap_mb), all_mb);
  // A first bucket of all gradients leaves none for others; zero1 also sends parts of that size.
  const bool is_alone = settings.first_bucket_mb == all_mb &&
                        settings.sharding_strategy == trace::job::Strategy::kDdp;
  settings.bucket_cap_mb = is_alone ? all_mb : std::min(settings.bucket_cap_mb, all_mb);
  return settings;
}

std::vector<std::size_t> doubles_of(const PointJobs& jobs) {
  std::vector<Settings> done;
  std::vector<std::size_t> first;
  for (const auto& job : jobs) {
    done.push_back(doing(*job));
    const auto found = std::ranges::find(done, done.back());
    first.push_back(static_cast<std::size_t>(found - done.begin()));
  }
  return first;
}

namespace {

// `why_not`: of a point by its place; "" keeps it.
template <typename WhyNot>
std::vector<std::string> leave_out(SweepPoints& points, PointJobs& jobs, const WhyNot& why_not) {
  std::vector<std::string> left_out;
  SweepPoints kept{.varied = points.varied, .settings = {}};
  PointJobs kept_jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (std::string why = why_not(i); !why.empty()) {
      left_out.push_back(std::move(why));
      continue;
    }
    kept.settings.push_back(points.settings[i]);
    kept_jobs.push_back(jobs[i]);
  }
  points = std::move(kept);
  jobs = std::move(kept_jobs);
  return left_out;
}

}  // namespace

std::vector<std::string> leave_out_refused(SweepPoints& points, PointJobs& jobs,
                                           std::size_t first) {
  return leave_out(points, jobs, [&](std::size_t i) {
    if (i < first || jobs[i]) return std::string();
    return obeyed_text(points, i) + ": " + jobs[i].error().message;
  });
}

std::vector<std::string> leave_out_doubles(SweepPoints& points, PointJobs& jobs) {
  const auto firsts = doubles_of(jobs);
  return leave_out(points, jobs, [&](std::size_t i) {
    if (firsts[i] == i) return std::string();
    return point_text(points, i) + " does the same as " + point_text(points, firsts[i]);
  });
}

}  // namespace shardlens::app::sweep
