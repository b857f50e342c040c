#include "trainer/comm/rendezvous.h"

#include <filesystem>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace shardlens::trainer::comm {

namespace {

c10::intrusive_ptr<c10d::Store> tcp_store(const CommunicatorOptions& options,
                                          std::chrono::seconds patience) {
  c10d::TCPStoreOptions tcp;
  tcp.port = static_cast<std::uint16_t>(options.master_port);
  tcp.isServer = options.rank == 0 && !options.agent_store;
  tcp.numWorkers = static_cast<std::size_t>(options.world_size);
  // The agent's store counts its own workers; ours meet when the process group connects.
  tcp.waitWorkers = false;
  tcp.timeout = patience;
  return c10::make_intrusive<c10d::TCPStore>(options.master_address, tcp);
}

}  // namespace

c10::intrusive_ptr<c10d::Store> meet(const CommunicatorOptions& options,
                                     std::chrono::seconds patience) {
  c10::intrusive_ptr<c10d::Store> store;
  if (options.store_file.empty()) {
    store = tcp_store(options, patience);
  } else {
    // FileStore would try again for minutes.
    const auto folder = std::filesystem::path(options.store_file).parent_path();
    TORCH_CHECK(std::filesystem::is_directory(folder), "there is no folder ", folder.string(), ".");
    store = c10::make_intrusive<c10d::FileStore>(options.store_file, options.world_size);
  }
  store->setTimeout(kConnectTimeout);
  return c10::make_intrusive<c10d::PrefixStore>("shardlens" + options.store_prefix, store);
}

}  // namespace shardlens::trainer::comm
