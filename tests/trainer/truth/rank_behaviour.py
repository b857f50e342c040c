"""What ranks do as processes: torchrun, stopping, failing, wrong use.

rank_behaviour.py RANK_PROGRAM CASE
"""
import math
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import ranks

SMALL = dict(model="tiny", device="cpu", sequence_length=16, batch_per_rank=2, steps=3, threads_per_rank=1)


def start(program, folder, count=2, name="run", **settings):
    ranks.write_text(folder / "text.txt", words=4000)
    values = {**SMALL, "data": folder / "text.txt", **settings}
    return ranks.Job(program, folder / name, ranks.write_settings(folder / f"{name}.yaml", **values), count)


def expect(condition, job, message):
    if not condition:
        logs = "\n".join(f"--- rank {r}\n{job.log(r)}" for r in range(len(job.logs)))
        raise AssertionError(f"{message}\n{logs}")


def torchrun(program, folder):
    ranks.write_text(folder / "text.txt", words=4000)
    settings = ranks.write_settings(folder / "s.yaml", **{**SMALL, "data": folder / "text.txt"})
    launcher = pathlib.Path(sys.executable).parent / "torchrun"
    run = folder / "by torchrun"
    subprocess.run([launcher, "--no_python", "--nproc_per_node=2", "--standalone", "--", program, "--settings", settings,
                    "--run", run], check=True, timeout=120)
    for rank in range(2):
        steps = ranks.query(run, rank, "select step, loss from step order by step")
        assert [s for s, _ in steps] == [0, 1, 2], steps
        assert all(math.isfinite(loss) for _, loss in steps), steps
        assert ranks.query(run, rank, "select count(*) from collective where tag like 'bucket%'")[0][0] > 0
    assert "done" in ranks.status(run).values(), ranks.status(run)


def stop_before_all_have_come(program, folder):
    job = start(program, folder)
    job.processes[1].kill()
    deadline = time.monotonic() + 60
    store = folder / "run.store"  # where it tells its address, and then waits for that of rank 1
    while time.monotonic() < deadline and not (store.exists() and store.stat().st_size):
        time.sleep(0.1)
    job.processes[0].send_signal(signal.SIGTERM)
    codes = job.wait(30)  # of the 120 s that it waits for others
    expect(codes == [-signal.SIGTERM, -signal.SIGKILL], job, f"exit codes {codes}")


def stop_while_text_is_prepared(program, folder):
    python = folder / "python"
    python.write_text('#!/bin/sh\nexec sleep 100\n')
    python.chmod(0o755)
    os.environ["SHARDLENS_PYTHON"] = str(python)
    lines = folder / "lines.jsonl"
    lines.write_text('{"prompt": "a", "completion": "b"}\n')
    for count, code in ((2, -signal.SIGTERM), (1, 0)):  # nobody waits for a rank that is alone
        job = start(program, folder, count, f"{count} ranks", data=lines, token_cache=folder / "cache")
        store = folder / f"{job.run.name}.store"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (store.exists() and b"preparing" in store.read_bytes()):
            time.sleep(0.1)
        expect(b"preparing" in store.read_bytes(), job, "ranks that are ready are not told to wait")
        time.sleep(1)  # while it tells that, a signal ends it at once
        for process in job.processes:
            process.send_signal(signal.SIGTERM)
        codes = job.wait(30)
        expect(codes == [code] * count, job, f"exit codes {codes}")
        expect("error: " not in "".join(job.log(rank) for rank in range(count)), job, "a stop is no error")
        end = ranks.status(job.run)
        expect({"stopped", "stopped: rank 0 was sent SIGTERM"} <= set(end.values()), job, f"status {end}")


def nonfinite(program, folder):
    job = start(program, folder, inject='"rank=1,step=1,nan"')
    codes = job.wait()
    expect(codes == [1, 1], job, f"exit codes {codes}")
    for line in job.last_lines():
        expect(line.startswith("error: step 1: the loss of rank 1 is not finite. Lower learning_rate or max_grad_norm, or"), job, line)
    marked = [ranks.query(job.run, r, "select step from step where nonfinite") for r in range(2)]
    expect(marked == [[], [(1,)]], job, f"marked steps {marked}")

    job = start(program, folder, 1, "not clipped", inject='"rank=0,step=1,nan"', max_grad_norm=0)
    expect(job.wait() == [1], job, "exit codes")
    for line in job.last_lines():
        expect("Lower learning_rate, set max_grad_norm, or" in line, job, line)

    job = start(program, folder, 1, "at once", inject='"rank=0,step=0,nan"')
    expect(job.wait() == [1], job, "exit codes")
    for line in job.last_lines():
        expect("before any update. Check the values of the model" in line, job, line)

    job = start(program, folder, name="on", inject='"rank=1,step=1,nan"', on_nonfinite="continue")
    expect(job.wait() == [0, 0], job, "on_nonfinite: continue must train on")
    expect(len(ranks.losses(job.run)) == 3, job, "steps are missing")


def nonfinite_norms(program, folder):
    fault = '"rank=1,step=1,phase=backward,nan"'
    job = start(program, folder, name="stop", inject=fault)
    codes = job.wait()
    expect(codes == [1, 1], job, f"exit codes {codes}")
    for line in job.last_lines():
        expect(line.startswith("error: step 1: the gradient norm of rank 1 is not finite"), job, line)
    last = [ranks.query(job.run, r, "select max(step) from step") for r in range(2)]
    expect(last == [[(1,)], [(1,)]], job, f"last steps {last}")
    marked = [ranks.query(job.run, r, "select step from step where nonfinite") for r in range(2)]
    expect(marked == [[], [(1,)]], job, f"marked steps {marked}")

    job = start(program, folder, name="on", inject=fault, on_nonfinite="continue")
    expect(job.wait() == [0, 0], job, "on_nonfinite: continue must train on")
    expect(len(ranks.losses(job.run)) == 3, job, "steps are missing")
    warning = "warning: step 1: the gradient norm of rank 1 is not finite"
    expect([warning in job.log(r) for r in range(2)] == [False, True], job, "who warns")

    everywhere = '"rank=0,step=1,phase=optimizer,nan;rank=1,step=1,phase=optimizer,nan"'
    job = start(program, folder, name="everywhere", inject=everywhere)
    expect(job.wait() == [1, 1], job, "exit codes")
    for line in job.last_lines():
        expect(line.startswith("error: step 1: the gradient norm is not finite"), job, line)


def stop_in_step(step, program, folder, **settings):
    job = start(program, folder, inject=f'"rank=0,step={step},phase=data,delay_ms=3000"', **settings)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not has_steps(job, step):
        time.sleep(0.1)
    for process in job.processes:
        process.send_signal(signal.SIGTERM)
    expect(job.processes[0].poll() is None, job, "the signal came too late to tell anything")
    expect(job.wait() == [0, 0], job, "exit codes")
    return job


def stop_where_something_is_due(program, folder):
    job = stop_in_step(1, program, folder, steps=6, save_every=2, evaluate_every=2, loss_every=100, keep_best=True)
    expect("stopped after step 1" in job.log(0), job, "it was stopped elsewhere")
    saved = [path.name for path in (job.run / "checkpoints").glob("step_*")]
    expect(saved == ["step_000002"], job, f"saved {saved}")
    loss = re.search(r"evaluation after step 1: loss ([\d.]+)", job.log(0))
    expect(loss, job, "a run that goes on does not make the evaluation")
    info = (job.run / "checkpoints" / "step_000002" / "checkpoint.yaml").read_text()
    best = re.search(r'best_evaluation_loss"?: "?([\d.]+)', info)
    expect(best and abs(float(best[1]) - float(loss[1])) < 1e-4, job, f"what goes on forgets it: {info}")


def stop_in_last_step(program, folder):
    job = stop_in_step(2, program, folder)
    expect(len(ranks.losses(job.run)) == 3, job, "steps are missing")
    expect("stopped after" not in job.log(0), job, "nothing was left to stop")
    expect("done" in ranks.status(job.run).values(), job, f"status {ranks.status(job.run)}")


def has_steps(job, count):
    try:
        return len(ranks.losses(job.run)) >= count
    except sqlite3.Error:  # not there yet
        return False


def different_settings(program, folder):
    runs = []
    for name, rate in (("a", 0.001), ("b", 0.002)):
        job = start(program, folder, name=name, learning_rate=rate)
        expect(job.wait() == [0, 0], job, "failed")
        runs.append(folder / f"only {name}")
        runs[-1].mkdir()
        shutil.copy(job.run / "run.sqlite", runs[-1])
    logs = [folder / f"{r}.log" for r in range(2)]
    processes = [ranks.start_rank([program, "--run", runs[r]], r, 2, folder / "store", logs[r]) for r in range(2)]
    assert [p.wait(120) for p in processes] == [1, 1], [log.read_text() for log in logs]
    for log in logs:
        assert log.read_text().strip().splitlines()[-1].startswith(
            "error: The ranks do not see the same settings."), log.read_text()


def listening_addresses(process):
    """Hexadecimal local addresses on which the process accepts connections."""
    sockets = set()
    for descriptor in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(descriptor))
        except FileNotFoundError:  # closed meanwhile
            pass
    addresses = set()
    for table in ("tcp", "tcp6"):
        for row in pathlib.Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                addresses.add(fields[1].split(":")[0])
    return addresses


def listens_on_loopback_until_it_is_stopped(program, folder):
    job = start(program, folder, steps=100000)
    found = set()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not has_steps(job, 5):
        for process in job.processes:
            found |= listening_addresses(process)
        time.sleep(0.05)
    job.processes[1].send_signal(signal.SIGTERM)  # to one rank alone: the others must hear of it
    expect(job.wait(60) == [0, 0], job, "exit codes")
    last = [ranks.query(job.run, r, "select max(step) from step")[0][0] for r in range(2)]
    expect(last[0] == last[1] and 0 < last[0] < 99999, job, f"last steps {last}")
    expect("stopped" in ranks.status(job.run).values(), job, f"status {ranks.status(job.run)}")
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    expect(found and found <= loopback, job, f"listens on {found}")


def out_of_memory(program, folder):
    job = start(program, folder, inject='"rank=1,step=1,phase=backward,oom"')
    codes = job.wait()
    expect(codes == [1, 1], job, f"exit codes {codes}")
    lines = job.last_lines()
    expect(lines[1].startswith("error: step 1, backward: out of memory"), job, lines[1])
    expect(lines[0].startswith("error: step 1"), job, lines[0])
    recorded = ranks.query(job.run, 1, "select text from log where text like '%out of memory%'")
    expect(len(recorded) == 1, job, f"recorded: {recorded}")
    expect([s for (s,) in ranks.query(job.run, 1, "select step from step")] == [0], job, "step 0 is missing")
    expect("failed" in ranks.status(job.run).values(), job, f"status {ranks.status(job.run)}")


def dropout(program, folder):
    (folder / "same.txt").write_text("abcdefgh" * 4000)  # every sequence is the same, so is every rank's loss

    def curve(name, count, **settings):
        job = start(program, folder, count, name, data=folder / "same.txt", dropout=0.1, **settings)
        expect(job.wait() == [0] * count, job, "failed")
        return ranks.losses(job.run)

    two = curve("two", 2)
    # It draws random numbers, which evaluation must not use up.
    assert curve("evaluated", 2, evaluate_every=1) == two, "other losses with evaluation"
    # With the same masks on both ranks their mean would be what one rank alone has.
    assert abs(curve("alone", 1)[0] - two[0]) > 1e-4, "both ranks drop the same values"


def phases(program, folder):
    job = start(program, folder, gradient_accumulation_steps=2)
    expect(job.wait() == [0, 0], job, "failed")
    rows = ranks.query(job.run, 0, "select phase, count(*) from span where depth = 0 and step = 1 group by phase")
    expect(dict(rows) == {"data": 2, "forward": 2, "backward": 2, "optimizer": 1}, job, f"phases {rows}")
    for rank in range(2):
        check_phases_are_in_order(job, rank)
    tokens, samples, flops = ranks.query(job.run, 0, "select tokens, samples, model_flops from step")[0]
    expect((tokens, samples) == (2 * 2 * 16, 2 * 2), job, f"{tokens} tokens, {samples} samples")
    parameters = ranks.query(job.run, 0, "select parameters from rank")[0][0]
    multiplied = parameters - 512 * 192  # without the positions, which are only looked up
    expect(flops == tokens * (6 * multiplied + 12 * 5 * 192 * 16), job, f"{flops} operations")


def check_phases_are_in_order(job, rank):
    steps = ranks.query(job.run, rank, "select step, start_ns, end_ns from step order by step")
    for step, start_ns, end_ns in steps:
        spans = ranks.query(job.run, rank, "select start_ns, end_ns, phase from span where depth = 0 and "
                            f"step = {step} and phase != 'evaluation' order by start_ns")
        expect(len(spans) == 7, job, f"rank {rank}, step {step}: {spans}")
        times = [start_ns] + [time_ns for span in spans for time_ns in span[:2]] + [end_ns]
        expect(times == sorted(times), job, f"rank {rank}, step {step} from {start_ns} to {end_ns}: {spans}")


def folder_in_use(program, folder):
    first = start(program, folder)
    expect(first.wait() == [0, 0], first, "failed")
    before = ranks.losses(first.run)
    again = start(program, folder)
    codes = again.wait()
    expect(codes[0] != 0 and codes[1] != 0, again, f"exit codes {codes}")
    expect(all(line.startswith("error: ") for line in again.last_lines()), again, f"{again.last_lines()}")
    expect(str(first.run) in again.last_lines()[0], again, again.last_lines()[0])
    expect(ranks.losses(first.run) == before, again, "the old recording was touched")


def wrong_use(program, folder):
    def run(*arguments, **environment):
        clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")}
        return subprocess.run([program, *arguments], env={**clean, **environment}, text=True, capture_output=True)

    one = dict(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", LOCAL_WORLD_SIZE="1",
               SHARDLENS_STORE_FILE=str(folder / "store"))
    text = folder / "text.txt"
    ranks.write_text(text, words=4000)
    (folder / "empty.txt").write_text("")
    (folder / "short.txt").write_text("too short")
    (folder / "no text").mkdir()

    def with_settings(**settings):
        name = f"r{len(list(folder.iterdir()))}"
        file = ranks.write_settings(folder / f"{name}.yaml", **{**SMALL, "data": text, **settings})
        return run("--settings", str(file), "--run", str(folder / name), **one)

    cases = [
        (run("--run", str(folder / "x")), 2, "RANK is not set"),
        (run("--ruin", "x"), 2, "Unknown option --ruin"),
        (run("--describe-model", "gpt3"), 2, "Choose one of tiny, small, gpt2"),
        (with_settings(data=folder / "empty.txt"), 2, "is empty"),
        (with_settings(data=folder / "short.txt"), 2, "Use a longer text"),
        (with_settings(data=f'"{folder}/no text"'), 1, "holds no text files"),
        (with_settings(sequence_length=513), 2, "context of 512 tokens"),
        (with_settings(device="cuda") if not pathlib.Path("/dev/nvidiactl").exists() else None, 2, "no usable NVIDIA GPU"),
    ]
    for result, code, text in cases:
        if result is None:
            continue
        last = (result.stderr.strip().splitlines() or [""])[-1]
        assert result.returncode == code and last.startswith("error: ") and text in last, (text, result)
    described = run("--describe-model", "gpt2")
    assert described.returncode == 0 and "124439808 parameters" in described.stdout, described
    assert "torchrun" in run("--help").stdout


def main():
    program, case = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        globals()[case](program, pathlib.Path(folder))


main()
