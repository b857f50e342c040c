"""What is predicted from a run of one bucket cap, held against a run of another."""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

LINK = ['--link', 'latency_us=200,gbit_per_s=1']


class Prediction(harness.ShardlensTest):
    @classmethod
    def setUpClass(cls):
        cls.recorded = pathlib.Path(tempfile.mkdtemp(prefix='shardlens-recorded-'))
        cls.addClassCleanup(shutil.rmtree, cls.recorded)

    def once(self, name, make):
        """Each test has a copy of what is recorded once: the folder that `make` leaves in the library."""
        recorded = self.recorded / name
        if recorded.exists():
            shutil.copytree(recorded, self.runs, dirs_exist_ok=True)
        else:
            folder = self.folder / make()
            shutil.copytree(folder, recorded / folder.name)

    def run_cap(self, cap):
        name = f'cap {cap}'
        self.once(name, lambda: self.json('run', *harness.QUICK, *LINK, '--ranks', '2', '--steps', '16', '--set',
                                          f'bucket_cap_mb={cap}', '--name', name)['run']['folder'])
        return name

    def calibrate(self):
        def measure():
            [file] = self.json('calibrate', '--device', 'cpu', '--ranks', '2', *LINK, '--seconds', '3')['files']
            return pathlib.Path(file).parent
        self.once('costs', measure)

    def buckets(self, run):
        return [row[0] for row in self.rows(run, 'select bytes from bucket where rank = 0 and plan = 1 order by bucket')]

    def test_buckets_and_transfers_are_those_of_a_run_with_the_other_cap(self):
        small, large = self.run_cap('0.5'), self.run_cap('4')
        for run, other, cap in ((small, large, 4), (large, small, 0.5)):
            predicted = self.json('predict', run, '--set', f'bucket_cap_mb={cap}')
            self.assertEqual(predicted['changed'], {'bucket_cap_mb': f'{cap}', 'first_bucket_mb': f'{cap}'})
            self.assertIsNone(predicted['refused'])
            buckets = [event for event in predicted['schedule'] if event['what'].startswith('bucket')]
            self.assertEqual([bucket['bytes'] for bucket in buckets], self.buckets(other))
            self.assertTrue(all(a['end_ms'] <= b['start_ms'] + 1e-6 for a, b in zip(buckets, buckets[1:])))
            self.assertTrue(all(b['ready_ms'] <= b['start_ms'] for b in buckets))
            # Between measured sizes, of which none moves faster than the link: 8 S 2 (n - 1) / n / 1 Gbit/s + 200 us.
            for bucket in buckets:
                if bucket['bytes'] > 600_000:
                    self.assertGreater(bucket['end_ms'] - bucket['start_ms'], 0.2 + 8 * bucket['bytes'] / 1e6 - 1e-3)

    def test_without_a_change_nothing_is_predicted_to_change(self):
        run = self.run_cap('1')
        predicted = self.json('predict', run)
        self.assertEqual(predicted['changed'], {})
        self.assertAlmostEqual(predicted['step_ms']['mean'], predicted['recorded']['step_ms'], places=6)
        self.assertEqual(predicted['difference_ms'], {'mean': 0, 'low': None, 'high': None})
        self.assertEqual(predicted['peak_memory_bytes'], predicted['recorded']['peak_memory_bytes'])
        slower = self.json('predict', run, '--set', 'simulate_link=latency_us=200,gbit_per_s=0.25')
        self.assertGreater(slower['step_ms']['mean'], predicted['recorded']['step_ms'])
        refused = self.shardlens('predict', run, '--set', 'precision=bf16', '--json', code=2)
        self.assertIn('precision', refused.stderr)
        self.assertIn('precision', json.loads(refused.stdout)['refused'])
        settings = ['--set', 'bucket_cap_mb=4', '--set', 'learning_rate=0.5']
        alone = self.json('predict', run, *settings)
        self.assertEqual((alone['left_out'], alone['without_effect']), ([], ['learning_rate']))
        rest = self.json('predict', run, *settings, '--set', 'precision=bf16')
        self.assertEqual((rest['left_out'], rest['step_ms']), (['precision'], alone['step_ms']))
        # Asked for by name, and not obeyed by DDP, or not on a CPU.
        unheard = self.json('predict', run, *settings, '--set', 'backward_prefetch=post', '--set', 'nccl_algo=Ring')
        self.assertEqual(unheard['without_effect'], ['learning_rate', 'backward_prefetch', 'nccl_algo'])
        # As recorded, but with another cap it would have another value.
        kept = self.json('predict', run, '--set', 'bucket_cap_mb=4', '--set', 'first_bucket_mb=1')
        self.assertEqual((list(kept['changed']), kept['without_effect']), (['bucket_cap_mb'], []))
        self.assertEqual(unheard['step_ms'], alone['step_ms'])
        self.assertIn('device', self.shardlens('predict', run, '--set', 'device=cuda', code=2).stderr)

    def test_what_was_predicted_before_a_run_is_held_against_it(self):
        run = self.run_cap('1')
        self.assertEqual(self.json('predict', '--history')['predictions'], [])
        settings = ['--set', 'bucket_cap_mb=4']
        predicted = self.json('predict', run, *settings)['step_ms']
        ran = self.json('run', *harness.QUICK, *LINK, '--ranks', '2', '--steps', '16', *settings, '--predict-from', run,
                        '--name', 'tested')
        history = self.json('predict', '--history')
        (tested,) = history['predictions']
        self.assertEqual((tested['name'], tested['from'], tested['predicted_ms']), ('tested', run, predicted))
        self.assertAlmostEqual(tested['error'], tested['measured_ms'] / predicted['mean'] - 1, places=9)
        self.assertEqual(history['within'], int(bool(tested['within'])))
        self.assertAlmostEqual(tested['measured_ms'], ran['summary']['step_ms']['mean'], places=6)

    def calls(self, run, step):
        """Of one rank, in their order: function and bytes."""
        rows = self.json('query', run, f"""select function, bytes from collective where rank = 0 and step = {step}
                                           order by enqueued_ns""")['rows']
        return [tuple(row) for row in rows]

    def expect_calls(self, run, name, options):
        """What `run` predicts of a run with these settings is what that run, called `name`, does."""
        predicted = self.json('predict', run, *options)
        planned = [(event['function'], event['bytes']) for event in predicted['schedule'] if event['lane'] == 'communication']
        self.assertEqual(planned, self.calls(name, 4))

    def run_and_expect_calls(self, run, name, options):
        self.json('run', *harness.QUICK, *LINK, '--ranks', '2', '--steps', '8', '--name', name, *options)
        self.expect_calls(run, name, options)

    def test_another_strategy_has_the_collectives_of_a_run_of_it_in_their_order(self):
        run = self.run_cap('1')
        for name, changes in {'full': ['sharding_strategy=full_shard'],
                              'forward': ['sharding_strategy=full_shard', 'forward_prefetch=true', 'backward_prefetch=none'],
                              'post': ['sharding_strategy=full_shard', 'backward_prefetch=post'],
                              'kept': ['sharding_strategy=shard_grad_op', 'gradient_accumulation_steps=2'],
                              'whole': ['sharding_strategy=no_shard', 'gradient_accumulation_steps=2', 'sync_each_batch=true']}.items():
            with self.subTest(name):
                options = harness.settings(changes)
                self.run_and_expect_calls(run, name, options)
                # And back, from what that run tells.
                back = self.json('predict', name, '--set', 'sharding_strategy=full_shard', '--set', 'gradient_accumulation_steps=1',
                                 '--set', 'sync_each_batch=false', '--set', 'forward_prefetch=false', '--set', 'backward_prefetch=pre')
                self.assertIsNone(back['refused'])
        for name, expected in {'full': 5, 'post': 4, 'forward': 0}.items():
            prefetched = self.json('query', name, "select count(*) from collective where rank = 0 and step = 4 and tag like "
                                                  "'%backward gather, prefetched'")['rows']
            self.assertEqual(prefetched, [[expected]], name)
        # What calibrate measured fills in sizes that the run did not have.
        one_bucket = ['--set', 'sharding_strategy=ddp', '--set', 'bucket_cap_mb=64', '--set', 'first_bucket_mb=64']
        self.assertIn('calibrate', self.shardlens('predict', 'full', *one_bucket, code=2).stderr)
        self.calibrate()
        predicted = self.json('predict', 'full', *one_bucket)
        [bucket] = [event for event in predicted['schedule'] if event['what'] == 'bucket 0']
        self.assertGreater(bucket['end_ms'] - bucket['start_ms'], 0.2 + 8 * bucket['bytes'] / 1e6 - 1e-3)

    def test_units_of_any_size_have_the_collectives_of_a_run_with_them(self):
        run = self.run_cap('1')
        sized = ['sharding_strategy=full_shard', 'wrap_policy=size']
        for name, changes in {'some': [*sized, 'min_num_params=100000'],
                              'every layer': [*sized, 'min_num_params=1', 'forward_prefetch=true', 'backward_prefetch=post'],
                              'recomputed': [*sized, 'min_num_params=30000', 'activation_checkpointing=2'],
                              'kept': ['sharding_strategy=shard_grad_op', 'wrap_policy=size', 'min_num_params=100000'],
                              'in 16 bits': ['sharding_strategy=full_shard', 'reduce_dtype=bf16']}.items():
            with self.subTest(name):
                self.run_and_expect_calls(run, name, harness.settings(changes))
        names = [event['what'] for event in self.json('predict', 'some')['schedule'] if event['lane'] == 'communication']
        rows = self.json('query', 'some', """select tag from collective where rank = 0 and step = 4
                                             order by enqueued_ns""")['rows']
        self.assertEqual(names, [tag.removeprefix('unit ') for (tag,) in rows])
        back = self.json('predict', 'every layer', '--set', 'min_num_params=100000')
        self.assertEqual(back['changed'], {'min_num_params': '100000'})

    def test_adapters_and_frozen_blocks_are_sharded_as_in_a_run_of_it(self):
        self.calibrate()
        for name, what in {'adapters': ['--set', 'lora_rank=4', '--set', 'base_dtype=nf4'],
                           'frozen': ['--set', 'frozen_blocks=2']}.items():
            with self.subTest(name):
                self.json('run', *harness.QUICK, *LINK, '--ranks', '2', '--steps', '12', '--name', name, *what)
                sharded = [*what, '--set', 'sharding_strategy=full_shard']
                self.run_and_expect_calls(name, f'{name} full', sharded)
                self.run_and_expect_calls(f'{name} full', f'{name} size', [*sharded, '--set', 'wrap_policy=size', '--set',
                                                                           'min_num_params=50000'])
                self.expect_calls(f'{name} full', name, [*what, '--set', 'sharding_strategy=ddp'])

    def test_more_ranks_are_a_change(self):
        predicted = self.json('predict', self.run_cap('1'), '--set', 'ranks=4')
        self.assertEqual(predicted['changed'], {'ranks': '4'})
        self.assertGreater(predicted['step_ms']['mean'], predicted['recorded']['step_ms'])

    def test_a_file_of_another_framework_changes_what_it_speaks_of(self):
        run = self.run_cap('1')
        config = self.folder / 'ds_config.json'
        config.write_text(json.dumps({'train_micro_batch_size_per_gpu': 2, 'steps_per_print': 7, 'zero_optimization': {'stage': 3}}))
        done = self.shardlens('predict', run, str(config), '--json')
        self.assertIn('ignored: steps_per_print', done.stderr)
        changed = json.loads(done.stdout)['changed']
        self.assertEqual(changed['sharding_strategy'], 'full_shard')
        self.assertFalse({'model', 'ranks', 'batch_per_rank', 'simulate_link'} & set(changed), 'as recorded')
        ours = self.folder / 'job.yaml'
        ours.write_text('device: cpu\nranks: 2\nbatch_per_rank: 2\nsequence_length: 32\nbucket_cap_mb: 1\nprecision: fp32\n'
                        'simulate_link: latency_us=200,gbit_per_s=2\n')
        changed = self.json('predict', run, str(ours), '--set', 'overlap_comm=false')['changed']
        self.assertEqual(set(changed), {'simulate_link', 'overlap_comm'}, 'what it does not say has its default, as with run')

    def test_what_tells_nothing_is_refused_by_name(self):
        self.shardlens('generate', 'made', '--ranks', '2', '--events', '2000')
        self.assertIn('when each gradient was ready', self.shardlens('predict', 'made', code=2).stderr)


if __name__ == '__main__':
    harness.main()
