"""Sweeps with the real programs: a whole one, one that is killed again and again, points that fail, bad input."""
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

SWEEP = ['sweep', *harness.QUICK, '--ranks', '1', '--steps', '5']
SEED = int(os.environ.get('SHARDLENS_TEST_SEED', 1))


class Sweeps(harness.ShardlensTest):
    def names(self):
        return sorted(run['name'] for run in self.json('runs'))

    def check_predictions(self, sweep):
        for point in sweep['points']:  # one rank reduces nothing
            self.assertIsNone(point['predicted_ms'])
            self.assertTrue(point['not_predicted'])
        self.assertIsNone(sweep['predicted_from'])

    def test_every_other_point_is_predicted_from_the_first_run_that_can(self):
        sweep = self.json('sweep', *harness.QUICK, '--ranks', '2', '--steps', '12', '--over', 'bucket_cap_mb=0.5,1,2',
                          '--repeat', '1', '--name', 'caps', '--link', 'latency_us=200,gbps=1')
        source = sweep['predicted_from']
        others = [point for point in sweep['points'] if source not in point['runs']]
        self.assertEqual(len(others), 2)
        for point in others:
            cap = point['settings']['bucket_cap_mb']
            alone = self.json('predict', source, '--set', f'bucket_cap_mb={cap}')
            self.assertAlmostEqual(point['predicted_ms']['mean'], alone['step_ms']['mean'], places=3)
            self.assertAlmostEqual(point['predicted_ms']['low'], alone['step_ms']['low'], places=3)
            self.assertIsNone(point['not_predicted'])
        own, = (point for point in sweep['points'] if source in point['runs'])
        self.assertIsNone(own['predicted_ms'])
        self.assertIn('this one', own['not_predicted'])

    # Its runs have only the steps behind the checkpoint.
    def test_points_that_resume_a_checkpoint_have_results(self):
        run = self.json('run', *harness.QUICK, '--ranks', '1', '--steps', '6', '--set', 'save_every=6', '--name', 'first')
        checkpoint = self.folder / run['run']['folder'] / 'checkpoints' / 'step_000006'
        arguments = ['sweep', *harness.QUICK, '--ranks', '1', '--steps', '12', '--set', f'resume={checkpoint}', '--over', 'bucket_cap_mb=1,25',
                     '--repeat', '1', '--name', 'resumed']
        for _ in range(2):  # as they ran, and as they are found again
            sweep = self.json(*arguments)
            self.assertEqual(sweep['status'], 'done')
            for point in sweep['points']:
                self.assertNotEqual(point['verdict'], 'failed')
                name, = point['runs']
                self.assertEqual(len(self.json('report', name)['steps']), 6)
        self.assertEqual(self.names(), sorted(['first', *(name for point in sweep['points'] for name in point['runs'])]))

    def test_a_sweep_is_repeated_told_and_not_run_again(self):
        arguments = [*SWEEP, '--over', 'bucket_cap_mb=1,25', '--repeat', '2', '--name', 'caps', '--seed', '5']
        done = self.shardlens(*arguments, '--json')
        sweep = json.loads(done.stdout)
        self.assertIn('Run 4 of 4', done.stderr)
        self.assertEqual((sweep['schema'], sweep['name'], sweep['status'], sweep['seed']), (1, 'caps', 'done', 5))
        self.assertEqual([point['settings'] for point in sweep['points']], [{'bucket_cap_mb': 1.0}, {'bucket_cap_mb': 25.0}])
        for point in sweep['points']:
            self.assertEqual(len(point['runs']), 2)
            self.assertLess(point['step_ms']['low'], point['step_ms']['mean'])
            self.assertGreater(point['step_ms']['high'], point['step_ms']['mean'])
            self.assertGreater(point['peak_memory_bytes'], 1 << 20)
            self.assertIs(point['stopped_early'], False)
            steps = [self.json('report', run)['summary']['step_ms']['mean'] for run in point['runs']]
            self.assertAlmostEqual(math.sqrt(math.prod(steps)), point['step_ms']['mean'], places=3)
        self.check_predictions(sweep)
        self.assertIn(sweep['best']['settings'], [point['settings'] for point in sweep['points']])
        self.assertIn('bucket_cap_mb=', sweep['best']['why'])
        self.assertNotIn('bucket_cap_mb', sweep['settings'])
        self.assertEqual(self.names(), ['caps, cap 1, run 1', 'caps, cap 1, run 2', 'caps, cap 25, run 1', 'caps, cap 25, run 2'])
        self.assertEqual({tuple(run['tags']) for run in self.json('runs')}, {('caps',)})

        folders = self.run_folders()
        again = self.shardlens('sweep', '--resume', 'caps')
        self.assertIn('all 4 runs are there already', again.stderr)
        self.assertIn('caps · done · 2 points, 2 times each', again.stdout)
        other = self.shardlens(*arguments, '--set', 'weight_decay=0.5', code=2)
        self.assertIn('weight_decay: 0.01 there, 0.5 here', other.stderr)
        self.assertEqual(self.run_folders(), folders)

    def test_killed_at_any_moment_nothing_is_lost_and_nothing_runs_twice(self):
        print(f'SHARDLENS_TEST_SEED={SEED}')
        chance = random.Random(SEED)
        arguments = [*SWEEP, '--over', 'bucket_cap_mb=1,25', '--repeat', '2', '--name', 'caps']
        finished = {}
        for _ in range(3):
            sweep = self.start(*arguments)
            try:
                sweep.wait(chance.uniform(0, 6))
            except subprocess.TimeoutExpired:
                sweep.send_signal(signal.SIGKILL)
            sweep.communicate()
            harness.wait_until(lambda: not self.rank_processes(), 10, 'the ranks to follow their launcher')
            if not self.runs.exists():
                continue
            runs = {run['name']: run['folder'] for run in self.json('runs') if run['status'] == 'done'}
            self.assertEqual(runs, {**runs, **finished}, 'a finished run was lost or made again')
            finished = runs
        result = self.json(*arguments)
        self.assertEqual([len(point['runs']) for point in result['points']], [2, 2])
        runs = {run['name']: run['folder'] for run in self.json('runs')}
        self.assertEqual(len(runs), 4)
        self.assertEqual(runs, {**runs, **finished}, 'a finished run was lost or made again')
        self.assertEqual(len(self.run_folders()), 4)

    def test_a_point_that_fails_is_a_result_and_the_others_go_on(self):
        result = self.json(*SWEEP, '--over', 'inject=off;rank=0,step=2,phase=backward,oom', '--repeat', '2', code=1)
        good, bad = result['points']
        self.assertEqual((good['verdict'], len(good['runs'])), ('best', 2))
        self.assertEqual((bad['verdict'], bad['runs'], bad['step_ms']['mean']), ('failed', [], None))
        self.assertIn('rank 0', bad['reason'])
        self.assertIn('when it was run again', bad['reason'])
        self.assertIn('Not judged', result['best']['why'])
        self.assertEqual(len(self.run_folders()), 3, 'the second attempt takes the place of the first, and there is no other')

    def test_bad_input_is_refused_before_anything_runs(self):
        self.runs.mkdir()
        over = ['--over', 'bucket_cap_mb=1,25']

        def refused(*arguments, code=2):
            error = self.shardlens(*arguments, code=code).stderr
            self.assertEqual(list(self.runs.iterdir()), [])
            return error

        error = refused(*SWEEP, '--over', 'sharding_strategy=ddp,full_shard', '--set', 'reshard_after_forward=false')
        self.assertIn('1 of 2 points', error)
        self.assertIn('sharding_strategy=full_shard: reshard_after_forward', error)
        self.assertIn('--skip-refused', error)
        self.assertIn('bucket_cap_mb', refused(*SWEEP, '--over', 'bucket_cap=1,25'))
        self.assertIn('set and varied', refused(*SWEEP, *over, '--set', 'bucket_cap_mb=4'))
        self.assertIn('twice', refused(*SWEEP, '--over', 'bucket_cap_mb=1,1'))
        self.assertIn('--over is a grid', refused(*SWEEP, *over, '--points', 'points.yaml'))
        self.assertIn('Say what is to vary', refused(*SWEEP))
        self.assertIn('skip_steps', refused(*SWEEP[:-1], '3', *over))
        self.assertIn('cannot be the name of a sweep', refused(*SWEEP, *over, '--name', '../caps'))
        self.assertIn('--resume', refused(*SWEEP, *over, '--resume', 'caps'))
        self.assertIn('--repeat', refused(*SWEEP, *over, '--repeat', '0'))
        points = self.folder / 'points.yaml'
        points.write_text('- {bucket_cap_mb: 1}\n- {bucket_cap: 4}\n')
        self.assertIn('line 2', refused(*SWEEP, '--points', str(points)))
        self.assertIn("there is no sweep 'caps'", refused('sweep', '--resume', 'caps', code=1))

    def test_names_that_are_taken_are_refused_before_anything_runs(self):
        self.shardlens('generate', 'caps, cap 25, run 2', '--ranks', '1', '--events', '10')
        error = self.shardlens(*SWEEP, '--over', 'bucket_cap_mb=1,25', '--name', 'caps', code=2).stderr
        self.assertIn("'caps, cap 25, run 2'. Choose another name", error)
        self.assertEqual(self.names(), ['caps, cap 25, run 2'])


if __name__ == '__main__':
    harness.main()
