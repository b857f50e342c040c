"""Ranks that die, hang, disagree or are stopped: the run ends, says why, and stays readable."""
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402


class FailingRuns(harness.ShardlensTest):
    device = 'cpu'
    environment = None

    def run_failing(self, name, *settings, timeout=90, steps='40'):
        report = self.json('run', *harness.QUICK[2:], '--device', self.device, '--ranks', '2', '--steps', steps, '--name',
                           name, *settings, code=1, timeout=timeout, env=self.environment)
        self.assertEqual(report['run']['status'], 'failed')
        return report

    def assert_reason_names_rank_1(self, report):
        # It is the reason itself, or ends what the rank that waited for it had to say.
        reason = report['run']['reason']
        self.assertTrue(reason.startswith('rank 1 ') or '; rank 1 ' in reason, reason)

    def assert_diagnosis(self, name, text):
        printed = self.shardlens('report', name).stdout
        self.assertIn(text, printed)
        self.assertIn('last completed', printed.lower())


class Hangs:
    """What both backends have to say of a collective for which a rank waits in vain."""

    def test_a_rank_that_hangs_is_named(self):
        report = self.run_failing('hang', '--set', 'inject=rank=1,step=5,phase=backward,hang',
                                     '--set', 'collective_timeout_s=4')
        self.assert_reason_names_rank_1(report)
        self.assert_reason_tells_of_the_collective(report)
        self.assert_diagnosis('hang', 'rank 1')

    def test_a_skipped_collective_is_found(self):
        report = self.run_failing(
            'skip', '--set', 'inject=rank=1,step=5,phase=backward,skip_collective',
            '--set', 'collective_timeout_s=4', '--set', 'bucket_cap_mb=1')
        self.assert_reason_tells_of_the_collective(report)
        self.assertTrue(report['run']['reason'].endswith('; rank 1 left out a collective'), report['run']['reason'])
        self.assert_diagnosis('skip', 'rank 1')

    def test_unequal_sizes_are_found(self):
        report = self.run_failing('size', '--set', 'inject=rank=1,step=5,phase=backward,unequal_size',
                                     '--set', 'collective_timeout_s=4', '--set', 'bucket_cap_mb=1')
        self.assert_reason_tells_of_the_collective(report)
        self.assert_diagnosis('size', 'bytes')

    def assert_reason_tells_of_the_collective(self, report):
        self.assertRegex(report['run']['reason'],
                         r'^rank (\d) failed: step 5, backward: collective \d+ \(all_reduce of \d+ bytes float32 for bucket \d+\) '
                         rf'failed on rank \1: {self.why}')


class HangsOfGpus(Hangs, FailingRuns):
    device = 'cuda'
    environment = harness.fake_gpu()
    why = r'the other ranks did not take part within 4 s \(collective_timeout_s\)'


class Failures(Hangs, FailingRuns):
    why = ''  # or the first that lost its patience has closed the connection

    def test_a_killed_rank_ends_the_run(self):
        job = self.start('run', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--name', 'k')
        self.wait_for_steps(job, 'k')
        victim = self.rank_process(1)
        os.kill(victim, signal.SIGKILL)
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, errors)
        report = self.json('report', 'k')
        self.assertEqual(report['run']['status'], 'failed')
        self.assertIn('rank 1', report['run']['reason'])
        self.assertGreater(len(report['steps']), 0)

    def test_a_stopped_rank_is_named_after_the_timeout(self):
        job = self.start('run', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--name', 's',
                         '--set', 'collective_timeout_s=4')
        self.wait_for_steps(job, 's')
        os.kill(self.rank_process(1), signal.SIGSTOP)
        _, errors = job.communicate(timeout=90)
        self.assertEqual(job.returncode, 1, errors)
        self.assert_diagnosis('s', 'rank 1')
        self.assert_reason_names_rank_1(self.json('report', 's'))

    def test_sigterm_stops_all_ranks_after_the_same_step(self):
        job = self.start('run', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--name', 'stop')
        self.wait_for_steps(job, 'stop')
        job.send_signal(signal.SIGTERM)
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, errors)
        report = self.json('report', 'stop')
        self.assertEqual(report['run']['status'], 'stopped')
        last = self.shardlens('query', 'stop', '--format', 'csv',
                              'select count(distinct n) from (select max(step) as n from step group by rank)').stdout
        self.assertEqual(last.split()[-1], '1')
        self.assertEqual(self.rank_processes(), [])

    def test_no_rank_outlives_a_killed_launcher(self):
        job = self.start('run', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--name', 'o')
        self.wait_for_steps(job, 'o')
        self.assertEqual(len(self.rank_processes()), 2)
        job.kill()
        job.communicate()
        harness.wait_until(lambda: not self.rank_processes(), 10, 'the ranks to die')
        self.assertGreater(len(self.json('report', 'o')['steps']), 0)

    def test_a_signal_to_one_rank_stops_all_and_the_run_says_which_and_when(self):
        job = self.start('run', *harness.QUICK, '--ranks', '2', '--steps', '100000', '--name', 'i')
        self.wait_for_steps(job, 'i')
        os.kill(self.rank_process(1), signal.SIGINT)
        printed, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, 'whoever started the run did not ask for that')
        report = self.json('report', 'i')
        self.assertEqual(report['run']['status'], 'stopped')
        self.assertRegex(report['run']['reason'], r'^stopped after \d+ of 100,000 steps: rank 1 was sent SIGINT$')
        self.assertIn(report['run']['reason'], errors)
        self.assertIn('Stopped: ' + report['run']['reason'], printed.splitlines()[:4])

    def test_a_full_disk_stops_the_recording_and_not_the_run(self):
        text = self.folder / 'text.txt'
        text.write_text('small enough for any limit ' * 2000)
        # A limit on the size of files stands for a full disk. The run is several times that: how many bytes a step takes
        # depends on the machine.
        command = ['bash', '-c', 'ulimit -f 300; exec "$@"', 'bash', harness.SHARDLENS, 'run', *harness.QUICK, '--set',
                   f'data={text}', '--ranks', '1', '--steps', '120', '--name', 'full', '--runs-dir', str(self.runs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        report = self.json('report', 'full')
        self.assertEqual(report['run']['status'], 'incomplete')
        reason = report['run']['reason']
        self.assertIn('disk is full', reason)
        first_lines = done.stdout.splitlines()[:3]
        self.assertIn('· incomplete ·', first_lines[0])
        self.assertIn('Incomplete: ' + reason, first_lines)
        self.assertIn(reason, done.stderr)
        # Every step is in the file or counted, and events go on being counted.
        steps, events = (int(re.search(rf'([\d,]+) {what}s', reason)[1].replace(',', ''))
                         for what in ('step', 'event'))
        self.assertEqual(len(report['steps']) + steps, 120)
        self.assertGreater(events, 1000 * steps, 'a step has more than twice as many operators')

    def wait_for_steps(self, job, name):
        def recorded():
            self.assertIsNone(job.poll(), 'the job ended early')
            done = subprocess.run(
                [harness.SHARDLENS, 'query', name, 'select count(*) from step', '--format', 'csv',
                 '--runs-dir', str(self.runs)], capture_output=True, text=True)
            return done.returncode == 0 and int(done.stdout.split()[-1]) >= 6
        harness.wait_until(recorded, 60, 'the first steps')

    def rank_process(self, rank):
        for line in self.rank_processes():
            process = int(line.split()[0])
            environment = pathlib.Path(f'/proc/{process}/environ').read_bytes().split(b'\0')
            if f'RANK={rank}'.encode() in environment:
                return process
        raise AssertionError(f'rank {rank} is not running')


if __name__ == '__main__':
    harness.main()
