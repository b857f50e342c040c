"""One short training by our ranks or by PyTorch's, with its step times, losses and peak of memory."""
import dataclasses
import json
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys

from rank_group import RankGroup

TIMEOUT_S = 900
# What a rank records as its categories, but for what PyTorch's allocator did not hand out.
TENSOR_BYTES = " + ".join(f"{category}_bytes" for category in (
    "parameters", "gathered_parameters", "gradients", "optimizer", "activations", "communication", "other"))


@dataclasses.dataclass
class Task:
    """What both sides train."""
    programs: pathlib.Path  # folder of shardlens-rank and of the library that counts
    folder: pathlib.Path
    device: str
    gpus: int
    settings: dict  # of ours; PyTorch's ranks understand the same names
    skip_steps: int

    def __post_init__(self):
        rank = self.programs / "shardlens-rank"
        self.text, self.weights = self.folder / "text.txt", self.folder / "weights.pt"
        model = self.settings["model"]
        subprocess.run([rank, "--dump-initial-weights", self.weights, "--set", f"model={model}", "--set",
                        f"seed={self.settings['seed']}"], check=True)
        described = subprocess.run([rank, "--describe-model", model], check=True, capture_output=True, text=True).stdout
        assert "GPT-2 layout" in described, f"{model}: the model of PyTorch's side has GPT-2's layout"
        names = {"layers": "layers", "width": "width", "heads": "heads", "MLP width": "mlp_width",
                 "vocabulary": "vocabulary", "context": "context"}
        figures = described.splitlines()[1]
        self.shape = {key: int(re.search(rf"(?:^|, ){name} (\d+)", figures)[1]) for name, key in names.items()}
        self.shape["tied_head"] = "tied output matrix" in figures


@dataclasses.dataclass
class Training:
    step_ms: float  # median over measured steps, from one step's start to the next, mean over ranks
    losses: list
    spans_ns: list  # of rank 0's steps, begin and end
    resident_bytes: int  # the most that any process had resident
    peak_bytes: int  # the highest of any rank in measured steps; 0: not counted


def median_step_ms(starts_ns, skip):
    """`starts_ns`: for each rank when each step began, and when the last one ended."""
    steps = [[(b - a) / 1e6 for a, b in zip(starts, starts[1:])] for starts in starts_ns]
    return statistics.median(statistics.mean(of_ranks) for of_ranks in list(zip(*steps))[skip:])


def train_ours(task, case, ranks, counts_memory, name):
    """While time is measured no detail is recorded; steps, their peaks and samples of memory always are."""
    settings = {**task.settings, **case, "data": task.text, "device": task.device, "skip_steps": task.skip_steps,
                "oversubscribe": "true" if task.device == "cuda" and ranks > task.gpus else "false",
                "record": case.get("record", "every step" if counts_memory else "none")}
    folder = task.folder / name
    file = task.folder / f"{name}.yaml"
    file.write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
    run = folder / "run"
    group = RankGroup([task.programs / "shardlens-rank", "--settings", file, "--run", run], ranks, folder)
    group.wait(TIMEOUT_S)
    starts, peaks, losses, spans = [], [], [], []
    for rank in range(ranks):
        with sqlite3.connect(f"file:{run / f'rank_{rank}.sqlite'}?mode=ro", uri=True) as database:
            rows = database.execute("select start_ns, end_ns, loss from step order by step").fetchall()
            starts.append([row[0] for row in rows] + [rows[-1][1]])
            losses = [row[2] for row in rows]
            spans = spans or [row[:2] for row in rows]
            peaks.append(database.execute(f"select max({TENSOR_BYTES}) from memory where is_peak and step >= ?",
                                          (task.skip_steps,)).fetchone()[0])
    return Training(median_step_ms(starts, task.skip_steps), losses, spans, group.resident_bytes, max(peaks))


def train_peer(task, case, ranks, counts_memory, name):
    folder = task.folder / name
    result = task.folder / f"{name}.result"
    job = {**task.settings, **case, "text": str(task.text), "weights": str(task.weights), "device": task.device,
           "shape": task.shape, "counts_memory": counts_memory, "result": str(result),
           "count_library": str(task.programs / "libbench_allocation_peak.so")}
    file = task.folder / f"{name}.json"
    file.write_text(json.dumps(job))
    group = RankGroup([sys.executable, pathlib.Path(__file__).parent / "peer.py", file], ranks, folder)
    group.wait(TIMEOUT_S)
    results = [json.loads(pathlib.Path(f"{result}{rank}").read_text()) for rank in range(ranks)]
    peaks = [max(r["peaks"][task.skip_steps :]) for r in results] if counts_memory else [0]
    return Training(median_step_ms([r["starts_ns"] for r in results], task.skip_steps), results[0]["losses"],
                    list(zip(results[0]["starts_ns"], results[0]["ends_ns"])), group.resident_bytes, max(peaks))
