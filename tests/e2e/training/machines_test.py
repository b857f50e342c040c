"""Ranks on two machines: network namespaces with names of their own, which no other machine knows."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, model_folders  # noqa: E402

SETTINGS = {'model': 'tiny', 'device': 'cpu', 'steps': 4, 'sharding_strategy': 'hybrid_shard', 'shard_group_size': 2,
            'batch_per_rank': 2, 'sequence_length': 32}
RANKS, PER_MACHINE = 4, 2
FIRST, SECOND = '10.213.7.1', '10.213.7.2'


def ip(*arguments):
    return subprocess.run(['ip', *arguments], capture_output=True, text=True)


class Machines(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.names = [f'shardlens{os.getpid()}{which}' for which in 'ab']
        for name in self.names:
            made = ip('netns', 'add', name)
            if made.returncode != 0:
                self.skipTest(f'no network namespaces: {made.stderr.strip()}')
            self.addCleanup(ip, 'netns', 'delete', name)
        first, second = self.names
        for command in (f'link add to_b netns {first} type veth peer name to_a netns {second}',
                        f'-n {first} addr add {FIRST}/24 dev to_b', f'-n {second} addr add {SECOND}/24 dev to_a',
                        f'-n {first} link set to_b up', f'-n {second} link set to_a up',
                        f'-n {first} link set lo up', f'-n {second} link set lo up'):
            done = ip(*command.split())
            self.assertEqual(done.returncode, 0, f'{command}: {done.stderr}')

    def start_machine(self, machine, folder, disk=None, more=None, **variables):
        """Its ranks, as torchrun starts them, each with the same folder on its own machine; a disk is its own as well."""
        settings = self.folder / 'settings.yaml'
        settings.write_text(''.join(f'{key}: {value}\n' for key, value in {**SETTINGS, **(more or {})}.items()))
        mount = f'mount --bind "{disk}" "{folder.parent}" && ' if disk else ''
        rename = f'{mount}echo machine-{"ab"[machine]} > /proc/sys/kernel/hostname; exec "$@"'
        processes = []
        for local in range(PER_MACHINE):
            environment = os.environ | {'RANK': str(machine * PER_MACHINE + local), 'LOCAL_RANK': str(local),
                                        'WORLD_SIZE': str(RANKS), 'LOCAL_WORLD_SIZE': str(PER_MACHINE),
                                        'MASTER_ADDR': FIRST, 'MASTER_PORT': '29517'} | variables
            processes.append(subprocess.Popen(
                ['ip', 'netns', 'exec', self.names[machine], 'unshare', '--uts', '--mount', 'sh', '-c', rename, 'sh',
                 str(harness.BIN / 'shardlens-rank'), '--settings', str(settings), '--run', str(folder)],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return processes

    def train_on_both(self, **variables):
        folders = [self.folder / 'machine_a' / 'both', self.folder / 'machine_b' / 'both']
        processes = []
        for machine, folder in enumerate(folders):
            folder.parent.mkdir()
            processes += self.start_machine(machine, folder, **variables)
        for process in processes:
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, said[-3000:])
        return folders

    def test_they_train_as_one_machine_and_their_files_are_one_run(self):
        mine, other = self.train_on_both()
        self.assertEqual(json.loads(self.shardlens('report', str(other), '--json').stdout)['run']['status'], 'done')
        for file in other.glob('rank_*'):
            shutil.copy(file, mine)
        self.runs.mkdir(exist_ok=True)
        mine.rename(self.runs / 'both')
        self.shardlens('verify', 'both')
        both = self.json('report', 'both')
        alone = self.json('run', str(self.folder / 'settings.yaml'), '--ranks', str(RANKS), '--name', 'alone')
        self.assertEqual(both['run']['status'], 'done')
        self.assertEqual(both['run']['world_size'], RANKS)
        self.assertEqual([step['loss'] for step in both['steps']], [step['loss'] for step in alone['steps']])

    def test_without_a_shared_disk_what_ranks_would_write_together_is_refused_before_the_first_step(self):
        folder = self.folder / 'run' / 'of both'
        folder.parent.mkdir()
        processes = []
        for machine in (0, 1):
            disk = self.folder / f'disk {machine}'
            disk.mkdir()
            processes += self.start_machine(machine, folder, disk, dict(save_every=2, shard_group_size=4))
        for process in processes:
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 2, said)
            self.assertIn(f"rank 2: this rank, on machine-b, does not see rank 0's folder '{folder}'", said)
        # Replicas of what the first machine has write nothing.
        for form in ('full', 'sharded'):
            processes = []
            for machine in (0, 1):
                processes += self.start_machine(machine, folder.with_name(f'replicas {form}'), self.folder / f'disk {machine}',
                                                dict(save_every=2, checkpoint_format=form))
            for process in processes:
                _, said = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, said[-3000:])
            saved = self.folder / 'disk 0' / f'replicas {form}' / 'checkpoints'
            self.assertEqual(sorted(path.name for path in saved.iterdir()), ['step_000002', 'step_000004'])

    def test_a_model_folder_with_other_weights_on_one_machine_is_refused(self):
        folder = self.folder / 'run' / 'of both'
        folder.parent.mkdir()
        model = dict(vocab_size=320, n_embd=32, n_layer=2, n_head=4, n_inner=64, n_positions=64)
        settings = dict(model=folder.with_name('model'), tokenizer='bytes', save_model='none')
        processes = []
        for machine in (0, 1):
            disk = self.folder / f'disk {machine}'
            model_folders.write(disk / 'model', 'gpt2', **model)
            if machine == 1:
                with open(disk / 'model' / 'model.safetensors', 'r+b') as weights:
                    weights.seek(-1, os.SEEK_END)
                    weights.write(b'\x01')
            processes += self.start_machine(machine, folder, disk, settings)
        for process in processes:
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 1, said[-3000:])
            self.assertIn('The ranks do not see the same model folder.', said)

    def test_the_interface_can_be_chosen(self):
        # One that is not there on either machine ends every rank, with its name.
        folder = self.folder / 'run'
        processes = self.start_machine(0, folder, GLOO_SOCKET_IFNAME='nothing0')
        processes += self.start_machine(1, self.folder / 'other', GLOO_SOCKET_IFNAME='nothing0')
        for process in processes:
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 1)
            self.assertIn('nothing0', said)


if __name__ == '__main__':
    harness.main()
