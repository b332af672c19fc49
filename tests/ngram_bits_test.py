"""The yardstick that the demo prints beside its model, against numbers worked out by hand."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from ngram_bits import bits_per_byte


class NgramBits(unittest.TestCase):
    def test_order_0_mixes_counts_with_the_uniform_distribution(self):
        # "aab": n(a) = 2 of 3, 2 different bytes: p(a) = (2 + 2/256) / 5.
        self.assertAlmostEqual(bits_per_byte(b"aab", b"a", 0), -math.log2((2 + 2 / 256) / 5))

    def test_order_1_backs_off_to_order_0(self):
        # After the b of "aab" nothing was ever seen, so a comes from order 0; after a come a and b, once each:
        # p(b|a) = (1 + 2 p(b)) / 4 with p(b) = (1 + 2/256) / 5.
        first = (2 + 2 / 256) / 5
        second = (1 + 2 * (1 + 2 / 256) / 5) / 4
        expected = -(math.log2(first) + math.log2(second)) / 2
        self.assertAlmostEqual(bits_per_byte(b"aab", b"ab", 1), expected)

    def test_probabilities_of_all_next_bytes_add_up_to_one(self):
        total = sum(2 ** -bits_per_byte(b"abracadabra", bytes([byte]), 3) for byte in range(256))
        self.assertAlmostEqual(total, 1.0)


if __name__ == "__main__":
    unittest.main()
