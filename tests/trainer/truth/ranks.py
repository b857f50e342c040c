"""Starts shardlens-rank processes as a launcher does, and reads what they recorded."""
import os
import pathlib
import random
import sqlite3
import subprocess


def write_text(path, words=20000):
    """A reproducible text with something to learn in it."""
    chooser = random.Random(5)
    vocabulary = ["bucket", "shard", "rank", "reduce", "gather", "step", "loss", "the", "of", "and"]
    path.write_text(" ".join(chooser.choice(vocabulary) for _ in range(words)))


def write_settings(path, **settings):
    texts = {k: str(v).lower() if isinstance(v, bool) else v for k, v in settings.items()}
    path.write_text("".join(f"{key}: {text}\n" for key, text in texts.items()))
    return path


def start_rank(command, rank, count, store, log):
    environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count),
                       LOCAL_WORLD_SIZE=str(count), SHARDLENS_STORE_FILE=str(store))
    with open(log, "wb") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file)


class Job:
    """`ranks` processes in `run`, which rank 0 creates."""

    def __init__(self, program, run, settings, ranks):
        self.run = pathlib.Path(run)
        self.run.parent.mkdir(parents=True, exist_ok=True)
        store = self.run.parent / (self.run.name + ".store")
        self.logs = [self.run.parent / f"{self.run.name}.rank_{r}.log" for r in range(ranks)]
        self.processes = [
            start_rank([program, "--settings", settings, "--run", str(self.run)], rank, ranks, store, self.logs[rank])
            for rank in range(ranks)]

    def wait(self, timeout=120):
        try:
            return [p.wait(timeout) for p in self.processes]
        finally:
            for process in self.processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    def log(self, rank):
        return self.logs[rank].read_text()

    def last_lines(self):
        return [(self.log(r).strip().splitlines() or [""])[-1] for r in range(len(self.logs))]


def query(run, rank, sql):
    file = pathlib.Path(run) / f"rank_{rank}.sqlite"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return database.execute(sql).fetchall()


def losses(run, rank=0):
    return [row[0] for row in query(run, rank, "select loss from step order by step")]


def status(run):
    with sqlite3.connect(f"file:{pathlib.Path(run) / 'run.sqlite'}?mode=ro", uri=True) as database:
        return dict(database.execute("select key, value from meta").fetchall())
