"""What a launch needs to know of a PTX module before the driver sees it."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ENTRY = re.compile(r"\.entry\s+([^\s({;]+)\s*(?:\(([^)]*)\))?")
PARAMETER = re.compile(r"\.param\b(?P<between>.*?)\.[a-z](?P<bits>\d+)\b(?P<rest>.*)", re.DOTALL)
ARRAY = re.compile(r"\[\s*(\d+)\s*\]")


def entries(text):
    """The kernels of a module: name to the sizes of its parameters in bytes. None for one that is not understood."""
    return {name: parameters(inside or "") for name, inside in ENTRY.findall(COMMENT.sub(" ", text))}


def parameters(text):
    sizes = []
    for declaration in filter(None, (part.strip() for part in text.split(","))):
        match = PARAMETER.match(declaration)
        if match is None:
            return None
        elements = ARRAY.search(match["rest"])
        sizes.append(int(match["bits"]) // 8 * (int(elements[1]) if elements else 1))
    return sizes
