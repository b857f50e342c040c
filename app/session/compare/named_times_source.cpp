#include "app/session/compare/named_times_source.h"

#include "trace/store/read/run_reader.h"

namespace shardlens::app::session {

trace::base::Result<trace::analysis::NamedTimes> read_named_times(
    const trace::analysis::RunFigures& run) {
  trace::analysis::NamedTimesReader times(run);
  const auto window = times.window();
  if (window.length() <= 0) return times.times();
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run.info.folder));
  TRY(reader->read_facts([&](const trace::model::Batch& batch) { times.learn(batch); }));
  TRY(reader->read_range(window.start_ns, window.end_ns,
                         [&](const trace::model::Batch& batch) { times.add(batch); }));
  return times.times();
}

}  // namespace shardlens::app::session
