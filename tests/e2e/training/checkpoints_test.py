"""Checkpoints through the real programs: saved, kept, resumed with other ranks and strategies, refused."""
import pathlib
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

# 8 sequences a step, whatever the number of ranks.
SETTINGS = ['--device', 'cpu', '--set', 'sequence_length=32', '--set', 'learning_rate=0.001', '--set', 'warmup_steps=2',
            '--set', 'save_every=5', '--steps', '10']


class Checkpoints(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.text = self.folder / 'text.txt'
        self.text.write_text(''.join(f'{i * i} is the square of {i}\n' for i in range(2000)))

    def train(self, name, strategy, ranks, *settings, code=0):
        return self.json('run', *SETTINGS, '--ranks', str(ranks), '--set', f'batch_per_rank={8 // ranks}', '--name', name,
                         '--set', f'sharding_strategy={strategy}', '--set', f'data={self.text}', *settings, code=code)

    def losses(self, report):
        return {step['step']: step['loss'] for step in report['steps']}

    def checkpoints(self, report):
        return sorted(p.name for p in (self.folder / report['run']['folder'] / 'checkpoints').iterdir())

    def resumed(self, name, report, step, strategy, ranks, *settings, **options):
        folder = self.folder / report['run']['folder'] / 'checkpoints' / f'step_{step:06}'
        return self.train(name, strategy, ranks, '--set', f'resume={folder}', *settings, **options)

    def test_what_is_saved_goes_on_under_other_settings_or_is_refused(self):
        full = self.train('full', 'ddp', 2)
        self.assertEqual(self.checkpoints(full), ['step_000005', 'step_000010'])
        whole = self.losses(full)
        for strategy, ranks in (('ddp', 1), ('full_shard', 4)):
            resumed = self.losses(self.resumed(f'to {strategy}', full, 5, strategy, ranks))
            self.assertEqual(sorted(resumed), list(range(5, 10)), strategy)
            for step, loss in resumed.items():
                self.assertAlmostEqual(loss / whole[step], 1, delta=1e-5, msg=f'{strategy}, step {step}')
        self.check_that_what_does_not_fit_is_refused_before_ranks_start(full)

    def test_a_sharded_checkpoint_goes_on_bit_for_bit_and_damage_to_one_rank_ends_all(self):
        settings = ['--set', 'checkpoint_format=sharded', '--set', 'dropout=0.1', '--set', 'save_every=2', '--set',
                    'keep_checkpoints=3', '--set', 'collective_timeout_s=300']
        whole = self.train('whole', 'full_shard', 2, *settings)
        self.assertEqual(self.checkpoints(whole), ['step_000006', 'step_000008', 'step_000010'], 'the last ones are kept')
        again = self.resumed('again', whole, 6, 'full_shard', 2, *settings)
        expected = self.losses(whole)
        self.assertEqual(self.losses(again), {step: expected[step] for step in range(6, 10)})

        folder = self.folder / whole['run']['folder'] / 'checkpoints' / 'step_000006'
        of_rank_1 = sorted(folder.glob('model*.safetensors'))[1]
        content = of_rank_1.read_bytes()
        of_rank_1.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
        before = harness.time.monotonic()
        # Found when it is loaded.
        failed = self.resumed('flipped', whole, 6, 'full_shard', 2, *settings, code=1)
        self.assertEqual(failed['run']['status'], 'failed')
        self.assertLess(harness.time.monotonic() - before, 200, 'nobody waits for a collective')
        self.assertIn(of_rank_1.name, failed['run']['reason'])
        logs = [(self.folder / failed['run']['folder'] / f'rank_{rank}.log').read_text() for rank in (0, 1)]
        for log in logs:
            self.assertIn('rank 1', log)

    def test_a_run_that_goes_on_trains_what_is_left_of_its_epochs_and_at_its_end_can_be_asked_for_its_model(self):
        self.text.write_text('to be or not to be, that is the question\n' * 60)
        epochs = ['--set', 'epochs=2', '--set', 'keep_checkpoints=0']
        first = self.train('first', 'ddp', 2, *epochs)
        self.assertIsNone(first['run']['saved_model'])
        samples = {'first': self.samples('first')}
        self.resumed('more', first, 5, 'ddp', 2, *epochs, '--set', 'gradient_accumulation_steps=2')
        self.resumed('fewer', first, 5, 'ddp', 1, *epochs, '--set', 'batch_per_rank=4')
        for name in ('more', 'fewer'):
            samples[name] = 5 * 8 + self.samples(name)
            self.assertLess(abs(samples[name] - samples['first']), 16, f'less than a step: {samples}')
        last = max(int(name.split('_')[1]) for name in self.checkpoints(first))
        none_left = ['--set', 'epochs=2', '--set', 'sequence_length=64']
        nothing = self.resumed('nothing', first, last, 'ddp', 2, *none_left, code=1)
        self.assertIn('no step of epochs: 2 is left', nothing['run']['reason'])
        saved = self.resumed('saved', first, last, 'full_shard', 2, *none_left, '--set', 'save_model=end')
        self.assertEqual([saved['run']['status'], saved['steps']], ['done', []])
        self.assertTrue((pathlib.Path(saved['run']['saved_model']) / 'model.safetensors').exists())
        self.assertIn('no step of epochs: 2 is left', self.log(saved))

    def samples(self, name):
        return self.rows(name, 'select sum(samples) from step')[0][0]

    def test_what_is_not_finite_takes_no_checkpoints_place(self):
        failed = self.train('spoilt', 'ddp', 2, '--set', 'save_every=2', '--set', 'loss_every=100', '--set',
                            'inject=rank=0,step=4,phase=backward,nan', code=1)
        self.assertIn('not finite', failed['run']['reason'])
        self.assertEqual(self.checkpoints(failed), ['step_000002', 'step_000004'])

    def test_a_best_checkpoint_is_of_a_step_whose_loss_was_read(self):
        spoilt = ['--set', 'save_every=0', '--set', 'loss_every=100', '--set', 'evaluate_every=3', '--set', 'keep_best=true']
        failed = self.train('spoilt-best', 'ddp', 2, *spoilt, '--set', 'inject=rank=0,step=5,phase=backward,nan', code=1)
        self.assertIn('step 5', failed['run']['reason'])
        self.assertEqual([step['step'] for step in failed['steps'] if step['loss'] is not None], [0, 2, 5])

    def stop_after_a_step(self, name, code, before=lambda run: None):
        job = self.start('run', '--device', 'cpu', '--ranks', '2', '--steps', '100000', '--name', name, '--set',
                         'sequence_length=32', '--set', 'batch_per_rank=2', '--set', 'checkpoint_on_stop=true')
        harness.wait_until(lambda: any('1 of 100000 steps' in log.read_text() for log in self.runs.glob(f'*{name}/rank_0.log')), 60,
                           'the first step')
        [run] = self.runs.glob(f'*{name}')
        before(run)
        job.send_signal(signal.SIGTERM)
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, code, errors)
        return errors

    def test_a_stop_that_cannot_save_is_no_success(self):
        def leave_no_place(run):
            shutil.rmtree(run / 'checkpoints', ignore_errors=True)
            (run / 'checkpoints').write_text('a file')

        errors = self.stop_after_a_step('stopped', 1, leave_no_place)
        self.assertRegex(errors, 'error: stopped by the user after .* steps, but the checkpoint was not saved; rank')

    def test_a_stopped_run_saves_if_asked(self):
        self.stop_after_a_step('stopped', 0)
        report = self.json('report', 'stopped')
        [saved] = self.checkpoints(report)
        self.assertEqual(int(saved.split('_')[1]), len(report['steps']))

    def check_that_what_does_not_fit_is_refused_before_ranks_start(self, report):
        folder = self.folder / report['run']['folder'] / 'checkpoints' / 'step_000005'

        def refused(*settings, steps=10, code=2):
            done = self.shardlens('run', '--device', 'cpu', '--steps', str(steps), '--name', 'refused', *settings, code=code)
            self.assertFalse(any('refused' in p.name for p in self.runs.iterdir()), done.stderr)
            return done.stderr

        resume = ['--set', f'resume={folder}']
        self.assertIn('transformer.wte.weight', refused(*resume, '--set', 'model=small'))
        self.assertIn('adamw', refused(*resume, '--set', 'optimizer=sgd'))
        self.assertIn('set steps to more than that, or save_model: end', refused(*resume, steps=5))
        self.assertIn('set steps to more than that.', refused(*resume, '--set', 'save_model=end', steps=4))
        self.assertIn('nowhere', refused('--set', 'resume=/nowhere', code=1))
        model = next(folder.glob('model*.safetensors'))
        content = model.read_bytes()
        model.write_bytes(content[: len(content) // 2])
        self.assertIn('model', refused(*resume, code=1))


if __name__ == '__main__':
    harness.main()
