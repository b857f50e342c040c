"""Wrong use and bad files: exit code 2 or 1, and a message that says what to do."""
import contextlib
import json
import os
import pathlib
import pty
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402


def on_a_terminal(arguments):
    """What shardlens writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([harness.SHARDLENS, *arguments], stdout=theirs, stderr=theirs):
        os.close(theirs)
        written = b''
        with contextlib.suppress(OSError):  # the last one to have it open has ended
            while part := os.read(ours, 65536):
                written += part
    os.close(ours)
    return written.decode()


class BadInput(harness.ShardlensTest):
    def refused(self, *arguments, code=2):
        done = self.shardlens(*arguments, code=code)
        self.assertEqual(done.stdout, '')
        self.assertTrue(done.stderr.strip())
        self.assertNotIn('terminate called', done.stderr)
        return done.stderr

    def test_keys_and_values(self):
        self.assertIn('bucket_cap_mb', self.refused('run', '--set', 'bucket_cap=4'))
        self.assertIn('4096', self.refused('run', '--set', 'bucket_cap_mb=100000'))
        self.assertIn('whole number', self.refused('run', '--set', 'steps=many'))
        self.assertIn('key=value', self.refused('run', '--set', 'steps'))
        self.assertIn('static_graph', self.refused(
            'run', '--set', 'static_graph=true', '--set', 'find_unused_parameters=true'))
        self.refused('run', '--no-such-option')
        self.refused('no-such-command-or-run', 'x')
        self.refused('settings', 'bucket_cap')
        self.assertFalse(self.runs.exists() and list(self.runs.iterdir()), 'nothing was started')

    def test_settings_files(self):
        def settings(text):
            path = self.folder / 'settings.yaml'
            path.write_bytes(text)
            return str(path)
        self.assertIn('YAML', self.refused('run', settings(b'\x00\xff{{{: nope')))
        self.assertIn('bucket_cap_mb', self.refused('run', settings(b'bucket_cap_mib: 3\n')))
        self.refused('run', settings(b'- a\n- b\n'))
        self.refused('run', settings(b'steps: [1, 2]\n'))
        missing = self.shardlens('run', str(self.folder / 'missing.yaml'), code=2).stderr
        self.assertIn('missing.yaml', missing)

    def test_text(self):
        empty = self.folder / 'empty.txt'
        empty.write_text('')
        short = self.folder / 'short.txt'
        short.write_text('too short')
        quick = ['run', *harness.QUICK, '--ranks', '2', '--steps', '2']
        for path in (self.folder / 'none.txt', empty, short):
            done = self.shardlens(*quick, '--set', f'data={path}', '--name', path.stem,
                                  code=2 if path.stem == 'none' else 1)
            self.assertIn(path.name, done.stderr)

    def test_of_programs_that_take_a_name_at_once_one_gets_it(self):
        command = [harness.SHARDLENS, 'generate', 'same', '--ranks', '1', '--events', '1000',
                   '--runs-dir', str(self.runs)]
        for _ in range(3):
            started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                       for _ in range(6)]
            ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
            self.assertEqual(sorted(code for _, code in ended), [0, 2, 2, 2, 2, 2], ended)
            self.assertTrue(all('--overwrite' in message for message, code in ended if code == 2), ended)
            self.assertEqual(len(self.run_folders()), 1)
            shutil.rmtree(self.runs)

    def test_what_is_printed_does_not_steer_the_terminal(self):
        self.shardlens('generate', 'plain', '--ranks', '1', '--events', '1000')
        hostile = 'red\x1b[31m\x9b2J\u202egpj\nok: done'
        with contextlib.closing(sqlite3.connect(self.run_folders()[0] / 'run.sqlite')) as database, database:
            database.execute("update meta set value = ? where key = 'name'", [hostile])
        sql = "select value from meta where key = 'name'"
        marks = ('\x1b', '\x9b', '\u202e')

        def quiet(text):
            self.assertFalse([mark for mark in marks if mark in text], text)
            self.assertFalse([line for line in text.splitlines() if line.startswith('ok: done')], text)
        run = str(self.run_folders()[0])
        quiet(self.shardlens('query', run, sql).stdout)
        document = self.shardlens('query', run, sql, '--json').stdout
        quiet(document)
        self.assertEqual(json.loads(document)['rows'], [[hostile]], 'for programs it is whole')
        self.assertIn(hostile, self.shardlens('query', run, sql, '--format', 'csv').stdout)
        self.assertNotIn('\x1b', on_a_terminal(['query', run, sql, '--format', 'csv']))
        quiet(self.shardlens('report', run).stdout)
        quiet(self.shardlens('report', f'no such run {hostile}', code=1).stderr)
        quiet(self.refused(f'--{hostile}'))
        self.refused('generate', hostile, '--ranks', '1', '--events', '10')

    def test_names(self):
        quick = ['run', *harness.QUICK, '--ranks', '1', '--steps', '2']
        name = 'it\'s "one" \U0001F680; drop table step'
        self.shardlens(*quick, '--name', name)
        self.assertIn('--overwrite', self.refused(*quick, '--name', name))
        self.shardlens(*quick, '--name', name, '--overwrite')
        self.assertEqual(self.json('report', name)['run']['name'], name)
        self.assertEqual(len([p for p in self.runs.iterdir() if p.is_dir()]), 1)

    def test_more_ranks_than_gpus(self):
        message = self.refused('run', '--device', 'cuda', '--ranks', '64', '--name', 'g')
        self.assertIn('GPU', message)

    def test_runs_dir_that_is_a_file(self):
        self.runs.write_text('not a folder')
        done = self.shardlens('run', *harness.QUICK, '--ranks', '1', '--steps', '2', code=1)
        self.assertIn(str(self.runs), done.stderr)
        self.runs.unlink()

    def test_files_that_are_no_traces(self):
        def report(name, content):
            path = self.folder / name
            path.write_bytes(content)
            message = self.refused('report', str(path), code=1)
            self.assertIn(name, message)
            return message
        report('empty.shardlens', b'')
        report('text.shardlens', b'this is not a database, by any means\n' * 100)
        foreign = self.folder / 'foreign.db'
        with sqlite3.connect(foreign) as connection:
            connection.execute('create table t (x)')
        self.assertIn('foreign.db', self.refused('report', str(foreign), code=1))
        self.assertIn('missing', self.refused('report', 'missing', code=1))

    def test_a_newer_and_a_truncated_trace(self):
        self.shardlens('run', *harness.QUICK, '--ranks', '1', '--steps', '4', '--name', 'a')
        packed = self.folder / 'a.shardlens'
        self.shardlens('pack', 'a', '-o', str(packed))
        truncated = self.folder / 'truncated.shardlens'
        truncated.write_bytes(packed.read_bytes()[:packed.stat().st_size // 2])
        self.assertIn('truncated.shardlens', self.refused('report', str(truncated), code=1))
        with sqlite3.connect(packed) as connection:
            connection.execute('pragma user_version = 99')
        self.assertIn('newer', self.refused('report', str(packed), code=1))
        self.refused('query', 'a', 'select nonsense from nowhere')
        self.refused('query', 'a', 'delete from step')

    def test_a_damaged_file_of_one_rank_leaves_the_others(self):
        self.shardlens('run', *harness.QUICK, '--ranks', '2', '--steps', '6', '--name', 'half')
        whole = self.json('report', 'half')
        file = next(self.runs.glob('*half*/rank_1.sqlite'))
        file.write_bytes(file.read_bytes()[:5000])
        done = self.shardlens('report', 'half', '--json', code=1)
        self.assertIn('rank_1.sqlite', done.stderr)
        left = json.loads(done.stdout)
        self.assertIsNone(left['ranks'][1]['step_ms'], 'known from the other rank, and no more than that')
        self.assertEqual(left['summary']['steps_measured'], whole['summary']['steps_measured'])
        self.assertEqual(left['ranks'][0]['step_ms'], whole['ranks'][0]['step_ms'])
        done = self.shardlens('query', 'half', 'select count(*) from step', '--format', 'csv', code=1)
        self.assertEqual(done.stdout.split()[1], '6')
        self.assertIn('rank_1.sqlite', done.stderr)


if __name__ == '__main__':
    harness.main()
