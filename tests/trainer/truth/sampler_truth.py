"""The sampler draws what torch.utils.data.DistributedSampler draws, index for index.

sampler_truth.py PROBE: PROBE sampler SAMPLES RANKS RANK SHUFFLE DROP_LAST SEED EPOCH prints indices.
"""
import itertools
import subprocess
import sys

from torch.utils.data import DistributedSampler


def main():
    # Also fewer samples than ranks, and a size that divides evenly.
    cases = list(itertools.product((1, 7, 24, 101), (1, 3, 4), (0, 1), (0, 1), ((0, 0), (5, 3))))
    lines, expected = [], []
    for samples, ranks, shuffle, drop_last, (seed, epoch) in cases:
        if drop_last and samples < ranks:
            continue  # PyTorch's own answer there is an accident
        for rank in range(ranks):
            sampler = DistributedSampler(
                range(samples), num_replicas=ranks, rank=rank, shuffle=bool(shuffle), seed=seed,
                drop_last=bool(drop_last))
            sampler.set_epoch(epoch)
            lines.append(f"{samples} {ranks} {rank} {shuffle} {drop_last} {seed} {epoch}")
            expected.append(list(sampler))
    output = subprocess.run([sys.argv[1], "sampler"], input="\n".join(lines), text=True, check=True,
                            capture_output=True).stdout
    actual = [[int(i) for i in line.split()] for line in output.splitlines()]
    assert len(actual) == len(expected), (len(actual), len(expected))
    wrong = [line for line, a, e in zip(lines, actual, expected) if a != e]
    print(f"{len(expected)} samplers compared, {len(wrong)} differ")
    for line in wrong[:5]:
        print("differs:", line)
    sys.exit(1 if wrong else 0)


main()
