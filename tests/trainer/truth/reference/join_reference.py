"""Trains on uneven inputs under PyTorch's own Join and prints the losses of every case as JSON.

Reads a JSON job from standard input: weights, text, settings shared by all cases, ranks, cases, results (a folder).
A loss is the mean over the ranks that still had a batch; the last weights are saved as results/CASE.pt.
"""
import statistics

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

import reference_models
import reference_strategies
import reference_training


def own_batches(job, blocks, epoch, rank, ranks):
    """Each block once: the ranks take turns, and the first of them may get one more."""
    order = torch.randperm(len(blocks), generator=torch.Generator().manual_seed(job["seed"] + epoch)).tolist()
    own, size = order[rank::ranks], job["batch_per_rank"]
    return [torch.stack([blocks[b] for b in own[i : i + size]]) for i in range(0, len(own), size)]


class Place:
    """Where a rank is: still with data, or joined."""

    def __init__(self, ranks):
        self.ranks = ranks
        self.joined = False


def reduce_for_all(place, bucket):
    """A communication hook that gives the mean gradients also to a rank that has joined.

    ZeroRedundancyOptimizer's hook steps on a joined rank, for it owns parameters that others need, but "gradients must
    be properly set before this hook is called", and DistributedDataParallel's hook reduces zeros and throws the sum away.
    """

    def take(future):
        if place.joined:
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
                parameter.grad = gradient.clone()
        return future.value()[0]

    return dist.all_reduce(bucket.buffer().div_(place.ranks), async_op=True).get_future().then(take)


def make(job, case, ranks):
    """What trains, its optimizer, what takes part in Join, what its communication hook has to know."""
    model = reference_training.fresh_model(job)
    replica = DistributedDataParallel(model)
    if case["sharding_strategy"] == "zero1":
        place = Place(ranks)
        replica.register_comm_hook(place, reduce_for_all)
        optimizer = reference_strategies.shard_optimizer(reference_training.parameter_groups(job, model))
        return replica, optimizer, [replica, optimizer], place
    if case["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=job["learning_rate"])
    else:
        optimizer = torch.optim.AdamW(reference_training.parameter_groups(job, model))
    return replica, optimizer, [replica], Place(ranks)


def run_case(job, case, rank, ranks):
    replica, optimizer, joinables, place = make(job, case, ranks)
    blocks = reference_training.training_blocks(job)
    losses = []
    for epoch in range(case["epochs"]):
        own = []
        with Join(joinables, divide_by_initial_world_size=case.get("divide_by_initial_world_size", True)):
            for batch in own_batches(job, blocks, epoch, rank, ranks):
                loss = reference_models.cross_entropy(replica(batch[:, :-1]), batch[:, 1:])
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                own.append(loss.item())
            place.joined = True
        place.joined = False
        optimizer.zero_grad()
        everybodys = [None] * ranks
        dist.all_gather_object(everybodys, own)
        longest = max(len(one) for one in everybodys)
        losses += [statistics.mean(one[i] for one in everybodys if i < len(one)) for i in range(longest)]
    if rank == 0:
        torch.save(dict(replica.module.named_parameters()), f"{job['results']}/{case['file']}")
    return losses


if __name__ == "__main__":
    reference_training.run_cases(run_case)
