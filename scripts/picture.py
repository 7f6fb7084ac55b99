"""Draws the machine, from a warp's lanes to DRAM, with its doors and the designs that fit behind each: docs/pictures/machine.svg.

The doors are those of crates/memory/src/doors, the designs those that `strata list doors` lists. A door that has no place
here, or a place without a door, ends the script: the picture shows all of them.
"""

import json
import re
import sys

import pages
import svg

FILE = "docs/pictures/machine.svg"
WIDTH, HEIGHT, SHOWN = 800, 976, 600

# Choices behind doors that are listed beside the six: a policy of the SM, and a second place for L1Ds.
BESIDE = {"sm.scheduling", "cpu.l1d"}

# Where each door stands: x, y, width, and whether its designs stand beside its name or below it.
PLACES = {
    "RegisterFile": (424, 70, 330, "below"),
    "LanePath": (46, 232, 330, "below"),
    "L1d": (46, 434, 330, "below"),
    "Scratchpad": (424, 434, 330, "below"),
    "Network": (24, 602, 752, "beside"),
    "Llc": (46, 748, 708, "below"),
}
HEIGHTS = {"below": 98, "beside": 62}


def doors(binary):
    """The designs behind each door, by the name of its trait."""
    folder = pages.ROOT / "crates/memory/src/doors"
    found = {source.stem: re.findall(r"^pub trait (\w+)Design: Design", source.read_text(), re.M) for source in folder.glob("*.rs")}
    traits = {stem: names[0] for stem, names in found.items() if names}
    listed = {door["name"]: door["choices"] for door in json.loads(pages.text(binary, "list", "doors", "--json"))}
    designs = {name.split(".")[-1]: choices for name, choices in listed.items() if name not in BESIDE}
    drawn = set(PLACES)
    if set(traits) != set(designs) or set(traits.values()) != drawn:
        sys.exit(f"picture.py: doors {sorted(traits.values())}, listed {sorted(designs)}, drawn {sorted(drawn)}: expected the same")
    return {trait: designs[stem] for stem, trait in traits.items()}


def chip_width(words):
    return 9.95 * len(words) + 14


def chip(x, y, words, dashed=False):
    width = chip_width(words)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    box = svg.rect(x, y, width, 32, "door" if dashed else "ground", "door-edge", 16, dashes)
    return [box, svg.text(x + width / 2, y + 22, words, 16.5, "mono middle" + (" name" if dashed else ""))]


def door(name, designs):
    """A door: a card with its name, a chip for each design, and one for a design of one's own."""
    x, y, width, layout = PLACES[name]
    height = HEIGHTS[layout]
    parts = [svg.rect(x, y, width, height, "door", "door-edge", 10)]
    # A door ajar: its frame, its leaf, its knob.
    top = y + 15
    parts.append(svg.path(f"M{x + 15} {top + 26}V{top}H{x + 33}V{top + 26}", "door-edge", 2.5))
    leaf = f"M{x + 15} {top}L{x + 27} {top + 6}V{top + 32}L{x + 15} {top + 26}Z"
    parts.append(f'<path d="{leaf}" class="f-door-edge"/><circle cx="{x + 23.5}" cy="{top + 18}" r="1.8" class="f-door"/>')
    parts.append(svg.text(x + 44, top + 23, name, 23, "mono bold name"))
    own = "yours"
    parts += chip(x + width - chip_width(own) - 13, top, own, dashed=True)
    at, row = (x + 12, y + 56) if layout == "below" else (x + 62 + 14 * len(name), top)
    for design in designs:
        parts += chip(at, row, design)
        at += chip_width(design) + 8
    limit = x + width - (5 if layout == "below" else chip_width(own) + 18)
    if at - 8 > limit:
        sys.exit(f"picture.py: the designs of {name} need {at - 8 - limit:.0f} units more than there are")
    return parts


def arrow(*points, both=False):
    """A line through points, with a head at its end, or at both."""
    line = "M" + "L".join(f"{x} {y}" for x, y in points)
    return svg.path(line, "muted", 2.5, ' marker-end="url(#head)"' + (' marker-start="url(#head)"' if both else ""))


def part(x, y, width, height, words):
    """A part of the machine that is always there."""
    return [svg.rect(x, y, width, height, "part", "edge"), svg.text(x + width / 2, y + height / 2 + 6, words, 18, "middle")]


def sheets(x, y, width, height):
    """A panel of which the machine has several."""
    return [svg.rect(x + back, y - back, width, height, "panel", "edge", 12) for back in (12, 6, 0)]


def lanes(x, y, width):
    parts = [svg.rect(x, y, width, 98, "part", "edge"), svg.text(x + width / 2, y + 32, "the 32 lanes of a warp", 18, "middle")]
    for number in range(32):
        parts.append(svg.rect(x + 14 + number % 16 * 19, y + 48 + number // 16 * 19, 15, 15, "muted", radius=3))
    return parts


def dram(x, y, width):
    parts = [svg.rect(x, y, width, 56, "part", "edge"), svg.text(x + 20, y + 34, "DRAM", 18)]
    for bank in range(8):
        left = x + 96 + bank * 75
        parts.append(svg.rect(left, y + 12, 64, 32, "ground", "edge", 3))
        parts += [svg.path(f"M{left} {y + 12 + row}h64", "edge", 1) for row in (8, 16, 24)]
    return parts


def machine(binary):
    """The drawing."""
    behind = doors(binary)
    left, right = 211, 589
    head = '<marker id="head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="5" markerHeight="5" orient="auto-start-reverse">'
    parts = [
        f'<defs>{head}<path d="M0 0L10 5L0 10Z" class="f-muted"/></marker></defs>',
        *sheets(24, 24, 740, 532),
        svg.heading(46, 56, "SM", "one of many"),
        *lanes(46, 70, 330),
        arrow((380, 119), (420, 119), both=True),
        arrow((left, 172), (left, 228)), svg.text(left + 14, 206, "addresses", 18, "muted"),
        arrow((left, 334), (left, 362), both=True),
        arrow((380, 281), (right, 281), (right, 362), both=True),
        *part(46, 366, 330, 36, "coalescer"),
        *part(424, 366, 330, 36, "shared memory"),
        arrow((left, 406), (left, 430), both=True),
        arrow((right, 406), (right, 430), both=True),
        arrow((left, 536), (left, 598), both=True),
        arrow((right, 536), (right, 598), both=True),
        *sheets(24, 702, 740, 250),
        svg.heading(46, 734, "Memory partition", "one of several"),
        arrow((400, 668), (400, 744), both=True),
        arrow((400, 850), (400, 874), both=True),
        *dram(46, 878, 708),
    ]
    for name in PLACES:
        parts += door(name, behind[name])
    words = "; ".join(f"{name}: {', '.join(behind[name])}" for name in PLACES)
    description = (
        "Lanes read and write the register file. Their addresses pass the lane path to the coalescer and the L1D, or to shared "
        "memory and the scratchpad. The network joins SMs and memory partitions, each a last-level cache in front of DRAM. "
        f"Six of these parts are doors, and each takes one of several designs or your own. {words}."
    )
    return svg.document(WIDTH, HEIGHT, SHOWN, "From a warp's lanes to DRAM, with six doors", description, parts)
