"""Training and recording on GPUs that compute nothing (tests/fake_gpu): everything but values and times is as on real ones."""
import json
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

JOB = ['--set', 'device=cuda', '--set', 'batch_per_rank=2', '--set', 'sequence_length=32', '--set', 'evaluation_fraction=0.1']
# GPT-2's shape at a size at which activations, the optimizer and what is communicated all count.
LARGE = ['--set', 'device=cuda', '--set', 'model=gpt-162m', '--set', 'batch_per_rank=8', '--set', 'sequence_length=1024',
         '--set', 'precision=bf16', '--set', 'evaluation_fraction=0']
LARGE_STEPS = 6
STRATEGIES = ['ddp', 'zero1', 'no_shard', 'shard_grad_op', 'full_shard']
CASES = {
    **{name: dict(sharding_strategy=name) for name in ('ddp', 'zero1', 'no_shard')},
    'views, compressed, static graph': dict(bucket_cap_mb=1, gradient_as_bucket_view='true', communication_hook='bf16_compress',
                                            static_graph='true'),
    'accumulated': dict(gradient_accumulation_steps=2, sync_each_batch='false'),
    'recomputed, limited': dict(sharding_strategy='full_shard', activation_checkpointing=1, limit_all_gathers='true'),
    'offloaded': dict(sharding_strategy='full_shard', cpu_offload='true'),
    'own gathers, bf16 shards': dict(sharding_strategy='full_shard', separate_communicators='true', forward_prefetch='true',
                                     param_dtype='bf16', reduce_dtype='bf16'),
    'fp16 shards': dict(sharding_strategy='full_shard', param_dtype='fp16'),
    'fp16, evaluated': dict(precision='fp16', evaluate_every=2, keep_best='true', sample_tokens=4),
    'merged adapters': dict(lora_rank=8, sharding_strategy='full_shard', precision='bf16', base_dtype='nf4', save_model='end',
                            merge_lora='true'),
    'saved, allocations': dict(sharding_strategy='shard_grad_op', save_every=2, save_model='end', record_allocations='2..3'),
}
# What PyTorch has, and the shape of the models as its side needs it.
PEERS = ['ddp', 'full_shard']
SHAPES = {
    'tiny': dict(layers=5, width=192, heads=6, mlp_width=768, vocabulary=320, context=512, tied_head=True),
    'gpt-162m': dict(layers=12, width=768, heads=12, mlp_width=3072, vocabulary=50304, context=1024, tied_head=False),
}
COUNTERS = ('kernels', 'kernel_ns', 'host_waits', 'memory_questions')


class Gpu(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.text = self.folder / 'text.txt'
        self.text.write_text(''.join(f'{i * i} is the square of {i}\n' for i in range(40000)))

    def run_job(self, name, settings, job=JOB, ranks=2, steps=6, **variables):
        return self.json('run', *job, '--set', f'data={self.text}', '--ranks', str(ranks), '--steps', str(steps), '--name', name,
                         *harness.settings(settings),
                         env=harness.fake_gpu(FAKE_GPU_COUNTERS=str(self.folder / name), **variables))

    def counted(self, name, rank=0):
        """What the GPU of a rank was asked for."""
        file = self.folder / f'{name}.{rank}'
        return dict(zip(COUNTERS, struct.unpack(f'{len(COUNTERS)}q', file.read_bytes()), strict=True))

    def value(self, name, sql):
        return self.rows(name, sql)[0][0]

    def check_recording(self, name):
        """Nothing is lost, no kernel is missing or longer or shorter than it was; every kernel of NCCL belongs to a
        collective, and the other way round."""
        self.assertEqual(self.value(name, 'select count(*) from lost'), 0)
        counted = [self.counted(name, rank) for rank in (0, 1)]
        for rank in (0, 1):
            [[kernels, kernel_ns, of_nccl, collectives, told, unmatched]] = self.json('query', name, f"""
                select (select count(*) from kernel where rank = {rank}), (select sum(duration_ns) from kernel where rank = {rank}),
                (select count(*) from kernel where rank = {rank} and name like 'nccl%'),
                (select count(*) from collective where rank = {rank}),
                (select count(*) from collective where rank = {rank} and algorithm = 'RING'),
                (select count(*) from collective c left join kernel k on k.rank = c.rank and k.start_ns = c.start_ns
                 where c.rank = {rank} and k.name is null)""")['rows']
            self.assertEqual([kernels, kernel_ns], [counted[rank]['kernels'], counted[rank]['kernel_ns']])
            self.assertGreaterEqual(told, 6)
            self.assertEqual([of_nccl, collectives, unmatched], [told, told, 0])
        launches = self.value(name, "select count(*) from launch where name like '%Launch%'")
        self.assertEqual(launches, sum(rank['kernels'] for rank in counted))

    def test_every_strategy_and_type_trains_and_every_kernel_is_recorded(self):
        for name, settings in CASES.items():
            with self.subTest(name):
                run = name.replace(' ', '-').replace(',', '')
                report = self.run_job(run, {'record': 'every step', **settings})
                self.assertEqual(report['run']['status'], 'done')
                self.assertEqual(len(report['steps']), 6)
                self.check_recording(run)
                if 'fp16' in settings.values():
                    self.assertEqual(self.value(run, "select count(distinct step) from collective where tag = 'fp16 overflow'"), 6,
                                     'the loss is scaled')
                if name == 'ddp':
                    self.check_that_memory_is_sampled_where_phases_begin(run)
                    for rank in report['ranks']:
                        self.assertGreater(rank['memory_by_category']['outside'], 500 << 20)

    def check_that_memory_is_sampled_where_phases_begin(self, name):
        borders = ("select count(*) from span s where s.rank = 0 and s.depth = 0 and s.step = {0} and not exists (select 1 from "
                   "memory m where m.rank = 0 and m.step = {0} and m.time_ns between s.start_ns and s.end_ns)")
        for step in (2, 3):
            self.assertGreater(self.value(name, f'select count(*) from span where rank = 0 and depth = 0 and step = {step}'), 3)
            self.assertEqual(self.value(name, borders.format(step)), 0)

    def test_of_a_shared_gpu_nobody_knows_what_else_is_whose(self):
        report = self.run_job('shared', {'oversubscribe': 'true'}, FAKE_GPU_COUNT='1')
        self.assertIn('Shared GPU: timings not representative', json.dumps(report))
        for rank in report['ranks']:
            self.assertIsNone(rank['memory_by_category']['outside'])
            self.assertEqual(rank['peak_memory_bytes'], sum(filter(None, rank['memory_by_category'].values())))

    def test_a_single_rank_communicates_in_no_time(self):
        for strategy in ('ddp', 'full_shard'):
            with self.subTest(strategy):
                report = self.run_job(strategy, dict(sharding_strategy=strategy, record='every step'), ranks=1)
                self.assertGreater(self.value(strategy, 'select count(*) from collective where end_ns = start_ns'), 6)
                self.assertEqual([report['summary'][key] for key in ('comm_ms', 'overlap_ms', 'exposed_ms', 'overlap_percent')],
                                 [0, 0, 0, None])
                self.assertEqual({step['exposed_ms'] for step in report['steps']}, {0})

    def test_the_host_waits_only_where_the_loss_is_read_and_launches_no_more_kernels_than_pytorchs(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                counted = {}
                for steps in (9, 25):
                    name = f'{strategy}-{steps}'
                    self.run_job(name, dict(sharding_strategy=strategy, record='none', loss_every=8, max_grad_norm=1), steps=steps)
                    counted[steps] = self.counted(name)
                more = {key: counted[25][key] - counted[9][key] for key in COUNTERS}
                # Twice to read it, and never else: after each eighth of sixteen more steps.
                self.assertEqual(more['host_waits'], 2 * 2)
                if strategy in PEERS:
                    told = self.train_peer(strategy, 'tiny', 2, 32, 'fp32', 9)['counted']
                    kernels, peer = more['kernels'] / 16, (told[8][0] - told[4][0]) / 4
                    print(f'{strategy}: {kernels} kernels a step, PyTorch {peer}', flush=True)
                    self.assertLessEqual(kernels, peer)

    def test_offloading_waits_for_a_step_and_not_for_each_unit(self):
        for param_dtype in ('fp32', 'bf16'):
            waits = {}
            for steps in (9, 17):
                name = f'{param_dtype}-{steps}'
                self.run_job(name, dict(sharding_strategy='full_shard', cpu_offload='true', param_dtype=param_dtype,
                                        record='none', loss_every=100), steps=steps)
                waits[steps] = self.counted(name)['host_waits']
            # For the gradients, and for their norm on its way to the device and back; tiny has six units.
            self.assertEqual(waits[17] - waits[9], 4 * 8)

    def test_what_the_driver_tells_is_recorded_and_its_memory_not_asked_for_in_every_step(self):
        self.run_job('a', {}, steps=100)
        asked = self.counted('a')['memory_questions']
        print(f'memory was asked for {asked} times in 100 steps', flush=True)
        self.assertGreater(asked, 0)
        self.assertLess(asked, 90)
        self.assertIn('driver 580.95.05 for CUDA 13.0, CUDA 13.0, NCCL 2.28', self.shardlens('report', 'a').stdout)
        for rank in (0, 1):
            rows = self.rows('a', f'select distinct name from counter where rank = {rank}')
            self.assertGreaterEqual({row[0] for row in rows}, {'GPU utilization', 'GPU power', 'GPU temperature'})

    def test_memory_is_what_was_estimated_and_no_more_than_pytorchs(self):
        plan = self.json('plan', *LARGE, '--gpus-per-node', '2')
        estimated = {row['strategy']: row['memory']['total_bytes'] for row in plan['strategies']}
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                peak = self.peak_of(strategy, dict(sharding_strategy=strategy))
                self.assertAlmostEqual(estimated[strategy] / peak, 1, delta=0.03)
                if strategy in PEERS:
                    theirs = self.train_peer(strategy, 'gpt-162m', 8, 1024, 'bf16', LARGE_STEPS)['peaks'][-1]
                    self.assertLess(peak, theirs)
                    print(f'{strategy}: {peak >> 20} MiB, PyTorch {theirs >> 20}', flush=True)

    def test_all_logits_at_once_need_no_more_memory_than_pytorchs_in_fp32(self):
        peak = self.peak_of('whole', dict(sharding_strategy='full_shard', loss_chunk_tokens=0))
        theirs = self.train_peer('full_shard', 'gpt-162m', 8, 1024, 'bf16', LARGE_STEPS, widens_logits=True)['peaks'][-1]
        # Counted to the byte as both are: a hundred values beside 9 GB are as much.
        self.assertLessEqual(round(peak / theirs, 6), 1)
        self.assertGreater(peak, 0.9 * theirs)
        print(f'all logits at once: {peak >> 20} MiB, PyTorch {theirs >> 20}', flush=True)

    def test_memory_is_what_was_estimated_where_values_have_16_bits(self):
        for name, settings in {'compressed': dict(sharding_strategy='ddp', communication_hook='bf16_compress'),
                               'fp16': dict(sharding_strategy='full_shard', precision='fp32', param_dtype='fp16')}.items():
            with self.subTest(name):
                plan = self.json('plan', *LARGE, *harness.settings(settings), '--gpus-per-node', '2')
                [estimated] = [row['memory']['total_bytes'] for row in plan['strategies']
                               if row['strategy'] == settings['sharding_strategy']]
                peak = self.peak_of(name, settings, since=2)
                print(f'{name}: {peak >> 20} MiB, estimated {estimated >> 20}', flush=True)
                self.assertAlmostEqual(estimated / peak, 1, delta=0.03)

    def peak_of(self, name, settings, since=LARGE_STEPS - 1):
        self.run_job(name, {**settings, 'record': 'none'}, job=LARGE, steps=LARGE_STEPS)
        return self.value(name, 'select max(parameters_bytes + gathered_parameters_bytes + gradients_bytes + optimizer_bytes + '
                                'activations_bytes + communication_bytes + other_bytes) from memory '
                                f'where is_peak and step >= {since}')

    def test_a_checkpoint_goes_on_with_the_other_kind_of_device_and_what_is_not_recorded_names_no_source(self):
        for device, other in (('cuda', 'cpu'), ('cpu', 'cuda')):
            with self.subTest(f'{device} to {other}'):
                saved = self.run_job(f'saved-{device}', dict(device=device, save_every=2, record='none'), steps=2)
                self.check_sources(f'saved-{device}', device, 'none')
                folder = self.folder / saved['run']['folder']
                report = self.run_job(f'resumed-{other}', dict(device=other, resume=folder, record='every step'), steps=4)
                self.assertEqual([step['step'] for step in report['steps']], [2, 3])
                self.check_sources(f'resumed-{other}', other, 'every step')

    def check_sources(self, name, device, record):
        memory = {'cuda': "memory: CUDA's caching allocator; power", 'cpu': 'memory: CPU allocator'}[device]
        for [sources] in self.rows(name, 'select sources from rank'):
            self.assertIn(memory, sources)
            for source in ('operators: ', 'collectives: '):
                self.assertEqual(source in sources, record != 'none', sources)
            self.assertEqual('kernels' in sources, (device, record) == ('cuda', 'every step'), sources)

    def test_what_is_recorded_of_some_steps_is_of_these_steps(self):
        """Also where the host is ahead of the device, as nothing reads the loss and there is much to compute."""
        for schedule, recorded in (('3..4', {3, 4}), ('every 4th', {0, 4, 8})):
            with self.subTest(schedule):
                name = schedule.replace(' ', '-')
                report = self.run_job(name, dict(record=schedule, loss_every=100, skip_steps=2, batch_per_rank=64), job=LARGE, steps=10)
                rows = self.json('query', name, """select c.step, k.name from collective c left join kernel k
                    on k.rank = c.rank and k.start_ns = c.start_ns and k.name like 'nccl%'""")['rows']
                self.assertEqual({step for step, _ in rows}, recorded)
                self.assertNotIn(None, [kernel for _, kernel in rows], 'a collective without its kernel')
                self.assertEqual(self.value(name, "select count(*) from kernel where name like 'nccl%'"), len(rows))
                self.assertEqual(self.value(name, """select count(*) from kernel k where not exists (select 1 from step s
                    where s.rank = k.rank and s.full_detail and k.start_ns between s.start_ns and s.end_ns)"""), 0)
                # Of two ranks each sends as much as it reduces.
                reduced = self.value(name, f'select sum(bytes) from collective where rank = 0 and step = {max(recorded)}')
                self.assertEqual(report['summary']['bytes_sent_per_step'], reduced)

    def test_without_a_launcher_of_ours_a_rank_that_hangs_before_a_groups_first_collective_is_not_waited_for(self):
        settings = self.folder / 'settings.yaml'
        settings.write_text(f'device: cuda\ndata: {self.text}\nsharding_strategy: hybrid_shard\nshard_group_size: 2\n'
                            'collective_timeout_s: 4\ninject: rank=1,step=0,phase=data,hang\n')
        shared = harness.fake_gpu(WORLD_SIZE='4', LOCAL_WORLD_SIZE='4', MASTER_ADDR='127.0.0.1',
                                  MASTER_PORT=str(15000 + os.getpid() % 15000))  # as in support/start_ranks.py
        command = [harness.BIN / 'shardlens-rank', '--settings', settings, '--run', self.folder / 'run']
        ranks = [subprocess.Popen(command, env=dict(shared, RANK=str(rank), LOCAL_RANK=str(rank)), stderr=subprocess.PIPE, text=True)
                 for rank in range(4)]
        try:
            said = ranks[0].communicate(timeout=60)[1]
            self.assertIn('did not take part within 4 s (collective_timeout_s)', said)
            for rank in (2, 3):
                self.assertNotEqual(ranks[rank].wait(60), 0)
        finally:
            for rank in ranks:
                rank.kill()
                rank.communicate()

    def test_gathers_in_forward_run_beside_the_unit_before(self):
        """As those of fully_shard do unasked, if the host is ahead of the device."""
        self.run_job('a', dict(sharding_strategy='full_shard', record='every step'), job=LARGE, steps=4, FAKE_GPU_HOST_AHEAD='1')
        hidden = self.hidden_part('a', "tag like 'unit blocks.%forward gather' and tag not like 'unit blocks.0 %'")
        print(f'full_shard: {hidden:.3f} of the gathers in forward is hidden', flush=True)
        self.assertGreater(hidden, 0.99)
        # The root and two blocks, as in backward.
        held = self.value('a', 'select max(gathered_parameters_highest_bytes) from memory')
        sizes = dict(self.rows('a', 'select name, bytes from unit'))
        self.assertEqual(held, sizes['root'] + 2 * sizes['blocks.0'])

    def hidden_part(self, name, which, rank=0, step=3):
        """Of the time of a step's collectives, the part in which the device computes."""
        def spans(table, condition):
            return self.rows(name, f'select start_ns, end_ns from {table} where rank = {rank} and {condition}')
        computed = spans('kernel', 'is_compute')
        collectives = spans('collective', f'step = {step} and {which}')
        self.assertEqual(len(collectives), 11)
        hidden = sum(max(0, min(end, to) - max(start, since)) for start, end in collectives for since, to in computed)
        return hidden / sum(end - start for start, end in collectives)

    def train_peer(self, strategy, model, batch, length, precision, steps, **extra):
        """PyTorch's own strategy with a model of the same shape on two ranks; what rank 0 tells of it."""
        settings = dict(model=model, batch_per_rank=batch, sequence_length=length, precision=precision, steps=steps, seed=3,
                        learning_rate=0.001, weight_decay=0.1, max_grad_norm=1.0, threads_per_rank=1)
        folder = self.folder / f'peer-{strategy}-{"-".join([str(steps), *extra])}'
        folder.mkdir()
        # bench/strategies/peer.py says what a job is.
        job = dict(settings, **extra, sharding_strategy=strategy, text=str(self.text), device='cuda', shape=SHAPES[model],
                   counts_memory=True, counters=str(folder / 'counters.'), result=str(folder / 'result'))
        (folder / 'job.json').write_text(json.dumps(job))
        common = dict(WORLD_SIZE='2', LOCAL_WORLD_SIZE='2', SHARDLENS_STORE_FILE=str(folder / 'store'),
                      FAKE_GPU_COUNTERS=str(folder / 'counters'), PYTHONDONTWRITEBYTECODE='1')
        subprocess.run([harness.TORCH_PYTHON, harness.ROOT / 'bench/strategies/peer.py', folder / 'job.json'],
                       env=harness.fake_gpu(**common), check=True, timeout=600)
        return json.loads((folder / 'result0').read_text())


if __name__ == '__main__':
    harness.main()
