"""Every command ends within a second of SIGINT or SIGTERM, and what it has half made goes."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, virtual_screen  # noqa: E402

EVENTS = 3_000_000
PATIENCE = float(os.environ.get('SHARDLENS_TEST_PATIENCE', '1'))  # seconds; more where the machine is busy


def listens(program):
    """Whether it ignores SIGPIPE, as it does from then on. Of signals that it waits for the system shows none as blocked."""
    status = pathlib.Path(f'/proc/{program.pid}/status').read_text()
    return int(re.search(r'^SigIgn:\s*(\w+)', status, re.MULTILINE)[1], 16) & 1 << signal.SIGPIPE - 1


def quickest(stop):
    """Of up to three tries, since the machine may be busy with something else in one of them."""
    took = stop()
    for _ in range(2):
        if took is None or took < PATIENCE:
            break
        took = min(took, stop() or took)
    return took


class Signals(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / 'tmp'
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def files(self):
        # Any command may begin the library's own list; that it is whole, or made whole by the next command, is looked at apart.
        own = ('-shm', '-wal', '.library.sqlite', '.library.sqlite-journal')
        return sorted(str(p) for p in self.folder.rglob('*') if p.is_file() and not p.name.endswith(own))

    def stopped(self, arguments, number, after, says):
        """Starts the command, sends the signal; how long it took to end after it, None if it was over before."""
        program = subprocess.Popen([harness.SHARDLENS, *arguments, '--runs-dir', str(self.runs)],
                                   stdout=subprocess.PIPE if says else subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL, cwd=self.folder, env=self.environment)
        if says:  # before it listens the system would end it without a word
            harness.wait_until(lambda: program.poll() is not None or listens(program), 30, f'{arguments} to listen to signals')
        try:
            _, said = program.communicate(timeout=after)
            self.assertEqual(program.returncode, 0, said)
            return None
        except subprocess.TimeoutExpired:
            pass
        sent = time.monotonic()
        program.send_signal(number)
        printed, said = program.communicate(timeout=30)
        if program.returncode == 0:  # already at its end when the signal came: what it made is whole
            return None
        took = time.monotonic() - sent
        if says:
            self.assertEqual((program.returncode, printed), (1, ''), said)
            self.assertIn(says, said)
        return took

    def assert_ends(self, *arguments, after=(0.3, 0.8), is_long=False, says=None):
        for number, delay in zip((signal.SIGINT, signal.SIGTERM), after):
            before = self.files()
            took = quickest(lambda: self.stopped(arguments, number, delay, says))
            if took is None:
                self.assertFalse(is_long, f'{arguments} was over before signal {number}')
                for path in set(self.files()) - set(before):  # it was quick: of what it made nothing is half
                    os.unlink(path)
                continue
            self.assertLess(took, PATIENCE, f'{arguments}, signal {number}')
            self.assertEqual(self.files(), before, f'{arguments}, signal {number} left something')
            if (self.runs / '.library.sqlite').exists():
                self.shardlens('runs')

    def trace(self, events):
        file = self.folder / 'large.json'
        with file.open('w') as out:
            out.write('{"traceEvents":[')
            for i in range(events):
                out.write('%s{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":5,'
                          '"args":{"device":0,"stream":7}}' % (',' if i else '', 1000000 + 10 * i))
            out.write(']}')
        return str(file)

    def test_commands_that_write(self):
        self.assert_ends('generate', 'half', '--ranks', '4', '--events', '200000000', is_long=True, says='stopped')
        self.assertFalse(list(self.runs.iterdir()), 'a half-made run was left')
        trace = self.trace(1_000_000)
        began = time.monotonic()
        self.shardlens('import', trace, '-o', 'whole', timeout=120)
        took = time.monotonic() - began  # on some machines less than a second
        before = sorted(self.runs.iterdir())
        self.assert_ends('import', trace, '-o', 'half', after=(took / 8, took / 4), is_long=True, says='stopped')
        self.assertEqual(sorted(self.runs.iterdir()), before, 'a half-made run was left')

    def test_commands_that_read(self):
        self.shardlens('generate', 'large', '--ranks', '2', '--events', str(EVENTS), timeout=300)
        self.shardlens('pack', 'large', '-o', str(self.folder / 'other.shardlens'), timeout=300)
        self.assert_ends('pack', 'large', '-o', str(self.folder / 'large.shardlens'), says='stopped')
        self.assert_ends('export', 'large', '-o', str(self.folder / 'large.sqlite'), says='stopped')
        self.assert_ends('verify', 'large')
        self.assert_ends('query', 'large', 'select count(*) from kernel a, kernel b where a.end_ns < b.start_ns',
                         is_long=True, says='interrupted')
        self.assert_ends('report', 'large', '--json')
        self.assert_ends('compare', 'large', str(self.folder / 'other.shardlens'))
        screen = virtual_screen.VirtualScreen()
        self.addCleanup(screen.close)
        self.environment['DISPLAY'] = screen.environment['DISPLAY']
        self.assert_ends('screenshot', 'large', '-o', str(self.folder / 'large.png'), '--workspace', 'inspect')
        self.assert_ends('plan', '--set', 'model=llama-8b', after=(0.01, 0.02))

    def test_a_calibration(self):
        self.assert_ends('calibrate', '--device', 'cpu', '--ranks', '2', '--seconds', '60', after=(0.3, 4), is_long=True,
                         says='error: stopped')
        self.assertEqual(list(self.temporary.iterdir()), [])

    def stopped_sweep(self, number):
        """How long one took to end after the signal; what it has half made makes way with the next."""
        sweep = self.start('sweep', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--over', 'bucket_cap_mb=1,25',
                           '--name', 'caps', '--json')
        harness.wait_until(lambda: len(self.rank_processes()) == 2, 30, 'the ranks')
        sent = time.monotonic()
        sweep.send_signal(number)
        out, err = sweep.communicate(timeout=30)
        took = time.monotonic() - sent
        self.assertEqual((sweep.returncode, json.loads(out)['status']), (0, 'stopped'), err)
        self.assertIn('sweep --resume caps', err)
        self.assertEqual(self.rank_processes(), [])
        return took

    def test_a_sweep_ends_at_once_and_can_go_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.assertLess(quickest(lambda: self.stopped_sweep(number)), PATIENCE)
        self.assertEqual(len(self.run_folders()), 1, 'the half-made run did not make way')

    def test_a_signal_while_a_failed_run_is_wound_up_ends_the_sweep(self):
        sweep = self.start('sweep', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--over', 'bucket_cap_mb=1,25',
                           '--name', 'caps', '--json')
        ranks = harness.wait_until(lambda: lines if len(lines := self.rank_processes()) == 2 else None, 30, 'the ranks')
        first, second = (int(line.split()[0]) for line in ranks)
        os.kill(first, signal.SIGSTOP)  # until it is killed, seconds later
        os.kill(second, signal.SIGKILL)
        harness.wait_until(lambda: not pathlib.Path(f'/proc/{second}').exists(), 30, 'its end to be noticed')
        sweep.send_signal(signal.SIGINT)
        out, err = sweep.communicate(timeout=60)
        self.assertEqual((sweep.returncode, json.loads(out)['status']), (0, 'stopped'), err)
        self.assertEqual(len(self.run_folders()), 1, 'the next run was begun')

    @unittest.skipUnless((harness.BIN / 'bench_recorder').exists(), 'benchmarks are not built')
    def test_a_benchmark_leaves_no_process_and_no_file(self):
        self.assert_ends('bench', 'recorder', after=(0.5, 1), is_long=True)
        self.assertEqual(harness.process_lines('bench_recorder'), [])
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == '__main__':
    harness.main()
