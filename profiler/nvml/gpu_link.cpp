#include "profiler/nvml/gpu_link.h"

#include <algorithm>
#include <array>

#include "trace/base/number_text.h"

namespace shardlens::profiler::nvml {

namespace {

struct NvlinkVersion {
  unsigned code;  // nvmlNvlinkVersion_t
  int version;
};
constexpr std::array<NvlinkVersion, 8> kNvlinkVersions{
    {{1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {6, 4}, {7, 5}, {8, 6}}};

// NVIDIA's data sheets give both directions of all links together: P100 160 GB/s over 4, V100 300
// over 6, A100 600 over 12, H100 900 over 18, B200 1,800 over 18.
constexpr std::array kNvlinkPeaks{20e9, 25e9, 25e9, 25e9, 50e9};

struct PcieSpeed {
  double transfers;  // a second and lane
  double coding;     // bits of data in a transferred one
};
// PCI Express base specification: 8b/10b, from generation 3 on 128b/130b, in generation 6 units of
// 256 bytes with 236 of packets.
constexpr std::array<PcieSpeed, 6> kPcieSpeeds{{{2.5e9, 8.0 / 10},
                                                {5e9, 8.0 / 10},
                                                {8e9, 128.0 / 130},
                                                {16e9, 128.0 / 130},
                                                {32e9, 128.0 / 130},
                                                {64e9, 236.0 / 256}}};

std::optional<bool> p2p(const NvmlLibrary& library, NvmlDevice from, NvmlDevice to, int kind) {
  int status = 0;
  if (!library.api().p2p_status) return std::nullopt;
  if (library.api().p2p_status(from, to, kind, &status) != kNvmlSuccess) return std::nullopt;
  return status == 0;
}

}  // namespace

double nvlink_bytes_per_second(int version) {
  const auto index = static_cast<std::size_t>(version - 1);
  return version > 0 && index < kNvlinkPeaks.size() ? kNvlinkPeaks[index] : 0;
}

double pcie_bytes_per_second(int generation, int width) {
  const auto index = static_cast<std::size_t>(generation - 1);
  if (generation < 1 || index >= kPcieSpeeds.size() || width < 1) return 0;
  return kPcieSpeeds[index].transfers * kPcieSpeeds[index].coding / 8 * width;
}

NvlinkFacts nvlink_of(const NvmlLibrary& library, NvmlDevice device) {
  const NvmlApi& api = library.api();
  NvlinkFacts facts;
  if (!api.nvlink_state) return facts;
  for (unsigned link = 0; link < kNvmlMostLinks; ++link) {
    int active = 0;
    if (api.nvlink_state(device, link, &active) != kNvmlSuccess) continue;
    if (active != kNvmlEnabled) continue;
    ++facts.links;
    unsigned code = 0;
    if (!api.nvlink_version || api.nvlink_version(device, link, &code) != kNvmlSuccess) continue;
    const auto found = std::ranges::find(kNvlinkVersions, code, &NvlinkVersion::code);
    if (found != kNvlinkVersions.end()) facts.version = found->version;
  }
  return facts;
}

GpuLink pcie_of(const NvmlLibrary& library, NvmlDevice device) {
  const NvmlApi& api = library.api();
  unsigned generation = 0, width = 0;
  if (!api.max_pcie_generation || api.max_pcie_generation(device, &generation) != kNvmlSuccess) {
    return {};
  }
  if (!api.max_pcie_width || api.max_pcie_width(device, &width) != kNvmlSuccess) return {};
  return {"PCIe " + std::to_string(generation) + " x" + std::to_string(width),
          pcie_bytes_per_second(static_cast<int>(generation), static_cast<int>(width))};
}

PeerAccess peer_access(const NvmlLibrary& library, NvmlDevice from, NvmlDevice to) {
  const auto nvlink = p2p(library, from, to, kNvmlP2pNvlink);
  if (nvlink && *nvlink) return PeerAccess::kNvlink;
  const auto reads = p2p(library, from, to, kNvmlP2pRead);
  if (!reads) return PeerAccess::kUnknown;
  return *reads ? PeerAccess::kPcie : PeerAccess::kNone;
}

GpuLink link_between_ranks(const NvmlLibrary* library, const RankPlaces& places) {
  if (places.is_shared) return {"sockets, since ranks share a GPU", 0};
  if (!places.is_single_machine) return {"network between machines", 0};
  if (library == nullptr) return {};
  const auto own = library->device_at(places.own);
  std::vector<NvmlDevice> peers;
  for (const std::string& peer : places.peers) {
    const auto device = library->device_at(peer);
    if (!device) return {};
    peers.push_back(*device);
  }
  return own ? link_to_peers(*library, *own, peers) : GpuLink{};
}

GpuLink link_to_peers(const NvmlLibrary& library, NvmlDevice device,
                      const std::vector<NvmlDevice>& peers) {
  bool by_nvlink = !peers.empty(), staged = false;
  for (const NvmlDevice peer : peers) {
    const PeerAccess access = peer_access(library, device, peer);
    if (access == PeerAccess::kUnknown) return {};
    by_nvlink = by_nvlink && access == PeerAccess::kNvlink;
    staged = staged || access == PeerAccess::kNone;
  }
  if (peers.empty()) return {};
  if (by_nvlink) {
    const NvlinkFacts facts = nvlink_of(library, device);
    if (facts.links == 0) return {};
    std::string text = "NVLink";
    if (facts.version > 0) text += " " + std::to_string(facts.version);
    text += ", " + trace::base::counted(facts.links, "link");
    return {text, facts.links * nvlink_bytes_per_second(facts.version)};
  }
  GpuLink link = pcie_of(library, device);
  if (staged && !link.text.empty()) link.text += " through host memory";
  return link;
}

}  // namespace shardlens::profiler::nvml
