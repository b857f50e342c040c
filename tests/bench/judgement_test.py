"""When benchmarks of predictions call a goal met, missed, or neither."""
import argparse
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'bench' / 'predict'))
import imported
import predict

QUIET = {'base': [100, 101, 99], 'cap 2': [80, 81, 79]}
NOISY = {'base': [100, 160, 40], 'cap 2': [80, 130, 30]}
ONCE = {'base': [100], 'cap 2': [80]}
DRIFTING = ['base', 'cap 2', 'cap 4', 'base', 'cap 2', 'base']


def judged(rows):
    """By row: whether its goal is met; of rows that are judged."""
    return {row['what']: row['met'] for row in rows if row.get('met') is not None}


def of_points(measured, predicted):
    """`predicted`: in parts of the base, as what was measured of the other is there."""
    points = {'base': {}, 'cap 2': {'bucket_cap_mb': '2'}}
    parts = measured | {'cap 2': [time / 100 for time in measured['cap 2']]}
    return judged(predict.rows_of(points, parts, {'base': [], 'cap 2': [predicted] * len(parts['cap 2'])}))


def of_traces(measured, forth, back):
    return judged(imported.rows_of(measured, {('base', 'cap 2'): forth, ('cap 2', 'base'): back}))


class Judgement(unittest.TestCase):
    def test_what_lies_near_is_met_and_what_does_not_is_missed(self):
        self.assertEqual(list(of_points(QUIET, 0.8).values()), [True, True])
        self.assertEqual(list(of_points(QUIET, 0.9).values()), [False, True])
        self.assertEqual(list(of_points(QUIET, 1.1).values()), [False, False])

    def test_points_that_differ_by_chance_alone_have_no_order(self):
        same = QUIET | {'cap 2': [100, 101, 99]}
        self.assertEqual(of_points(same, 1), {'cap 2': True})

    def test_disturbed_runs_change_neither_noise_nor_what_is_met(self):
        disturbed = {'base': [100, 101, 99], 'cap 2': [80, 160, 79, 81, 80]}
        self.assertLess(predict.pooled_noise(disturbed), 0.03)
        self.assertEqual(list(of_points(disturbed, 0.8).values()), [True, True])
        self.assertEqual(list(of_traces(disturbed, [0.8, 0.4, 0.8], [1.25] * 3).values()), [True] * 3)

    def test_a_run_is_told_by_its_mean_unless_that_tells_less(self):
        self.assertIs(predict.least_apart(quiet := {'mean': QUIET, 'p10': NOISY}), quiet['mean'])
        self.assertIs(predict.least_apart(disturbed := {'mean': NOISY, 'p10': QUIET}), disturbed['p10'])
        self.assertIs(predict.least_apart(once := {'mean': ONCE, 'p10': ONCE | {}}), once['mean'])

    def test_noise_is_the_standard_deviation_of_what_is_measured(self):
        draw = random.Random(1)
        measured = {point: [draw.gauss(100, 3) for _ in range(3)] for point in range(2000)}
        self.assertAlmostEqual(predict.pooled_noise(measured), 0.03, delta=0.001)

    def test_a_run_is_held_against_those_of_its_origin_around_it(self):
        self.assertEqual(predict.neighbours(DRIFTING, 1, 'base'), [0, 3])
        self.assertEqual(predict.neighbours(DRIFTING, 4, 'base'), [3, 5])
        self.assertEqual(predict.neighbours(DRIFTING[:2], 1, 'base'), [0])

    def test_where_runs_lie_far_apart_nothing_is_met(self):
        self.assertEqual(of_points(NOISY, 0.8), {})
        self.assertEqual(of_traces(NOISY, [0.8], [1.25]), {})

    def test_where_points_ran_once_noise_is_not_known_and_nothing_is_met(self):
        self.assertEqual(of_points(ONCE, 0.8), {})
        self.assertEqual(of_traces(ONCE, [0.8], [1.25]), {})
        self.assertIsNone(predict.noise_row(predict.pooled_noise(ONCE))['value'])

    def test_a_point_with_nodes_is_predicted_from_as_many_ranks(self):
        options = argparse.Namespace(caps='', links='gbit_per_s=1,nodes=2;gbit_per_s=2', hooks='', batches='', strategies='',
                                     least_units='', more_ranks='4', nodes='2')
        points = predict.changes_of(options)
        self.assertEqual(predict.origin_of('link gbit_per_s=1,nodes=2', points), 'base')
        self.assertEqual(predict.origin_of('link gbit_per_s=2', points), 'base')
        self.assertEqual(predict.origin_of('4 ranks on 2 nodes', points), '4 ranks')
        self.assertLessEqual({predict.origin_of(point, points) for point in points}, set(points))

    def test_what_is_refused_meets_nothing(self):
        self.assertEqual(of_traces(QUIET, [None] * 3, [None] * 3), {})
        self.assertEqual(list(of_traces(QUIET, [None] * 3, [1.25] * 3)), ['cap 2 → base', 'pairs that differ by more than 3 %'])


if __name__ == '__main__':
    unittest.main()
