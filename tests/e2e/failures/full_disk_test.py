"""A disk that gets full while a job records and stays full to the end, whatever room is given back: the job goes on, and who
runs it says what is missing."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

# A disk of its own, seen by nobody else.
ALONE = ['unshare', '--user', '--map-root-user', '--mount']
# Runs a command with the disk $0, which has less room than the command needs, and which somebody fills as soon as a rank has
# written a little, again and again; copies out what is on it in the end.
FILLING = '''
mount -t tmpfs -o size=2500k none "$0"
"$@" & job=$!
written() { cat "$0"/*/rank_0.sqlite* 2>/dev/null | wc -c; }
is_time() { [ $(written) -ge 1000000 ]; }
while kill -0 $job 2>/dev/null && ! is_time; do sleep 0.02; done
while kill -0 $job 2>/dev/null; do cat /dev/zero >> "$0/filler" 2>/dev/null; sleep 0.01; done
wait $job; code=$?
rm -f "$0/filler"
cp -r "$0" "$0.copy"; umount "$0" && cp -r "$0.copy/." "$0"
exit $code
'''
# The same without anybody who fills it; as large as $1 says.
SMALL = '''
size=$1; shift
mount -t tmpfs -o size=$size none "$0"
"$@"; code=$?
cp -r "$0" "$0.copy"; umount "$0" && cp -r "$0.copy/." "$0"
exit $code
'''

# The same with room for many runs, filled once a second one has begun.
FILLING_THE_SECOND = FILLING.replace('2500k', '64m').replace('is_time() { [ $(written) -ge 1000000 ]; }',
                                                             'is_time() { [ $(ls "$0"/*/run.sqlite 2>/dev/null | wc -l) -ge 2 ]; }')


class FullDisk(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        if subprocess.run([*ALONE, 'mount', '-t', 'tmpfs', 'none', '/mnt'], capture_output=True).returncode:
            self.skipTest('no disk can be mounted here')
        self.runs.mkdir()

    def with_filling_disk(self, *command):
        done = subprocess.run([*ALONE, 'bash', '-c', FILLING, str(self.runs), harness.SHARDLENS, *command],
                              capture_output=True, text=True, timeout=300, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        first_lines = done.stdout.splitlines()[:3]
        self.assertIn('· incomplete ·', first_lines[0], done.stdout + done.stderr)
        self.assertTrue(first_lines[2].startswith('Incomplete: '), first_lines)
        return first_lines[2]

    def assert_what_was_recorded_is_whole(self, name):
        """If the end found no room either, the run is cut off; it is never called done."""
        report = harness.wait_until(lambda: self.ended(name), 60, 'the run to be taken for cut off')
        self.assertIn(report['run']['status'], ('incomplete', 'failed'))
        self.assertIn('disk', report['run']['reason'])
        self.shardlens('verify', name)
        return report

    def ended(self, name):
        report = self.json('report', name)
        return report if report['run']['status'] != 'running' else None

    def test_a_training_goes_on_and_every_step_is_in_the_file_or_counted(self):
        reason = self.with_filling_disk('run', *harness.QUICK, '--ranks', '1', '--steps', '150', '--name', 'full',
                                        '--runs-dir', str(self.runs))
        report = self.assert_what_was_recorded_is_whole('full')
        missing = int(re.search(r'([\d,]+) steps?', reason)[1].replace(',', ''))
        self.assertEqual(len(report['steps']) + missing, 150)

    def test_a_sweep_keeps_what_is_finished_and_goes_on_once_there_is_room(self):
        sweep = ['sweep', *harness.QUICK, '--ranks', '1', '--steps', '5', '--over', 'bucket_cap_mb=1,25', '--repeat', '1',
                 '--name', 'full', '--runs-dir', str(self.runs), '--json']
        done = subprocess.run([*ALONE, 'bash', '-c', SMALL, str(self.runs), '700k', harness.SHARDLENS, *sweep],
                              capture_output=True, text=True, timeout=300, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('disk', done.stderr)
        self.assertIn('sweep --resume full', done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result['status'], [point['verdict'] for point in result['points']]), ('failed', ['not_run'] * 2))
        result = self.json('sweep', '--resume', 'full')
        self.assertEqual([len(point['runs']) for point in result['points']], [1, 1])

    def test_what_ended_before_a_search_met_a_full_disk_is_not_run_again(self):
        search = ['tune', *harness.QUICK, '--ranks', '2', '--steps', '12', '--over', 'bucket_cap_mb=25,1,4', '--name', 'full',
                  '--budget', '10m']
        done = subprocess.run([*ALONE, 'bash', '-c', FILLING_THE_SECOND, str(self.runs), harness.SHARDLENS, *search,
                               '--runs-dir', str(self.runs), '--json'],
                              capture_output=True, text=True, timeout=300, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('disk', done.stderr)
        self.assertIn('--name full', done.stderr)
        first = json.loads(done.stdout)
        self.assertEqual(first['status'], 'failed')
        self.assertEqual([run['why'] for run in first['runs']], ['the start'], done.stderr)
        kept = self.json('report', first['runs'][0]['run'])['run']['folder']
        found = self.json(*search, timeout=400)
        self.assertEqual(found['status'], 'done')
        self.assertEqual((found['runs'][0]['run'], found['runs'][0]['why']), (first['runs'][0]['run'], None))
        self.assertEqual(self.json('report', first['runs'][0]['run'])['run']['folder'], kept)

    def test_a_program_that_is_recorded_goes_on_and_what_is_missing_is_counted(self):
        reason = self.with_filling_disk('record', '--name', 'full', '--runs-dir', str(self.runs), '--',
                                        str(harness.BIN / 'nvtx_program'), 'steps', '0', '150', '20', '400')
        report = self.assert_what_was_recorded_is_whole('full')
        missing = int(re.search(r'([\d,]+) records? could not be written', reason)[1].replace(',', ''))
        [[spans]] = self.rows('full', 'select count(*) from span')
        self.assertGreaterEqual(missing + spans + len(report['steps']), 150 * 401)


if __name__ == '__main__':
    harness.main()
