"""Traces of PyTorch's profiler: made here by PyTorch itself, and public recordings of real GPUs.

The latter are read from the folder SHARDLENS_SAMPLES, where it is set: Kineto traces of HolisticTraceAnalysis (hta/),
param (dlrm_8_ranks/), TraceLens (b200/) and Kineto (kineto_2021/), with totals that others computed.
"""
import csv
import decimal
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

SAMPLES = pathlib.Path(os.environ.get('SHARDLENS_SAMPLES', '/nonexistent'))
KERNEL, COPY = ('kernel', 'Kernel'), ('gpu_memcpy', 'Memcpy', 'gpu_memset', 'Memset')


def table(file):
    with (SAMPLES / file).open() as rows:
        return list(csv.DictReader(rows))


def union_ns(intervals):
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


def totals_of(text):
    """What the report's totals should be, to the nanosecond, from the JSON alone."""
    trace = json.loads(text, parse_float=decimal.Decimal)
    spans = {'compute': [], 'comm': [], 'memory': []}
    for event in trace['traceEvents']:
        if event.get('ph') != 'X' or event.get('cat') not in KERNEL + COPY:
            continue
        start, duration = (int(decimal.Decimal(event[key]) * 1000) for key in ('ts', 'dur'))
        kind = 'memory' if event['cat'] in COPY else 'comm' if event['name'].startswith('nccl') else 'compute'
        spans[kind].append((start, start + duration))
    every = [span for of_kind in spans.values() for span in of_kind]
    compute, comm = union_ns(spans['compute']), union_ns(spans['comm'])
    overlap = compute + comm - union_ns(spans['compute'] + spans['comm'])
    span, busy = max(e for _, e in every) - min(s for s, _ in every), union_ns(every)
    figures = {'span_us': span, 'busy_us': busy, 'compute_us': compute, 'comm_us': comm, 'overlap_us': overlap,
               'exposed_us': comm - overlap, 'idle_us': span - busy}
    return {**{name: ns / 1000 for name, ns in figures.items()},
            **{f'{kind}_events': len(found) for kind, found in spans.items()}}


# Two ranks of DDP over Gloo, profiled as PyTorch's own documentation does: a file per rank; then one process alone.
DDP_PROGRAM = '''
import sys, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.profiler import profile, schedule, record_function, ProfilerActivity

def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2)
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)])
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=3),
                 on_trace_ready=lambda p: p.export_chrome_trace(f'{folder}/rank{rank}.json')) as p:
        for _ in range(4):
            model(torch.randn(64, 256)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            p.step()
    dist.destroy_process_group()

folder = sys.argv[1]
# Forked, so that PyTorch is imported once: it has started no thread here.
mp.start_processes(work, args=(folder,), nprocs=2, start_method='fork')
with profile(schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=lambda p: p.export_chrome_trace(f'{folder}/cpu.json')) as p:
    for _ in range(4):
        with record_function('forward'):
            y = torch.randn(64, 64) @ torch.randn(64, 64)
        p.step()
'''


def clipped(intervals, start, end):
    return [(max(a, start), min(b, end)) for a, b in intervals if b > start and a < end]


def exposed_ns(text):
    """Per step of a trace of one CPU rank: Gloo's time under no outermost operator that is all ATen's."""
    events = [e for e in json.loads(text, parse_float=decimal.Decimal)['traceEvents'] if e['ph'] == 'X']
    spans = [(*(int(decimal.Decimal(e[key]) * 1000) for key in ('ts', 'dur')), e) for e in events]
    spans = [(start, start + duration, e) for start, duration, e in spans]
    comm = [(a, b) for a, b, e in spans if e['name'].startswith('gloo:')]
    operators = [(a, b, e) for a, b, e in spans if e['cat'] == 'cpu_op']
    compute = []
    for a, b, e in operators:
        inside = [o['name'] for c, d, o in operators if o['tid'] == e['tid'] and a <= c and d <= b]
        if all(name.startswith('aten::') for name in inside):
            compute.append((a, b))
    steps = sorted((a, b) for a, b, e in spans if e['name'].startswith('ProfilerStep#'))
    ends = [start for start, _ in steps[1:]] + [steps[-1][1]]
    exposed = []
    for (start, _), end in zip(steps, ends):
        of_comm, of_compute = clipped(comm, start, end), clipped(compute, start, end)
        exposed.append(union_ns(of_comm + of_compute) - union_ns(of_compute))
    return exposed


def kernel(ts, name='gemm', **more):
    return {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': 7, 'ts': ts, 'dur': 5,
            'args': {'device': 0, 'stream': 7}, **more}


def sums_of_rank(rank, first, last, marks='ProfilerStep'):
    """A rank of two that adds something up in each step of a millisecond. Rank 1 is 30 µs late, and both leave 100 µs after that."""
    events = []
    for step in range(first, last + 1):
        t, late = 1000 * step, 30 * rank
        for cat, name, tid, start, end in [
                ('user_annotation', f'{marks}#{step}', 1, t, t + 990), ('cpu_op', 'aten::mm', 1, t, t + 150),
                ('user_annotation', 'gloo:all_reduce', 2, t + 200 + late, t + 330),
                ('user_annotation', 'Optimizer.step#SGD.step', 1, t + 500, t + 900)]:
            args = {'Input Dims': [[1000]], 'Input type': ['float']} if name.startswith('gloo') else {}
            events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': tid, 'ts': start, 'dur': end - start,
                           'args': args})
    return events


class Import(harness.ShardlensTest):
    # What a trace of PyTorch's profiler never tells, by table.
    UNTOLD = {
        'step': ['loss', 'gradient_norm', 'learning_rate', 'tokens', 'samples', 'model_flops', 'nonfinite'],
        'collective': ['channels', 'bytes', 'enqueued_ns'],
        'memory': ['parameters_bytes', 'gathered_parameters_bytes', 'gradients_bytes', 'optimizer_bytes',
                   'activations_bytes', 'communication_bytes', 'outside_bytes', 'other_highest_bytes',
                   'device_used_bytes', 'device_total_bytes'],
        'rank': ['local_rank', 'process_id', 'peak_flops', 'parameters', 'link_bytes_per_second',
                 'trained_parameters'],
        'allocation': ['address', 'is_older', 'is_freed']}

    def write(self, name, events, **members):
        file = self.folder / name
        file.write_text(json.dumps({**members, 'traceEvents': events}))
        return str(file)

    def test_what_pytorch_exported_shows_steps_phases_and_communication(self):
        subprocess.run([harness.TORCH_PYTHON, self.program('ddp.py', DDP_PROGRAM), str(self.folder)],
                       check=True, capture_output=True, timeout=300)
        files = [self.folder / f'rank{rank}.json' for rank in range(2)]
        imported = self.json('import', *map(str, files), '--name', 'ddp')
        self.assertEqual(imported['ranks'], [0, 1])
        self.assertEqual([said.count('record_shapes=True') for said in imported['warnings']], [1])
        report = self.json('report', 'ddp')
        self.assertIsNone(report['summary']['bytes_sent_per_step'])
        self.assertIn('all_reduce', report['summary']['bytes_sent_unknown'])
        for rank, file in enumerate(files):
            steps = exposed_ns(file.read_text())
            self.assertEqual(len(steps), 3)
            self.assertGreater(min(steps), 0)
            self.assertAlmostEqual(report['ranks'][rank]['exposed_ms'], sum(steps) / 3 / 1e6, delta=1e-6)
        reduced = self.json('query', 'ddp', "select count(*) from collective where function = 'all_reduce'")
        self.assertEqual(reduced['rows'], [[sum(f.read_text().count('"gloo:all_reduce"') for f in files)]])
        self.assertIsNone(report['summary']['bytes_sent_per_step'], 'the trace does not say')
        imported = self.json('import', str(self.folder / 'cpu.json'), '--name', 'from python')
        self.assertEqual((imported['ranks'], imported['warnings']), ([0], []))
        report = self.json('report', 'from python')
        self.assertEqual(len(report['steps']), 3)
        self.assertGreater(report['summary']['phase_ms']['forward'], 0)
        names = {name for [name] in self.rows('from python', 'select text from string')}
        self.assertIn('aten::mm', names)

    def program(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def test_every_command_takes_a_run_whose_events_are_hours_apart(self):
        hour = 3_600_000_000
        events = [kernel(1700000000000000 + i * 15 * hour) for i in range(40)]
        events += [{'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{i * 10**15}', 'pid': 1, 'tid': 1,
                    'ts': 1700000000000000 + i * 15 * hour, 'dur': 50} for i in range(40)]
        file = self.write('slow.json', events)
        began = time.monotonic()
        self.assertEqual(self.json('import', file, '-o', 'slow', timeout=20)['warnings'], [])
        self.assertEqual(self.json('report', 'slow', timeout=20)['ranks'][0]['totals']['compute_events'], 40)
        self.shardlens('report', 'slow', timeout=20)
        self.assertTrue(self.json('verify', 'slow', timeout=20)['intact'])
        self.assertEqual(self.json('query', 'slow', 'select count(*) from kernel', timeout=20)['rows'], [[40]])
        self.shardlens('pack', 'slow', '-o', str(self.folder / 'slow.shardlens'), timeout=20)
        self.shardlens('export', 'slow', '-o', str(self.folder / 'slow.sqlite'), timeout=20)
        self.shardlens('compare', 'slow', str(self.folder / 'slow.shardlens'), timeout=20)
        size = sum(f.stat().st_size for f in self.runs.rglob('*') if f.is_file())
        self.assertLess(size, 2_000_000)
        self.assertLess(time.monotonic() - began, 60)

    def test_a_path_with_a_slash_is_where_the_run_is_made(self):
        file = self.write('a.json', [kernel(5)])
        place = self.folder / 'elsewhere' / 'mine'
        self.assertEqual(self.json('import', file, '-o', str(place) + '/')['run'], str(place))
        self.assertEqual(self.json('report', str(place))['run']['name'], 'mine')
        self.shardlens('import', file, '-o', str(place), code=2)
        self.shardlens('import', file, '-o', str(self.folder) + '/', '--overwrite', code=2)
        self.assertIn('pack', self.shardlens('import', file, '-o', './x.shardlens', code=2).stderr)
        self.assertFalse(self.runs.exists())

    def test_what_a_trace_does_not_tell_is_null_and_not_printed(self):
        memory = {'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': 6,
                  'args': {'Bytes': 1024, 'Total Allocated': 2048, 'Total Reserved': 4096, 'Device Type': 1,
                           'Device Id': 0}}
        file = self.write('a.json', [kernel(5), memory, kernel(20, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)')],
                          distributedInfo={'rank': 0, 'world_size': 2, 'backend': 'nccl'})
        self.shardlens('import', file, '-o', 'little')
        report = self.json('report', 'little')
        self.assertIsNone(report['run']['settings'])
        for figure in ('tokens_per_s', 'samples_per_s', 'mfu', 'bytes_sent_per_step', 'effective_batch', 'loss_last'):
            self.assertIsNone(report['summary'][figure], figure)
        self.assertEqual(set(report['summary']['phase_ms'].values()), {None})
        self.assertIsNone(report['recorder']['events'])
        self.assertIsNone(report['collectives'][0]['bytes'])
        self.assertEqual(set(report['ranks'][1]['totals'].values()), {None}, 'its file was not given')
        self.assertEqual(self.rows('little', 'select key, value from setting'), [['skip_steps', '0']])
        for table, columns in self.UNTOLD.items():
            answer = self.json('query', 'little', f"select {', '.join(columns)} from {table}")
            self.assertGreater(len(answer['rows']), 0, table)
            for row in answer['rows']:
                self.assertEqual(dict(zip(columns, row)), dict.fromkeys(columns), table)
        self.shardlens('import', file, '-o', 'again')
        self.assertIn('Settings: not known', self.shardlens('compare', 'little', 'again').stdout)
        compared = self.json('compare', 'little', 'again')
        self.assertIsNone(compared['settings'])
        self.assertEqual({figure['beyond_noise'] for figure in compared['figures']}, {None})
        self.assertNotIn('other', {figure['name'] for figure in compared['figures']})
        text = self.shardlens('report', 'little').stdout
        for word in ('tokens/s', 'Sent', 'optimizer', '0 events', 'tiny', 'ddp'):
            self.assertNotIn(word, text)

    def import_ranks(self, name, ranks, **info):
        """`ranks`: the events of each. Warnings, and the report."""
        files = []
        for rank, events in enumerate(ranks):
            job = {'backend': 'gloo', 'rank': rank, 'world_size': 2, **info}
            members = {'distributedInfo': job} if job['world_size'] else {}
            files.append(self.write(f'{name}{rank}.json', events, **members))
        return self.json('import', *files, '-o', name)['warnings'], self.json('report', name)

    def check_nothing_is_claimed(self, name, report, why):
        self.assertTrue(any(why in note for note in report['notes']), report['notes'])
        self.assertIsNone(report['summary']['bytes_sent_per_step'])
        self.assertIsNone(report['summary']['exposed_wait_ms'])
        self.assertEqual({row['wait_us'] for row in report['collectives']}, {None})
        groups = self.rows(name, 'select distinct process_group, sequence from collective')
        self.assertEqual(groups, [[None, None]])
        text = self.shardlens('report', name).stdout
        self.assertIn('! ' + why, text)
        self.assertNotIn('Sent', text)
        self.assertNotIn('for other ranks to come', text)
        refused = self.shardlens('predict', name, '--set', 'bucket_cap_mb=5', code=2).stderr
        self.assertIn(why if report['run']['world_size'] is None else 'Buckets of DDP are not known', refused)

    def test_without_the_kernels_of_collectives_nothing_is_claimed_of_communication(self):
        ranks = []
        for rank in range(2):
            events = []
            for step in range(3, 7):
                for cat, name, start, end in [
                        ('user_annotation', f'ProfilerStep#{step}', 0, 990), ('cpu_op', 'aten::mm', 0, 150),
                        ('cpu_op', 'c10d::allreduce_', 200, 230), ('cpu_op', 'record_param_comms', 205, 228),
                        ('user_annotation', 'nccl:all_reduce', 208, 225)]:
                    events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': 1, 'ts': 1000 * step + start,
                                   'dur': end - start, 'args': {}})
            ranks.append(events)
        warnings, report = self.import_ranks('hosts', ranks, backend='nccl')
        self.assertEqual([said[:38] for said in warnings], ['NCCL was asked for collectives, but th'])
        self.assertIn(warnings[0], report['notes'])
        self.assertAlmostEqual(report['summary']['step_ms']['mean'], (3 * 1 + 0.99) / 4)
        for figure in ('comm_ms', 'overlap_ms', 'exposed_ms', 'exposed_wait_ms', 'idle_ms', 'bytes_sent_per_step'):
            self.assertIsNone(report['summary'][figure], figure)
        for rank in report['ranks']:
            self.assertIsNone(rank['exposed_ms'])
            self.assertEqual({rank['totals'][figure] for figure in ('comm_us', 'exposed_us', 'comm_events', 'idle_us')}, {None})
        text = self.shardlens('report', 'hosts').stdout
        self.assertIn('! NCCL was asked for collectives', text)
        for word in ('Exposed', 'exposed communication', 'Sent', 'idle'):
            self.assertNotIn(word, text.replace(warnings[0], ''))
        self.shardlens('predict', 'hosts', '--set', 'bucket_cap_mb=5', code=2)
        # A rank that is alone launches nothing, and waits for nobody.
        warnings, report = self.import_ranks('alone', ranks[:1], backend='nccl', world_size=1)
        self.assertEqual((warnings, report['summary']['exposed_ms']), ([], 0))

    def test_what_a_kernel_of_nccl_does_that_nothing_tells_is_not_known(self):
        named = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)'
        sizes = {'device': 0, 'stream': 7, 'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000,
                 'dtype': 'Float', 'Process Group Name': '0'}
        info = {'backend': 'nccl', 'rank': 0, 'world_size': 2}
        for other, sent in ((named, 4000), ('ncclDevKernel_Generic_4(x)', None), ('ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)', None)):
            more = sizes if other == named else {'device': 0, 'stream': 7}
            events = [kernel(1000, named, args=sizes), kernel(1100, other, args=more), kernel(1200)]
            step = {'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#3', 'pid': 1, 'tid': 1, 'ts': 1000, 'dur': 500}
            name = f'of {other[:12]}{sent}{len(other)}'
            self.shardlens('import', self.write('a.json', [*events, step], distributedInfo=info), '--name', name)
            report = self.json('report', name)
            self.assertEqual(report['summary']['bytes_sent_per_step'], sent and 2 * sent)
            self.assertEqual('did was not recorded' in str(report['summary']['bytes_sent_unknown']), sent is None)
            functions = {row['function'] for row in report['collectives']}
            self.assertEqual(functions, {'all_reduce'} if sent else {'all_reduce', 'other'})

    def test_how_many_ranks_there_are_is_not_how_many_were_given(self):
        for given in (1, 2):
            name = f'of{given}'
            warnings, report = self.import_ranks(name, [sums_of_rank(rank, 3, 6) for rank in range(given)], world_size=None)
            self.assertEqual(len(warnings), 1)
            self.assertIsNone(report['run']['world_size'])
            self.check_nothing_is_claimed(name, report, 'How many ranks the job has is not told')
            self.assertIn('? ranks on cpu', self.shardlens('report', name).stdout)

    def test_a_trace_without_marked_steps_says_what_it_counts_as_steps(self):
        ranks = [sums_of_rank(rank, 3, 6, 'other') for rank in range(2)]
        warnings, report = self.import_ranks('unmarked', ranks)
        self.assertIn("each is taken to end with its optimizer's step", warnings[0])
        self.assertIn(warnings[0], report['notes'])
        self.assertEqual(len(report['steps']), 4)
        for events in ranks:
            events[:] = [event for event in events if not event['name'].startswith('Optimizer')]
        warnings, report = self.import_ranks('whole', ranks)
        self.assertIn('all that was recorded counts as one', warnings[0])
        self.assertIn(warnings[0], report['notes'])
        self.assertIn(' 1 step, 1 measured', self.shardlens('report', 'whole').stdout)
        self.import_ranks('marked', [sums_of_rank(rank, 3, 6) for rank in range(2)])
        compared = self.shardlens('compare', 'marked', 'whole').stdout
        self.assertIn('not comparable', compared)
        self.assertNotIn('slower by', compared)

    @unittest.skipUnless(SAMPLES.is_dir(), 'no public traces here')
    def test_public_traces_have_the_totals_that_their_json_gives(self):
        expected = {row['file']: row for row in table('expected_metrics.csv')}
        for file in sorted(SAMPLES.glob('*/*.json.gz')):
            row = expected[f'{file.parent.name}/{file.name}']
            imported = self.json('import', str(file), '--name', file.name)
            [rank] = [r for r in self.json('report', file.name)['ranks'] if r['rank'] in imported['ranks']]
            self.assert_totals(rank['totals'], totals_of(gzip.open(file).read()), row, file.name)

    @unittest.skipUnless(SAMPLES.is_dir(), 'no public traces here')
    def test_eight_ranks_of_one_job_become_one_run(self):
        with tarfile.open(SAMPLES / 'dlrm_8_ranks' / 'dlrm_kineto.tar.gz') as archive:
            archive.extractall(self.folder / 'dlrm')
        files = sorted((self.folder / 'dlrm').glob('*/*.json'))
        self.assertEqual(self.json('import', *map(str, files), '--name', 'dlrm')['ranks'], list(range(8)))
        report = self.json('report', 'dlrm')
        rows = {int(row['device']): row for row in table('expected_metrics.csv')
                if row['file'].startswith('dlrm')}
        for rank, file in zip(report['ranks'], files):
            self.assert_totals(rank['totals'], totals_of(file.read_text()), rows[rank['rank']], file.name)
        # Who came last to each collective, and by how much: another's computation over the same kernels.
        skews = table('dlrm_8_ranks/expected_collective_skew.csv')
        rows = self.json('query', 'dlrm', 'select sequence, max(start_ns) - min(start_ns) from collective '
                         'group by sequence order by sequence')['rows']
        self.assertEqual([ns / 1000 for _, ns in rows], [float(row['start_skew_us']) for row in skews])

    def assert_totals(self, shown, exact, row, name):
        for figure, value in exact.items():
            self.assertAlmostEqual(shown[figure], value, delta=1e-6, msg=f'{name}, {figure}')
        # The table was computed in floating-point microseconds: a quarter of one at today's dates.
        events = sum(int(row[count]) for count in ('n_comm', 'n_compute', 'n_mem'))
        for figure, column in (('span_us', 'span_us'), ('comm_us', 'comm_us'), ('compute_us', 'compute_us')):
            self.assertAlmostEqual(shown[figure], float(row[column]), delta=0.01 * events + 0.5, msg=f'{name}, {figure}')


if __name__ == '__main__':
    harness.main()
