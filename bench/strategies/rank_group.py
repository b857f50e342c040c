"""Ranks of one training job as processes, ours or PyTorch's: same environment, same cores."""
import os
import re
import subprocess
import time


def cores_of(rank, ranks):
    """Its share of the cores that this process may use; a core is shared where ranks are more than cores."""
    cores = sorted(os.sched_getaffinity(0))
    if ranks > len(cores):
        return {cores[rank % len(cores)]}
    size = len(cores) // ranks
    return set(cores[rank * size : (rank + 1) * size])


def largest_resident(process):
    """Bytes that it had resident at most so far; 0 once it is gone."""
    try:
        with open(f"/proc/{process}/status") as status:
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


class RankGroup:
    """Starts `command` once per rank; logs and the meeting point are in `folder`, which must be new."""

    def __init__(self, command, ranks, folder):
        self.name = folder.name
        self.resident_bytes = 0  # the most of any rank, sampled
        folder.mkdir(parents=True)
        self.logs = [folder / f"rank_{rank}.log" for rank in range(ranks)]
        self.processes = [self.start(command, rank, ranks, folder / "store") for rank in range(ranks)]

    def start(self, command, rank, ranks, store):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                           LOCAL_WORLD_SIZE=str(ranks), SHARDLENS_STORE_FILE=str(store), GLOO_SOCKET_IFNAME="lo",
                           NCCL_SOCKET_IFNAME="lo", PYTHONDONTWRITEBYTECODE="1")
        with open(self.logs[rank], "wb") as log:
            return subprocess.Popen([str(word) for word in command], env=environment, stdout=log, stderr=log,
                                    preexec_fn=lambda: os.sched_setaffinity(0, cores_of(rank, ranks)))

    def wait(self, seconds):
        """Throws what the first rank that failed said last."""
        end = time.monotonic() + seconds
        try:
            while any(process.poll() is None for process in self.processes):
                self.resident_bytes = max([self.resident_bytes] + [largest_resident(p.pid) for p in self.processes])
                if time.monotonic() > end:
                    raise RuntimeError(f"{self.name}: the ranks were not done after {seconds} s")
                time.sleep(0.05)
            codes = [process.returncode for process in self.processes]
        finally:
            for process in self.processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        for rank, code in enumerate(codes):
            if code != 0:
                said = self.logs[rank].read_text(errors="replace").strip().splitlines()[-3:]
                raise RuntimeError(f"{self.name}: rank {rank} left with code {code}: {' '.join(said)}")
