#include "app/session/tuning/forecast_sources.h"

#include "app/session/tuning/prediction_source.h"

namespace shardlens::app::session {

search::ForecastSources forecast_sources(const Machine& machine) {
  return {.learn_run = learn_run, .shape_bytes = [machine](const trace::job::Settings& settings) {
            return peak_bytes_here(settings, machine);
          }};
}

}  // namespace shardlens::app::session
