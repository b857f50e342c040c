"""Runs of programs in PyTorch that were recorded by its own profiler, imported."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from support import harness

PYTHON = os.environ.get('SHARDLENS_TORCH_PYTHON', harness.ROOT / '.deps' / 'venv' / 'bin' / 'python3')


class TorchTracesTest(harness.ShardlensTest):
    """`PROGRAM` of a subclass, by traced_job, writes NAME.rankR.json of its ranks for each of its jobs into the folder that it is given,
    and said.json: what PyTorch itself says of each, by name."""

    RANKS = 2

    @classmethod
    def setUpClass(cls):
        cls.traces = pathlib.Path(tempfile.mkdtemp(prefix='shardlens-traces-'))
        cls.addClassCleanup(shutil.rmtree, cls.traces)
        program = cls.traces / 'jobs.py'
        program.write_text(cls.PROGRAM)
        support = str(pathlib.Path(__file__).parent)  # with traced_job
        subprocess.run([PYTHON, str(program), str(cls.traces)], check=True, capture_output=True, timeout=600,
                       env=os.environ | {'PYTHONPATH': support, 'PYTHONDONTWRITEBYTECODE': '1'})
        cls.said = json.loads((cls.traces / 'said.json').read_text())

    def setUp(self):
        super().setUp()
        library = self.traces / 'runs'
        if library.exists():
            shutil.copytree(library, self.runs)
            return
        files = {name: [str(self.traces / f'{name}.rank{rank}.json') for rank in range(self.RANKS)] for name in self.said}
        type(self).imported = {name: self.json('import', *files[name], '-o', name) for name in self.said}
        shutil.copytree(self.runs, library)

    def refused(self, run, *changes):
        options = [part for change in changes for part in ('--set', change)]
        return self.shardlens('predict', run, *options, code=2).stderr

    def predicted(self, run, *changes):
        return self.json('predict', run, *(part for change in changes for part in ('--set', change)))
