"""generate, query, export, pack and verify, on made-up runs of eight ranks."""
import hashlib
import json
import pathlib
import signal
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

KERNELS = ('select rank, name, count(*), sum(end_ns - start_ns) from kernel '
           'group by rank, name order by rank, name')


class Data(harness.ShardlensTest):
    def generate(self, name, events):
        run = self.json('generate', name, '--ranks', '8', '--events', str(events))
        return harness.pathlib.Path(self.folder / run['run']), run

    def rows(self, run, sql):
        return self.json('query', str(run), sql)['rows']

    def test_exported_tables_hold_what_sql_sees(self):
        run, told = self.generate('plain', 150_000)
        output = self.folder / 'rows.sqlite'
        exported = self.json('export', 'plain', '--format', 'rows', '-o', str(output))
        database = sqlite3.connect(output)
        events = 0
        for table in ('kernel', 'launch', 'op', 'copy', 'allocation', 'collective'):
            count, = database.execute(f'select count(*) from {table}').fetchone()
            self.assertEqual(self.rows('plain', f'select count(*) from {table}'), [[count]])
            self.assertEqual(exported['tables'][table], count)
            events += count
        self.assertEqual(events, told['events'])
        self.assertEqual([list(row) for row in database.execute(KERNELS)],
                         self.rows('plain', KERNELS))
        for table in ('step', 'span', 'collective', 'memory', 'lane', 'meta', 'setting'):
            count, = database.execute(f'select count(*) from {table}').fetchone()
            self.assertEqual(self.rows('plain', f'select count(*) from {table}'), [[count]], table)
        self.assertEqual(database.execute('pragma integrity_check').fetchone(), ('ok',))
        self.assertIn('exists already',
                      self.shardlens('export', 'plain', '-o', str(output), code=2).stderr)
        self.shardlens('export', 'plain', '-o', str(output), '--overwrite')

    def test_a_packed_run_answers_as_its_folder_and_damage_is_found(self):
        run, told = self.generate('whole', 150_000)
        packed = self.folder / 'whole.shardlens'
        self.shardlens('pack', 'whole', '-o', str(packed))
        self.assertEqual(self.rows(packed, KERNELS), self.rows('whole', KERNELS))
        for path in ('whole', str(packed)):
            report = self.json('verify', path)
            self.assertTrue(report['intact'])
            self.assertEqual(sum(rank['readable_events'] for rank in report['ranks']),
                             told['events'])
        database = sqlite3.connect(packed)
        rank, lane, kind, first, last, count, data = database.execute(
            'select rank, lane, kind, first_ns, last_ns, count, data from chunk '
            "where rank = 5 and kind = 'kernel' order by row_id limit 1").fetchone()
        database.close()
        content = bytearray(packed.read_bytes())
        at = content.index(data[:200])
        content[at + 100] ^= 1
        packed.write_bytes(content)
        report = self.json('verify', str(packed), code=1)
        self.assertEqual(len(report['damage']), 1)
        damage = report['damage'][0]
        self.assertEqual([damage[key] for key in ('rank', 'lane', 'kind', 'first_ns', 'last_ns',
                                                  'events')],
                         [rank, lane, kind, first, last, count])
        self.assertIn('Can still be read', self.shardlens('verify', str(packed), code=1).stdout)
        failed = self.shardlens('query', str(packed), KERNELS, code=1)
        self.assertIn('rank 5', failed.stderr)
        self.assertEqual(self.rows(packed, 'select count(duration_ns) from kernel where rank = 4'),
                         self.rows('whole', 'select count(duration_ns) from kernel where rank = 4'))
        packed.write_bytes(content[:len(content) // 2])
        self.assertIn('truncated', self.shardlens('verify', str(packed), code=1).stdout)

    def test_ctrl_c_leaves_nothing_behind(self):
        run, _ = self.generate('large', 6_000_000)

        def content():
            return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
                    for file in run.iterdir()}

        before = content()
        out = self.folder / 'out'
        out.mkdir()
        for command in (['export', 'large', '-o', str(out / 'rows.sqlite')],
                        ['pack', 'large', '-o', str(out / 'x.shardlens')]):
            process = self.start(*command)
            harness.wait_until(lambda: any(out.iterdir()) or process.poll() is not None, 20,
                               'the file to be begun')
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn('stopped', err)
            self.assertEqual(list(out.iterdir()), [])
        self.assertEqual(content(), before)
        process = self.start('generate', 'never', '--events', '2000000000')
        harness.wait_until(lambda: any('never' in entry.name for entry in self.runs.iterdir()), 20,
                           'the run to be begun')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual([entry for entry in self.runs.iterdir() if 'never' in entry.name], [])

    def test_a_query_says_what_there_is(self):
        self.generate('small', 10_000)
        wrong = self.shardlens('query', 'small', 'select nonsense from op', code=2).stderr
        self.assertIn('Columns of op: rank, lane', wrong)
        self.assertIn('allocation', self.shardlens('query', 'small', 'select 1 from x', code=2).stderr)
        self.assertIn('duration_ns', self.shardlens('query', '--help').stdout)
        steps = json.loads(self.shardlens('query', 'small', 'select count(*) from step',
                                          '--json').stdout)['rows']
        self.assertEqual(steps, [[8]])
        for command in ('export', 'verify', 'query'):
            self.assertIn('no run', self.shardlens(
                command, 'absent', *{'export': ['-o', 'x'], 'query': ['select 1']}.get(command, []),
                code=1).stderr)


harness.main()
