"""Instructions of one thread: every form of the families without memory, and chains through the carry."""

import re

from case import draw
from lines import Line, case
from vectors import CHAINS, FAMILIES, expansions, forms, kind, parts, value

# Instructions of a form, and vectors of an instruction.
MOST, VECTORS = 72, 128
# Forms whose operands hold addresses or pairs of 64 bits, and those that only a chain shows.
ELSEWHERE = r"addc|subc|madc|cvta|isspacep|mov\.pred|mov\.b128"


def defined(code, vector):
    """Whether the ISA says what comes out."""
    words = code.split(" ")[0]
    if found := re.match(r"(?:div|rem)\.([us])(16|32|64)", words):
        n = int(found[2])
        return vector[1] != 0 and not (found[1] == "s" and vector[1] == 2**n - 1 and vector[0] == 2 ** (n - 1))
    return True


def instructions():
    for code in CHAINS:
        yield "chains", code
    for family, words, operands in forms():
        if family not in [*FAMILIES, "Video"] or "%q" in operands or re.match(ELSEWHERE, words):
            continue
        everything = expansions(words)
        some = everything if len(everything) <= MOST else draw(words).sample(everything, MOST)
        for picked in some:
            yield family, f"{picked} {operands}"


def line(code, open_=False):
    """An instruction with vectors; of those whose result the ISA leaves open, if that is asked for."""
    destinations, sources = parts(code)
    random, vectors = draw(code + "open" * open_), []
    picked = code.split(" ")[0] if ";" not in code else ""
    while len(vectors) < VECTORS:
        if picked:
            vector = [value(kind(s, picked), random) for s in sources]
        else:
            vector = [value("64" if "d" in s else "32", random) for s in sources]
        if picked.startswith(("div", "rem")) and open_:
            vector[1] = random.choice([0, vector[1], 2 ** 64 - 1 & (1 << int(re.search(r"\d+", picked)[0])) - 1])
            vector[0] = random.choice([vector[0], 1 << int(re.search(r"\d+", picked)[0]) - 1])
        if picked.startswith(("bfe", "bfi")) and not open_:
            # Above the eight bits of a position or a length the ISA leaves them open.
            vector[-2:] = [x & 0xFF for x in vector[-2:]]
        if defined(code, vector) or open_:
            vectors.append(vector)
    return Line(code, sources, destinations, vectors)


def cases(refused, size=32):
    batches, batch = [], []
    for _, code in instructions():
        if code in refused:
            continue
        batch.append(code)
        if len(batch) == size:
            batches.append(batch)
            batch = []
    for number, codes in enumerate([*batches, batch]):
        if codes:
            yield f"lanes-{number:03}", lambda name, codes=codes: case(name, [line(code) for code in codes])
    some = [code for _, code in instructions() if re.match(r"(div|rem)\.[us]|bf[ei]", code)]
    yield "open", lambda name: case(name, [line(code, True) for code in some])
