// The few names of Gloo that LibTorch's ProcessGroupGloo.hpp mentions. LibTorch contains Gloo but
// ships none of its headers; the functions declared here are exported by libtorch_cpu.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

namespace transport {

class Device;

// The connection to one other rank.
class Pair {
 public:
  virtual ~Pair() = default;
};

namespace tcp {

class Pair : public transport::Pair {
 public:
  // Fails what waits for this pair, and what will.
  std::exception_ptr signalExceptionExternal(const std::string& message);
};

}  // namespace tcp

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer() = default;
};

}  // namespace transport

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  std::unique_ptr<transport::Pair>& getPair(int rank);
};

namespace rendezvous {

class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys,
                    const std::chrono::milliseconds& timeout) = 0;
};

}  // namespace rendezvous
}  // namespace gloo
