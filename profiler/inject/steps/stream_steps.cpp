#include "profiler/inject/steps/stream_steps.h"

#include <cstdint>

namespace shardlens::profiler::inject {

namespace {

cupti::StreamKey stream_of(const cupti::KernelActivity& kernel) {
  cupti::StreamKey stream = kernel.stream;
  if (kernel.graph_node != 0) stream.stream = UINT32_MAX;
  return stream;
}

}  // namespace

void StreamSteps::add(const cupti::KernelActivity& kernel, trace::model::StringId name) {
  const cupti::StreamKey key = stream_of(kernel);
  auto found = streams_.find(key);
  if (found == streams_.end()) {
    if (streams_.size() >= kMostStreams) return;
    found = streams_.emplace(key, std::make_unique<Stream>(steps_)).first;
  }
  Stream& stream = *found->second;
  const StepSource source = steps_.source();
  // A guess lasts until an optimizer shows itself.
  if (source != StepSource::kRanges)
    stream.optimizer.add(part_of(kernel.name, name), kernel.start_ns, kernel.end_ns);
  if (source == StepSource::kNone || source == StepSource::kPattern)
    stream.pattern.add(name, kernel.start_ns, kernel.end_ns);
}

void StreamSteps::finish() {
  for (const auto& [key, stream] : streams_) stream->optimizer.finish();
  if (const StepSource source = steps_.source();
      source != StepSource::kNone && source != StepSource::kPattern) {
    return;
  }
  for (const auto& [key, stream] : streams_) stream->pattern.finish();
}

KernelPart StreamSteps::part_of(std::string_view kernel, trace::model::StringId name) {
  const auto [entry, is_new] = parts_.try_emplace(name);
  if (is_new) entry->second = kernel_part_of(kernel);
  return entry->second;
}

}  // namespace shardlens::profiler::inject
