"""A search for better settings with the real programs: what it runs, what it says of it, how it is stopped and goes on."""
import pathlib
import signal
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

RUN = [*harness.QUICK, '--ranks', '2', '--steps', '12']
JOB = [*RUN, '--link', 'latency_us=10000,gbps=10']


class Tune(harness.ShardlensTest):
    def tune(self, *arguments):
        return self.json('tune', *JOB, *arguments, timeout=400)

    def measured(self, run):
        return self.json('report', run)['summary']['step_ms']['mean']

    # Buckets of 64 KiB pay 20 ms of latency each: 25 MiB, one bucket, must be found, and is far better than any noise, also
    # where other programs take most of the cores.
    def test_the_better_cap_is_found_confirmed_and_told(self):
        arguments = ['tune', *RUN, '--link', 'latency_us=20000,gbps=10', '--set', 'bucket_cap_mb=0.0625',
                     '--over', 'bucket_cap_mb=0.0625,0.125,25', '--budget', '8m', '--name', 'caps']
        found = self.json(*arguments, timeout=600)
        self.assertEqual((found['schema'], found['status'], found['goal'], found['points']), (1, 'done', 'step_time', 3))
        self.assertEqual(found['start']['settings'], {'bucket_cap_mb': 0.0625})
        self.assertEqual(found['best']['settings'], {'bucket_cap_mb': 25.0})
        self.assertEqual(found['apply'], '--set bucket_cap_mb=25')
        self.assertEqual(found['runs'][0]['why'], 'the start')
        self.assertIsNone(found['runs'][0]['predicted'])
        self.assertEqual([run['why'] for run in found['runs']].count('confirms'), 4)
        self.assertEqual(found['runs'][-1]['why'], 'confirms')
        # The run by which the best was found would flatter it: only those that confirm it count.
        for side, first in ((found['start'], 0), (found['best'], 1)):
            self.assertEqual(len(side['runs']), 3)
            self.assertAlmostEqual(side['value'], statistics.mean(self.measured(run) for run in side['runs'][first:]), places=3)
        self.assertLess(found['change_percent']['mean'], 0)
        self.assertLess(found['change_percent']['low'], found['change_percent']['mean'])
        self.assertIn('bucket_cap_mb=25', found['verdict'])
        # What was predicted of each from the start is kept with it, and held against it.
        kept = {run['name']: run for run in self.json('predict', '--history')['predictions']}
        start = found['start']['runs'][0]
        others = [run['run'] for run in found['runs'] if run['run'] not in found['start']['runs']]
        self.assertGreaterEqual(len(others), 3)
        self.assertEqual(set(kept), set(others))
        for run in others:
            self.assertEqual(kept[run]['from'], start)
            cap = self.json('report', run)['run']['settings']['bucket_cap_mb']
            self.assertEqual(kept[run]['predicted_ms'], self.json('predict', start, '--set', f'bucket_cap_mb={cap}')['step_ms'])
        # What was found is a sweep's runs: they are not run again.
        again = self.json(*arguments, timeout=600)
        self.assertEqual(len(again['runs']), len(found['runs']))
        self.assertEqual({run['why'] for run in again['runs']}, {None})
        self.assertEqual(again['best'], found['best'])

    # 100 steps are what a run has that says nothing; a search that is told nothing makes fewer.
    def test_runs_have_the_steps_that_the_settings_file_says(self):
        file = self.folder / 'job.yaml'
        file.write_text('steps: 100\n')
        found = self.json('tune', str(file), *harness.QUICK, '--ranks', '2', '--over', 'bucket_cap_mb=1,25', '--budget', '1s', timeout=200)
        self.assertEqual(len(self.json('report', found['start']['runs'][0])['steps']), 100)

    # The grid that it chooses itself: every strategy that trains the same, each with the knobs that it obeys.
    def test_strategies_and_their_knobs_are_searched_unless_told_otherwise(self):
        found = self.tune('--budget', '1s', '--name', 'all')
        self.assertEqual([run['why'] for run in found['runs']], ['the start'])
        self.assertIn('budget', found['reason'])
        self.assertEqual(found['best']['settings'], found['start']['settings'])
        self.assertIsNone(found['change_percent']['mean'])
        self.assertIs(found['is_sure'], False)
        knobs = {}
        for point in [found['start'], *found['not_tried']]:
            knobs.setdefault(point['settings'].pop('sharding_strategy'), set()).update(point['settings'])
        self.assertEqual(knobs, {'ddp': {'bucket_cap_mb'}, 'zero1': {'bucket_cap_mb'}, 'no_shard': set(),
                                 'shard_grad_op': {'forward_prefetch'} | knobs['shard_grad_op'],
                                 'full_shard': {'backward_prefetch', 'forward_prefetch'} | knobs['full_shard']})
        self.assertLessEqual(found['points'], 36)
        for point in found['not_tried']:
            self.assertGreater(point['predicted'], 0, point['why'])
        self.assertIn('is a search', self.shardlens('sweep', '--resume', 'all', code=2).stderr)
        one_rank = self.shardlens('tune', *harness.QUICK, '--ranks', '1', '--steps', '12', code=2).stderr
        self.assertIn('One rank reduces nothing', one_rank)

    def test_what_cannot_be_searched_is_refused_by_name(self):
        self.assertIn('bucket_cap', self.shardlens('tune', *JOB, '--over', 'buckt_cap_mb=1', code=2).stderr)
        self.assertIn('step_time', self.shardlens('tune', *JOB, '--goal', 'speed', code=2).stderr)
        self.assertIn('budget', self.shardlens('tune', *JOB, '--budget', 'soon', code=2).stderr)
        self.assertIn('model', self.shardlens('tune', *JOB, '--set', 'model=none', '--over', 'bucket_cap_mb=1,2', code=2).stderr)

    def test_stopped_by_its_user_it_keeps_what_is_finished(self):
        arguments = ['tune', *JOB, '--over', 'bucket_cap_mb=0.125,1,25', '--set', 'bucket_cap_mb=0.125', '--name', 'stopped', '--json']
        search = self.start(*arguments)
        for line in search.stderr:
            if line.startswith('Run 1'):
                break
        search.send_signal(signal.SIGINT)
        search.communicate(timeout=60)
        found = self.tune(*arguments[1 + len(JOB):-1], '--budget', '1s')
        self.assertEqual(found['status'], 'done')
        self.assertEqual(found['runs'][0]['why'], None, 'the start is not run again')
        names = [run['name'] for run in self.json('runs')]
        self.assertEqual(len(names), len(set(names)))


if __name__ == '__main__':
    harness.main()
