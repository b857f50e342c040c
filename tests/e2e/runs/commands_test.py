"""The commands of the README, on a real two-rank run."""
import json
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402


class Commands(harness.ShardlensTest):
    def test_train_report_query_pack_and_compare(self):
        settings = [*harness.QUICK, '--set', 'model=tiny', '--ranks', '2', '--steps', '30']
        first = self.json('run', *settings, '--set', 'bucket_cap_mb=1', '--name', 'a', '--overwrite')
        self.check_report(first)
        self.assertEqual(first['run']['settings']['bucket_cap_mb'], 1)

        again = self.json('report', 'a')
        self.assertEqual(again['summary'], first['summary'])
        for key in ('median_us', 'busbw_gbps', 'count'):
            self.assertTrue(all(key in row for row in again['collectives']))

        count = self.shardlens('query', 'a', 'select count(*) from collective').stdout
        self.assertIn(str(sum(row['count'] for row in again['collectives'])), count)

        packed = self.folder / 'a.shardlens'
        self.shardlens('pack', 'a', '-o', str(packed))
        from_packed = self.json('report', str(packed))
        for part in ('summary', 'steps', 'collectives', 'buckets'):
            self.assertEqual(from_packed[part], again[part], part)

        self.json('run', *settings, '--set', 'bucket_cap_mb=25', '--name', 'b 25 "MiB" \U0001F600')
        comparison = self.shardlens('compare', 'a', 'b 25 "MiB" \U0001F600').stdout
        self.assertIn('bucket_cap_mb', comparison)
        self.assertIn('report', self.shardlens('--help').stdout)

    def check_report(self, report):
        self.assertEqual(report['schema'], 1)
        self.assertEqual(report['run']['status'], 'done')
        self.assertEqual(report['run']['world_size'], 2)
        self.assertEqual(len(report['ranks']), 2)
        self.assertEqual(len(report['steps']), 30)
        self.assertEqual(sum(step['warmup'] for step in report['steps']), 3)
        self.assertGreater(len(report['buckets']), 1)
        self.assertEqual(report['recorder']['lost'], 0)
        summary = report['summary']
        self.assertGreater(summary['comm_ms'], 0)
        self.assertGreater(summary['compute_ms'], 0)
        self.assertLess(summary['loss_last'], summary['loss_first'])
        mean = summary['step_ms']['mean']
        self.assertAlmostEqual(sum(summary['phase_ms'].values()), mean, delta=1e-6 * mean)
        parts = ('compute_ms', 'exposed_ms', 'exposed_copy_ms', 'idle_ms')
        self.assertAlmostEqual(sum(summary[part] for part in parts), mean, delta=1e-6 * mean)

    def test_screenshot_has_the_size_that_was_asked_for_and_the_last_line_of_a_run_is_its_folder(self):
        done = self.shardlens('run', *harness.QUICK, '--ranks', '2', '--steps', '6', '--name', 'a')
        folder = harness.pathlib.Path(done.stdout.rstrip().splitlines()[-1])
        self.assertTrue((folder / 'run.sqlite').exists() or
                        (self.folder / folder / 'run.sqlite').exists(), done.stdout)
        picture = self.folder / 'a.png'
        harness.subprocess.run(
            ['xvfb-run', '-a', harness.SHARDLENS, 'screenshot', 'a', '-o', str(picture),
             '--workspace', 'tune', '--size', '1600x1000', '--runs-dir', str(self.runs)],
            check=True, timeout=120, cwd=self.folder)
        data = picture.read_bytes()
        self.assertEqual(struct.unpack('>II', data[16:24]), (1600, 1000))
        self.assertGreater(len(data), 20000, 'an almost empty picture')

    def test_without_a_display_the_screenshot_says_what_to_do(self):
        environment = {k: v for k, v in harness.os.environ.items()
                       if k not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        self.shardlens('generate', 'a', '--ranks', '1', '--events', '1000')
        done = self.shardlens('screenshot', 'a', '-o', 'a.png', code=1, env=environment)
        self.assertIn('xvfb-run', done.stderr)

    def test_a_query_whose_reader_leaves_ends_without_a_word(self):
        self.shardlens('generate', 'large', '--ranks', '1', '--events', '300000')
        query = self.start('query', 'large', 'select a.* from kernel a, kernel b', '--format', 'csv')
        self.assertIn('name', query.stdout.readline())
        query.stdout.close()
        self.assertEqual(query.wait(timeout=60), 0)
        self.assertEqual(query.stderr.read(), '')
        query.stderr.close()

    def test_a_query_may_come_through_a_pipe_and_its_names_are_whole(self):
        self.shardlens('generate', 'a', '--ranks', '1', '--events', '1000')
        name = 'ncclDevKernel_' + 'x' * 90
        done = harness.subprocess.run([harness.SHARDLENS, 'query', 'a', '-', '--runs-dir', str(self.runs)], capture_output=True,
                                      text=True, cwd=self.folder, input=f"select '{name}' as name", check=True)
        self.assertEqual(done.stdout, f'name\n{name}\n')

    def test_a_benchmark_tells_its_own_options(self):
        told = self.shardlens('bench', 'strategies', '--', '--help').stdout
        self.assertTrue(told.startswith('usage: shardlens bench strategies'), told)

    @unittest.skipUnless((harness.BIN / 'bench_recorder').exists(), 'benchmarks are not built')
    def test_a_benchmark_refuses_options_that_it_does_not_have(self):
        refused = self.shardlens('bench', 'recorder', '--', '--events', '1000', code=1)
        self.assertIn('--events', refused.stderr)

    def test_settings_go_to_other_frameworks_and_come_back(self):
        settings = ('--ranks', '2', '--steps', '2', '--set', 'sharding_strategy=zero1', '--set', 'bucket_cap_mb=4',
                    '--set', 'static_graph=true')
        self.json('run', *harness.QUICK, *settings, '--name', 'tuned')
        told = self.shardlens('export', 'tuned', '--format', 'deepspeed', '-o', 'ds_config.json').stderr
        self.assertIn('start with: ', told)
        self.assertIn('left out: static_graph: true (', told)
        config = json.loads((self.folder / 'ds_config.json').read_text())
        self.assertEqual(config['zero_optimization']['reduce_bucket_size'], 4 * 2 ** 20 // 4)
        answer = self.json('export', 'tuned', '--format', 'deepspeed')
        self.assertEqual(json.loads(answer['text']), config)
        self.assertEqual([each['setting'] for each in answer['left_out']], ['static_graph'])

        config['steps_per_print'] = 10
        (self.folder / 'ds_config.json').write_text(json.dumps(config))
        read = self.json('settings', 'ds_config.json')
        self.assertEqual(read['framework'], 'DeepSpeed')
        self.assertEqual(read['settings']['sharding_strategy'], 'zero1')
        self.assertEqual(read['settings']['bucket_cap_mb'], 4)
        self.assertEqual([each['key'] for each in read['ignored']], ['steps_per_print'])
        done = self.shardlens('run', 'ds_config.json', *harness.QUICK, '--steps', '2', '--name', 'again', '--json')
        self.assertIn('ignored: steps_per_print: 10 (', done.stderr)
        self.assertEqual(json.loads(done.stdout)['run']['settings']['bucket_cap_mb'], 4)

        self.shardlens('export', 'tuned', '--format', 'accelerate', '-o', 'accelerate.yaml')
        self.assertIn('zero_stage: 1', (self.folder / 'accelerate.yaml').read_text())
        (self.folder / 'job.yaml').write_text(self.shardlens('settings', 'accelerate.yaml').stdout)
        self.assertEqual(self.json('settings', 'job.yaml')['settings']['sharding_strategy'], 'zero1')
        (self.folder / 'ds_config.json').write_text('{"zero_optimization": {"stage": 9}}')
        self.assertIn('zero_optimization.stage', self.shardlens('run', 'ds_config.json', code=2).stderr)


if __name__ == '__main__':
    harness.main()
