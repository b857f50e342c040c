#include "trainer/comm/flight_recorder.h"

#include <cstdlib>

namespace shardlens::trainer::comm {

void turn_flight_recorder_off() { setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/0); }

}  // namespace shardlens::trainer::comm
