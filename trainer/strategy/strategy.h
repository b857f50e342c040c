// How the ranks share a model: what each keeps, and which collectives keep them equal. The training
// loop drives a strategy without knowing which one it is. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer::strategy {

// The part of one parameter that this rank keeps.
struct LocalParameter {
  std::string name;
  std::vector<std::int64_t> sizes;  // of the whole parameter
  std::int64_t begin = 0;           // the elements of the flattened parameter
  std::int64_t end = 0;             // that `value` holds
  // fp32 if it is trained, with its gradient, if there is one, as value.grad(). A frozen one is in
  // the type it is kept in; in 4 bits `sizes`, `begin` and `end` count its bytes, in whole blocks.
  torch::Tensor value;
  bool is_optimized = true;  // by this rank; not if it is frozen or another rank's to update
  bool is_primary = true;    // of equal replicas of this part, the one that is saved
  bool is_frozen = false;

  // Matrices decay; biases and norms (one dimension) do not.
  bool decays() const { return sizes.size() >= 2; }
};

// Throws c10::Error when a collective fails. All ranks call the same functions in the same order.
// One step with k micro-batches:
//   k times: set_require_sync(last or every), before_forward(), forward, before_backward(loss),
//            loss.backward(), after_backward()
//   clip_gradients(…, the strategy), update(…), zero_gradients()
class Strategy {
 public:
  virtual ~Strategy() = default;

  // False: the next backward only adds to the local gradients. Set it before before_forward().
  virtual void set_require_sync(bool require_sync) = 0;
  virtual void before_forward() = 0;
  // `loss` is the tensor that backward() starts from.
  virtual void before_backward(const torch::Tensor& loss) = 0;
  // With synchronisation: from here on gradients are averaged over the ranks.
  virtual void after_backward() = 0;
  // Around forwards without backward.
  virtual void before_evaluation() {}
  virtual void after_evaluation() {}

  // Which part of the model the forward or backward under way is in, as far as the strategy knows:
  // "blocks.3"; "" if it does not.
  virtual std::string current_unit() const { return {}; }

  // Each parameter, or part of one, that is kept here; the same list throughout.
  virtual std::span<const LocalParameter> local_parameters() const = 0;

  // The sum of `local` [1] over the ranks that hold different parts of the gradients: the square of
  // their norm. Called once per step, after the last after_backward(). From here on a parameter
  // that got a gradient on no rank has none.
  virtual torch::Tensor sum_over_shards(torch::Tensor local) { return local; }

  // Calls `optimize` for all local parameters that this rank optimizes, by their indices into
  // local_parameters(), in one piece or in several; afterwards all ranks can see the new values.
  using Optimize = std::function<void(std::span<const std::size_t> parameters)>;
  virtual void update(const Optimize& optimize) = 0;

  // As zero_grad(set_to_none=True).
  virtual void zero_gradients() = 0;
};

// The indices of those that this rank optimizes.
std::vector<std::size_t> optimized_parameters(std::span<const LocalParameter> parameters);

// Counts the memory of the parameter's gradient as gradients as soon as autograd made it.
void count_gradient_of(const torch::Tensor& parameter);

// All ranks get rank 0's values. Their lists are alike, and may be empty: a model that each rank
// reads from its folder may have no value that the others lack. Throws c10::Error.
void broadcast_initial_values(comm::Communicator& world, const std::vector<torch::Tensor>& values);

}  // namespace shardlens::trainer::strategy
