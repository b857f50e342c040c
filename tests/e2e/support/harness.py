"""Starts the real programs for the end-to-end tests: shardlens in a temporary library of runs."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]).resolve()
SHARDLENS = str(BIN / 'shardlens')
TORCH_PYTHON = os.environ.get('SHARDLENS_TORCH_PYTHON', str(ROOT / '.deps' / 'venv' / 'bin' / 'python3'))
# A shell's & has it ignored, and by whatever is started here, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
QUICK = ['--device', 'cpu', '--set', 'batch_per_rank=2', '--set', 'sequence_length=32']


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)


def settings(changes):
    """Options of the command line: of knobs and their values, or of 'knob=value'."""
    each = (f'{knob}={value}' for knob, value in changes.items()) if isinstance(changes, dict) else changes
    return [part for change in each for part in ('--set', change)]


def fake_gpu(**variables):
    """The environment in which PyTorch, ours and others', finds GPUs that compute nothing."""
    folder = BIN / 'fake_gpu'
    return os.environ | {'LD_PRELOAD': str(folder / 'libcupti.so.13'), 'LD_LIBRARY_PATH': str(folder), 'FAKE_GPU_COUNT': '8',
                         **variables}


def is_alive(process):
    """Of its folder in /proc: whether it is there, and not as a zombie that nobody reaps."""
    try:
        return (process / 'stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def name_of(process):
    """Of its folder in /proc: the name of the program it runs, nothing once it is gone."""
    try:
        return (process / 'comm').read_text().strip()
    except OSError:
        return ''


def process_lines(needle):
    """Command lines of live processes that contain `needle`."""
    lines = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
        except OSError:
            continue
        if needle in line and is_alive(entry):
            lines.append(f'{entry.name} {line}')
    return lines


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f'waited {seconds} s for {what}')


class ShardlensTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='shardlens-e2e-'))
        self.runs = self.folder / 'runs'

    def tearDown(self):
        left = process_lines(str(self.folder))
        for line in left:  # they would take the other tests' time
            with contextlib.suppress(ProcessLookupError): os.kill(int(line.split()[0]), signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.assertEqual(left, [], 'processes were left behind')

    def shardlens(self, *arguments, code=0, timeout=600, **options):
        """Runs the program with this test's library; checks the exit code."""
        done = subprocess.run([SHARDLENS, *arguments, '--runs-dir', str(self.runs)],
                              capture_output=True, text=True, timeout=timeout, cwd=self.folder,
                              stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, code,
                         f'{arguments}\nstdout: {done.stdout[-3000:]}\nstderr: {done.stderr[-3000:]}')
        return done

    def start(self, *arguments):
        return subprocess.Popen([SHARDLENS, *arguments, '--runs-dir', str(self.runs)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL, cwd=self.folder)

    def json(self, *arguments, code=0, **options):
        return json.loads(self.shardlens(*arguments, '--json', code=code, **options).stdout)

    def rows(self, run, sql):
        return self.json('query', str(run), sql)['rows']

    def log(self, report):
        """Of its first rank."""
        return (self.folder / report['run']['folder'] / 'rank_0.log').read_text()

    def run_folders(self):
        return [path for path in self.runs.iterdir() if (path / 'run.sqlite').exists()]

    def rank_processes(self):
        return [line for line in process_lines(str(self.runs)) if 'shardlens-rank' in line]
