"""Tests of scripts/v100_counters.py that run no program."""

import unittest

import v100_counters


def row(name, ours, gpu):
    return {"kind": "counter", **v100_counters.compared("counter", name, ours, gpu)}


def kernels(name, *pairs):
    return {number: {("counter", name): row(name, ours, gpu)} for number, (ours, gpu) in enumerate(pairs)}


class Counters(unittest.TestCase):
    def test_an_error_is_the_mean_of_absolute_ones_without_small_counts(self):
        # 10 % too many and 30 % too few; 999 sectors count for nothing.
        found = v100_counters.error(kernels("L2 read sectors", (1100, 1000), (1400, 2000), (10, 999)), "L2 read sectors")
        self.assertEqual(found, "20.0 % of 2")

    def test_idle_sms_are_compared_by_difference(self):
        self.assertEqual(v100_counters.error(kernels("idle SMs", (6, 4), (1, 0)), "idle SMs"), "1.5 SMs of 2 kernels")

    def test_a_counter_that_the_gpu_has_none_of_has_no_ratio(self):
        self.assertEqual(row("L2 read sectors", 5, 0)["ratio"], "")
        self.assertEqual(row("L2 read sectors", 3, 2)["ratio"], "1.5000")

    def test_a_kernel_without_sectors_is_in_no_mean(self):
        found = {**kernels("L1 read sectors", (1500, 1000)), "other": {}}
        self.assertEqual(v100_counters.error(found, "L1 read sectors"), "50.0 % of 1")

    def test_store_hits_are_a_share_of_lines(self):
        self.assertEqual(v100_counters.store_hit_share({"l1d.store_hits": 3.0, "l1d.stores": 12.0}), 0.25)
        self.assertEqual(v100_counters.store_hit_share({"l1d.store_hits": 0.0, "l1d.stores": 0.0}), 0)


class Watts(unittest.TestCase):
    def test_structures_add_up_to_all(self):
        # 8 pJ at 4 W take 2 ps: 6 pJ are 3 W, 2 pJ are 1 W.
        structures = {"l2": {"dynamic_pj": 6, "leakage_pj": 0}, "rest": {"dynamic_pj": 0, "leakage_pj": 2}}
        found = dict(v100_counters.watts({"energy": {"watts": 4.0, "pj": 8.0, "structures": structures}}))
        self.assertEqual((found["all"], found["l2 dynamic"], found["rest leakage"]), (4, 3, 1))
        self.assertEqual(sum(value for name, value in found.items() if name != "all"), 4)


if __name__ == "__main__":
    unittest.main()
