"""The Inspect workspace: pictures of it, and its window under a real mouse and keyboard."""
import csv
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402
from support.display import WindowTest  # noqa: E402

SAMPLES = pathlib.Path(os.environ.get('SHARDLENS_SAMPLES', '/nonexistent'))


class Pictures(harness.ShardlensTest):
    def picture(self, run, *more):
        """Width, height and bytes of a picture; what is in it, tests/app/window looks at."""
        file = self.folder / 'picture.png'
        subprocess.run(['xvfb-run', '-a', harness.SHARDLENS, 'screenshot', run, '-o', str(file), '--workspace',
                        'inspect', '--size', '1280x800', '--runs-dir', str(self.runs), *more],
                       check=True, timeout=120, cwd=self.folder)
        data = file.read_bytes()
        return *struct.unpack('>II', data[16:24]), len(data)

    def test_a_made_up_run_in_both_themes(self):
        self.shardlens('generate', 'big', '--ranks', '8', '--events', '400000')
        for theme in ('dark', 'light'):
            width, height, size = self.picture('big', '--theme', theme)
            self.assertEqual((width, height), (1280, 800))
            self.assertGreater(size, 40_000, 'not an empty window')

    def test_an_imported_trace_of_a_real_gpu(self):
        trace = SAMPLES / 'hta/ddp_resnet50_a100_rank0of2.json.gz'
        if not trace.exists():
            self.skipTest('SHARDLENS_SAMPLES does not hold the trace')
        self.shardlens('import', str(trace), '-o', 'real')
        self.assertGreater(self.picture('real')[2], 40_000)


# In a window of 1600 x 1000 with a message line: the button above the table.
SAVE_CSV = (1544, 766)


class Window(WindowTest):
    """Looks for a kernel, asks SQL, saves a table, comes back."""

    def setUp(self):
        super().setUp()
        self.shardlens('generate', 'big', '--ranks', '4', '--events', '200000')
        self.open_window()

    def saved_counts(self):
        """What the table of kernels on screen counts, by name, as it was saved last; saves it again."""
        tables = sorted(self.folder.glob('*Kernels*.csv'), key=lambda file: file.stat().st_mtime_ns)
        self.display.click(*SAVE_CSV)
        if not tables:
            return {}
        with tables[-1].open(newline='') as file:
            return {row['name']: int(row['count']) for row in csv.DictReader(file)}

    def test_a_user_looks_for_a_kernel_asks_sql_saves_a_table_and_comes_back(self):
        display = self.display
        harness.wait_until(lambda: 'big' in display.xdotool('getwindowname', display.window), 30, 'the run')
        display.keys('ctrl+2')
        told = dict(map(tuple, self.rows('big', 'select name, count(*) from kernel group by name')))
        # Sums grow while the run is being read.
        harness.wait_until(lambda: self.saved_counts() == told, 30, 'the table to say what was recorded')

        display.keys('b')  # a bookmark in the middle of the run
        display.keys('ctrl+f')
        display.xdotool('type', 'gemm')
        for key in ('Return', 'Return', 'shift+Return', 'Escape', 'w', 'w', 'd', 'f', 'm', 'Escape'):
            display.keys(key)
        display.command('Show: SQL')
        display.command('Steps one')
        self.assertIsNone(self.program.poll(), 'the window lives')
        display.command('Quit')
        self.assertEqual(self.program.wait(timeout=30), 0)
        remembered = (self.folder / 'config/shardlens/preferences.yaml').read_text()
        self.assertIn('workspace: inspect', remembered)
        self.assertIn('inspect_tab: SQL', remembered)
        bookmarks, = [run['bookmarks'] for run in self.json('runs') if run['name'] == 'big']
        self.assertEqual(len(bookmarks), 1, 'it is kept with the run')
        packed = self.folder / 'sent.shardlens'
        self.shardlens('pack', 'big', '-o', str(packed))
        self.assertEqual(self.json('report', str(packed))['run']['bookmarks'][0]['time_ns'], bookmarks[0]['time_ns'])
        self.shardlens('verify', str(packed))


harness.main()
