"""What the comparisons with PyTorch have in common: our ranks' runs, PyTorch's as another process, two loss curves."""
import json
import pathlib
import subprocess
import sys

import ranks

TOLERANCE = 1e-5


def train(program, folder, name, count, settings):
    """Trains with `count` ranks of ours on folder/text.txt; the run's folder."""
    stem = f"{name}_{count}".replace(" ", "_").replace(",", "")
    file = ranks.write_settings(folder / f"{stem}.yaml", **settings, data=folder / "text.txt")
    job = ranks.Job(program, folder / stem, file, count)
    codes = job.wait()
    assert codes == [0] * count, f"{name}: exit codes {codes}\n" + "\n".join(job.log(r) for r in range(count))
    return job.run


def reference(script, program, folder, settings, **job):
    """What `script` prints for the same weights and text: see it for what it reads and prints."""
    weights = folder / "weights.pt"
    subprocess.run([program, "--dump-initial-weights", weights, "--set", f"model={settings['model']}", "--set",
                    f"seed={settings['seed']}"], check=True)
    job = {**settings, **job, "weights": str(weights), "text": str(folder / "text.txt")}
    output = subprocess.run([sys.executable, pathlib.Path(__file__).parent / script], input=json.dumps(job), text=True,
                            check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def same_losses(name, ours, theirs, steps):
    assert len(ours) == len(theirs) == steps, (name, len(ours), len(theirs))
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
    print(f"{name:50s} loss {ours[0]:.4f} → {ours[-1]:.4f}, worst relative difference {worst:.1e}", flush=True)
    return worst < TOLERANCE
