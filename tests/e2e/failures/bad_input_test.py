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

    def test_a_text_that_is_too_short_is_named(self):
        short = self.folder / 'short.txt'
        short.write_text('too short')
        done = self.shardlens('run', *harness.QUICK, '--ranks', '2', '--steps', '2', '--set', f'data={short}', code=1)
        self.assertIn(short.name, done.stderr)

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
        folder = self.run_folders()[0]
        folder = folder.rename(folder.with_name('x\nok: done'))
        quiet(self.shardlens('report', str(folder)).stdout)
        quiet(self.shardlens('verify', str(folder), code=1).stdout)  # its name was changed
        self.refused('generate', hostile, '--ranks', '1', '--events', '10')

    def test_names(self):
        quick = ['run', *harness.QUICK, '--ranks', '1', '--steps', '2']
        name = 'it\'s "one" \U0001F680; drop table step'
        self.shardlens(*quick, '--name', name)
        self.assertIn('--overwrite', self.refused(*quick, '--name', name))
        self.shardlens(*quick, '--name', name, '--overwrite')
        self.assertEqual(self.json('report', name)['run']['name'], name)
        self.assertEqual(len([p for p in self.runs.iterdir() if p.is_dir()]), 1)

    def test_runs_dir_that_is_a_file(self):
        self.runs.write_text('not a folder')
        done = self.shardlens('run', *harness.QUICK, '--ranks', '1', '--steps', '2', code=1)
        self.assertIn(str(self.runs), done.stderr)
        self.runs.unlink()

    def test_a_damaged_file_of_one_rank_leaves_the_others(self):
        self.shardlens('generate', 'half', '--ranks', '2', '--events', '10000')
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
        self.assertEqual(done.stdout.split()[1], str(len(whole['steps'])))
        self.assertIn('rank_1.sqlite', done.stderr)


if __name__ == '__main__':
    harness.main()
