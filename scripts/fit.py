"""What host instructions go into, from the table by workload of docs/performance.md: a least squares fit."""

import pages

# SMs of gtx480, on which the table is counted.
SMS = 15

# What a program pays for: one, several, and how many a warp instruction.
TERMS = [
    ("a warp instruction", "instructions", lambda row: 1),
    ("a cycle of an SM", "cycles", lambda row: SMS / pages.number(row["warp IPC"])),
    ("a packet", "packets", lambda row: pages.number(row["packets"])),
    ("a DRAM request", "DRAM requests", lambda row: pages.number(row["DRAM requests"])),
]

# Programs that send fewer packets a warp instruction than this compute.
FEW_PACKETS = 0.1


def solve(matrix, right):
    """The solution of linear equations, by elimination."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column:
                factor = rows[row][column]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[column])]
    return [row[-1] for row in rows]


def least_squares(samples):
    """The factors by which the terms of all samples add up to about 1."""
    size = range(len(samples[0]))
    return solve([[sum(sample[i] * sample[j] for sample in samples) for j in size] for i in size],
                 [sum(sample[i] for sample in samples) for i in size])


def shares(samples, factors):
    """What part each term has of what the terms add up to, in the mean of the samples."""
    parts = [[factor * value for factor, value in zip(factors, sample)] for sample in samples]
    return [sum(part[i] / sum(part) for part in parts) / len(parts) for i in range(len(factors))]


def listed(words):
    return f"{', '.join(words[:-1])} and {words[-1]}"


def sentence(rows):
    """What the fit says, in words. Each program counts the same, whatever it costs."""
    costs = [pages.number(row["host instructions a warp instruction"]) for row in rows]
    samples = [[number(row) / cost for _, _, number in TERMS] for row, cost in zip(rows, costs)]
    factors = least_squares(samples)
    off = [sum(factor * value for factor, value in zip(factors, sample)) - 1 for sample in samples]
    error = (sum(value**2 for value in off) / len(off)) ** 0.5
    packets = [pages.number(row["packets"]) for row in rows]
    computing = [sample for sample, sent in zip(samples, packets) if sent < FEW_PACKETS]
    sending = [sample for sample, sent in zip(samples, packets) if sent >= 1]

    def parts(some):
        return listed([f"{100 * share:.0f} % for {several}" for (_, several, _), share in zip(TERMS, shares(some, factors))])

    prices = listed([f"{factor:,.0f} for {one}" for (one, _, _), factor in zip(TERMS, factors)])
    return (f"Least squares over this table, with the same weight for each program, give these host instructions: {prices}. They are off "
            f"by {100 * error:.0f} % (root mean square). By them, the {len(computing)} programs that send under {FEW_PACKETS} packets a "
            f"warp instruction pay {parts(computing)}. The {len(sending)} that send one or more pay {parts(sending)}.")
