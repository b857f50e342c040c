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
import tarfile
import unittest

import harness

SAMPLES = pathlib.Path(os.environ.get('SHARDLENS_SAMPLES', '/nonexistent'))
PYTHON = os.environ.get('SHARDLENS_TORCH_PYTHON', harness.ROOT / '.deps' / 'venv' / 'bin' / 'python3')
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


class Import(harness.ShardlensTest):
    def test_a_trace_that_pytorch_exported_opens_with_its_steps_and_phases(self):
        trace = self.folder / 'cpu.json'
        program = '''
import sys, torch
from torch.profiler import profile, schedule, record_function
with profile(schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=lambda p: p.export_chrome_trace(sys.argv[1])) as p:
    for _ in range(4):
        with record_function('forward'):
            y = torch.randn(64, 64) @ torch.randn(64, 64)
        p.step()
'''
        subprocess.run([PYTHON, '-c', program, str(trace)], check=True, capture_output=True)
        imported = self.json('import', str(trace), '--name', 'from python')
        self.assertEqual((imported['ranks'], imported['warnings']), ([0], []))
        report = self.json('report', 'from python')
        self.assertEqual(len(report['steps']), 3)
        self.assertGreater(report['summary']['phase_ms']['forward'], 0)
        names = {name for [name] in self.json('query', 'from python', 'select text from string')['rows']}
        self.assertIn('aten::mm', names)

    def test_what_is_no_trace_is_refused(self):
        text = self.folder / 'notes.txt'
        text.write_text('dear diary')
        self.assertIn('not JSON', self.shardlens('import', str(text), code=1).stderr)
        self.assertIn('no file', self.shardlens('import', str(self.folder / 'none.json'), code=1).stderr)
        self.assertFalse(self.runs.exists() and list(self.runs.iterdir()))

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
            archive.extractall(self.folder / 'dlrm', filter='data')
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
