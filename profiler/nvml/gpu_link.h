// What links a GPU to those of the other ranks, and how fast that is at best. Any thread.
#pragma once

#include <string>
#include <vector>

#include "profiler/nvml/nvml_library.h"

namespace shardlens::profiler::nvml {

struct GpuLink {
  std::string text;             // "NVLink 4, 18 links", "PCIe 5 x16"; "": not known
  double bytes_per_second = 0;  // peak in one direction; 0: not known
};

struct NvlinkFacts {
  int links = 0;    // active
  int version = 0;  // the first number: 4 of NVLink 4.0; 0: not known
};

NvlinkFacts nvlink_of(const NvmlLibrary& library, NvmlDevice device);
// The PCIe link that the GPU and its slot can have together; text "" where nothing is known.
GpuLink pcie_of(const NvmlLibrary& library, NvmlDevice device);

enum class PeerAccess { kNvlink, kPcie, kNone, kUnknown };
PeerAccess peer_access(const NvmlLibrary& library, NvmlDevice from, NvmlDevice to);

// `device` to all `peers`, GPUs of the same machine: as the slowest of them is reached, since a
// ring runs at its slowest link.
GpuLink link_to_peers(const NvmlLibrary& library, NvmlDevice device,
                      const std::vector<NvmlDevice>& peers);

// Who talks to whom, by PCI bus ids.
struct RankPlaces {
  std::string own{};                 // of this rank's GPU
  std::vector<std::string> peers{};  // of the GPUs of the other ranks on this machine
  bool is_shared = false;            // several ranks on one GPU
  bool is_single_machine = true;
};
// What the ranks really use: ranks that share a GPU talk over sockets, those of several machines
// over the network, whose speed nothing here tells. `library` may be null.
GpuLink link_between_ranks(const NvmlLibrary* library, const RankPlaces& places);

// Bytes a second of one link in one direction, without protocol.
double nvlink_bytes_per_second(int version);
double pcie_bytes_per_second(int generation, int width);

}  // namespace shardlens::profiler::nvml
