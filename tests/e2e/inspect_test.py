"""The Inspect workspace: pictures of it, and its window under a real mouse and keyboard."""
import csv
import os
import pathlib
import struct
import subprocess

import harness
from display import Display

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


class Window(harness.ShardlensTest):
    """Looks for a kernel, asks SQL, saves a table, comes back."""

    def setUp(self):
        super().setUp()
        self.shardlens('generate', 'big', '--ranks', '4', '--events', '200000')
        self.display = Display()
        environment = {**self.display.environment, 'XDG_CONFIG_HOME': str(self.folder / 'config')}
        self.program = subprocess.Popen([harness.SHARDLENS, '--runs-dir', str(self.runs)], env=environment,
                                        cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.display.wait_for_window()

    def tearDown(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.communicate()
        self.display.close()
        super().tearDown()
