"""What the comparisons with PyTorch have in common: our ranks' runs, PyTorch's as another process, two loss curves."""
import json
import pathlib
import subprocess
import sys

import ranks

TOLERANCE = 1e-5


def train(program, folder, name, count, settings, data=None):
    """Trains with `count` ranks of ours on folder/text.txt, unless other data is given; the run's folder."""
    stem = f"{name}_{count}".replace(" ", "_").replace(",", "")
    file = ranks.write_settings(folder / f"{stem}.yaml", **settings, data=data or folder / "text.txt")
    job = ranks.Job(program, folder / stem, file, count)
    codes = job.wait()
    assert codes == [0] * count, f"{name}: exit codes {codes}\n" + "\n".join(job.log(r) for r in range(count))
    return job.run


def ask(script, job):
    """What `reference/script` prints for a job: see it for what it reads and prints."""
    output = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "reference" / script],
                            input=json.dumps(job), text=True, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output.strip().splitlines()[-1])


def reference(script, program, folder, settings, **job):
    """What `script` prints for the weights and the text that ours train with."""
    weights = folder / "weights.pt"
    subprocess.run([program, "--dump-initial-weights", weights, "--set", f"model={settings['model']}", "--set",
                    f"seed={settings['seed']}"], check=True)
    return ask(script, {**settings, **job, "weights": str(weights), "text": str(folder / "text.txt")})


def exported(shardlens, run, kind):
    return subprocess.run([shardlens, "export", run, "--format", kind], check=True, text=True, stdout=subprocess.PIPE).stdout


def same_losses(name, ours, theirs, steps, tolerance=TOLERANCE):
    assert len(ours) == len(theirs) == steps, (name, len(ours), len(theirs))
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
    print(f"{name:50s} loss {ours[0]:.4f} → {ours[-1]:.4f}, worst relative difference {worst:.1e}", flush=True)
    return worst < tolerance
