"""Runs of programs in PyTorch that were recorded by its own profiler, imported."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from support import harness


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
        subprocess.run([harness.TORCH_PYTHON, str(program), str(cls.traces)], check=True, capture_output=True, timeout=600,
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
        return self.shardlens('predict', run, *harness.settings(changes), code=2).stderr

    def predicted(self, run, *changes):
        return self.json('predict', run, *harness.settings(changes))


class UnitTracesTest(TorchTracesTest):
    """Of programs that shard."""

    def calls_of_steps(self, run):
        """Tags of rank 0's unit collectives, by step, in the order in which they were asked for."""
        steps = {}
        for step, tag in self.rows(run, "select step, tag from collective where rank = 0 and tag like 'unit %' "
                                        "order by enqueued_ns"):
            steps.setdefault(step, []).append(tag.removeprefix('unit '))
        return list(steps.values())

    def scheduled(self, run, *changes):
        """What is predicted, and its collectives in order."""
        answer = self.predicted(run, *changes)
        return answer, [event['what'] for event in answer['schedule'] if event['lane'] == 'communication']

    def check_groups(self, name, elements):
        """Of four ranks on a mesh of two by two, whose units hold so many elements."""
        self.assertEqual(self.imported[name]['warnings'], [])
        for unit, held in zip(self.json('report', name)['units'], elements, strict=True):
            told = [unit[key] for key in ('bytes', 'reduced_bytes', 'shard_bytes', 'shard_count')]
            self.assertEqual(told, [4 * held, 4 * held, 2 * held, 2], unit)
        numbered = self.rows(name, 'select distinct process_group, name, ranks from process_group')
        self.assertEqual(len(numbered), len({number for number, *_ in numbered}), numbered)
        self.assertEqual(len(numbered), len({(title, ranks) for _, title, ranks in numbered}), numbered)
        groups = self.rows(name, 'select distinct function, name, ranks from collective join process_group using '
                                 '(rank, process_group) where rank = 3 order by function')
        self.assertEqual(groups, [['all_gather', 'mesh_shard', '2,3'], ['all_reduce', 'mesh_replicate', '1,3'],
                                  ['reduce_scatter', 'mesh_shard', '2,3']])


def in_groups(tags):
    """Each reduction comes twice, within its group and across groups."""
    return [tag for tag in tags for _ in range(2 if tag.endswith(' reduce') else 1)]
