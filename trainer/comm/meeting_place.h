// Where ranks find each other, as one of them is told. Plain values, no LibTorch.
#pragma once

#include <string>

namespace shardlens::trainer::comm {

struct MeetingPlace {
  int rank = 0;
  int world_size = 1;
  std::string store_file;  // our launcher's, of this run; empty: torchrun's store, at
  std::string master_address;
  int master_port = 0;
  bool agent_store = false;  // torchrun's agent holds it: connect as a client, also rank 0
  std::string store_prefix;  // keeps the keys of a job that torchrun restarted apart
};

}  // namespace shardlens::trainer::comm
