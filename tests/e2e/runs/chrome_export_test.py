"""Runs as Chrome's trace events: what is in the file, and what it says once it is imported again."""
import gzip
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

EXAMPLES = ('two_ranks', 'h200_full_shard', 'h200_ddp_cap_4')
# What the importer reckons from other rows than the recorder wrote: events alone.
FIGURES = ('compute_ms', 'comm_ms', 'overlap_ms', 'exposed_ms', 'exposed_wait_ms', 'exposed_transfer_ms', 'copy_ms',
           'exposed_copy_ms')


def events_in(file):
    with (gzip.open(file) if file.suffix == '.gz' else file.open('rb')) as text:
        return json.load(text)['traceEvents']


class ChromeExport(harness.ShardlensTest):
    def example(self, name):
        return harness.ROOT / 'assets' / 'runs' / f'{name}.shardlens'

    def export(self, run, output, *options):
        return self.json('export', str(run), '--format', 'chrome', '-o', str(output), *options)

    def report(self, run):
        return json.loads(self.shardlens('report', str(run), '--format', 'json').stdout)

    def test_a_file_for_each_rank_is_imported_with_the_same_figures(self):
        for name in EXAMPLES:
            with self.subTest(name):
                files = self.export(self.example(name), self.folder / name)['files']
                self.assertEqual([pathlib.Path(file).name for file in files], [f'{name}_rank{rank}.json.gz' for rank in (0, 1)])
                self.shardlens('import', str(self.folder / name))
                recorded, imported = self.report(self.example(name)), self.report(name)
                for figure in FIGURES:
                    self.assertAlmostEqual(imported['summary'][figure], recorded['summary'][figure], delta=1e-6, msg=figure)
                for phase in ('data', 'forward', 'backward', 'optimizer'):
                    self.assertAlmostEqual(imported['summary']['phase_ms'][phase], recorded['summary']['phase_ms'][phase],
                                           delta=1e-6, msg=phase)
                # By function and size, whatever they were for: a trace has no name of a bucket.
                calls = 'select function, bytes, data_type, count(*), sum(end_ns - start_ns) from collective group by 1, 2, 3 order by 1, 2, 3'
                self.assertEqual(self.rows(name, calls), self.rows(self.example(name), calls))

    def test_perfetto_sees_all_ranks_in_one_file(self):
        for name in EXAMPLES[:2]:
            with self.subTest(name):
                file = self.folder / f'{name}.json'
                told = self.export(self.example(name), file)
                self.assertEqual(told['files'], [str(file)])
                events = events_in(file)
                slices = [event for event in events if event['ph'] == 'X']
                self.assertEqual(told['events'], sum(event['ph'] in 'XiC' for event in events))
                self.assertEqual(sorted({event['args']['name'] for event in events if event['name'] == 'process_name'})[:1], ['rank 0'])
                tracks = {(event['pid'], event['tid']) for event in events if event['name'] == 'thread_name'}
                self.assertLessEqual({(event['pid'], event['tid']) for event in slices}, tracks)
                self.assertTrue(all(event['ts'] >= 0 for event in events if event['ph'] != 'M'))
                # Nested, as slices of one thread must be. On a stream a kernel may begin before the one before it has ended
                # (programmatic dependent launch), as in PyTorch's own traces, and several threads wait for a GPU.
                threads = {(event['pid'], event['tid']) for event in events if event['name'] == 'thread_name'
                           and event['args']['name'] in ('steps', 'phases', 'main thread', 'autograd thread', 'gloo')}
                for track in threads:
                    ends = []
                    for event in sorted((event for event in slices if (event['pid'], event['tid']) == track),
                                        key=lambda event: (event['ts'], -event['dur'])):
                        while ends and ends[-1] <= event['ts'] + 1e-3:
                            ends.pop()
                        self.assertLessEqual(event['ts'] + event['dur'], (ends or [float('inf')])[-1] + 1e-3, msg=(track, event))
                        ends.append(event['ts'] + event['dur'])
                for category, table in (('kernel', 'kernel'), ('cpu_op', 'op')):
                    durations = sum(event['dur'] for event in slices if event['cat'] == category)
                    [[count, total_ns]] = self.rows(self.example(name), f'select count(*), coalesce(sum(duration_ns), 0) from {table}')
                    self.assertEqual(sum(event['cat'] == category for event in slices), count)
                    self.assertAlmostEqual(durations * 1000, total_ns, delta=1e-3 * count + 1)
                self.check_arrows(events, slices)
                message = self.shardlens('import', str(file), code=1).stderr
                self.assertIn('give one file per rank', message)

    def check_arrows(self, events, slices):
        begins = {(event['pid'], event['tid'], event['ts']) for event in slices}
        arrows = [event for event in events if event.get('cat') == 'ac2g']
        self.assertEqual({event['id'] for event in arrows if event['ph'] == 's'}, {event['id'] for event in arrows if event['ph'] == 'f'})
        self.assertLessEqual({(event['pid'], event['tid'], event['ts']) for event in arrows}, begins)

    def test_some_steps(self):
        file = self.folder / 'steps.json.gz'
        self.export(self.example('two_ranks'), file, '--steps', '5..6')
        steps = [event['name'] for event in events_in(file) if event['name'].startswith('ProfilerStep')]
        self.assertEqual(sorted(set(steps)), ['ProfilerStep#5', 'ProfilerStep#6'])
        self.assertIn('none of these steps: it has 0 to', self.shardlens(
            'export', str(self.example('two_ranks')), '--format', 'chrome', '-o', str(self.folder / 'none.json'), '--steps', '5000..', code=2).stderr)
        self.assertFalse((self.folder / 'none.json').exists())

    def test_some_steps_are_the_same_on_all_ranks(self):
        # Rank 1 comes to step 7 before rank 0 has left step 6.
        file = self.folder / 'steps.json.gz'
        self.export(self.example('h200_full_shard'), file, '--steps', '5..6')
        events = events_in(file)
        steps = [(event['pid'], event['name']) for event in events if event['name'].startswith('ProfilerStep')]
        self.assertEqual(sorted(steps), [(pid, f'ProfilerStep#{step}') for pid in (1, 3) for step in (5, 6)])
        self.check_arrows(events, [event for event in events if event['ph'] == 'X'])

    def test_what_is_there_stays(self):
        file = self.folder / 'there.json'
        file.write_text('mine')
        self.assertIn('exists already', self.shardlens(
            'export', str(self.example('two_ranks')), '--format', 'chrome', '-o', str(file), code=2).stderr)
        self.assertEqual(file.read_text(), 'mine')
        self.export(self.example('two_ranks'), file, '--overwrite', '--steps', '5..5')
        self.assertTrue(events_in(file))
        self.assertEqual([each.name for each in self.folder.iterdir() if each.is_file()], ['there.json'])


if __name__ == '__main__':
    harness.main()
