"""What a launch needs to know of a PTX module before the driver sees it."""

import re
from dataclasses import dataclass

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ENTRY = re.compile(r"\.entry\s+([^\s({;]+)\s*(?:\(([^)]*)\))?")
PARAMETER = re.compile(
    r"\.param\b.*?\.(?P<type>(?P<kind>[usbf]|bf)(?P<bits>8|16|32|64)(?P<pair>x2)?)\b.*?(?P<name>[A-Za-z_$%][\w$%]*)\s*"
    r"(?:\[\s*(?P<count>\d+)\s*\])?\s*$",
    re.DOTALL,
)


@dataclass
class Parameter:
    """A parameter of a kernel: its name, its type as in the text, what fits it, and its size."""

    name: str
    type: str
    kind: str
    bytes: int

    def takes(self, ty):
        """Whether a scalar of a launch file's type may be its argument."""
        fits = {"integer": not ty.is_float, "float": ty.is_float, "bits": True}
        return self.bytes == ty.bytes and fits[self.kind]

    def takes_address(self):
        """Whether the address of a buffer may be its argument."""
        return self.bytes == 8 and self.kind != "float"

    def expected(self, types):
        """What its argument may be, for an error."""
        names = ["buffer"] * self.takes_address() + [name for name, ty in types.items() if self.takes(ty)]
        what = " or ".join(names) or f"an argument of {self.bytes} bytes, which no type has"
        return f"{what}: parameter `{self.name}` is {self.type}"


def entries(text):
    """The kernels of a module: name to its parameters. None for one that is not understood."""
    return {name: parameters(inside or "") for name, inside in ENTRY.findall(COMMENT.sub(" ", text))}


def parameters(text):
    found = []
    for declaration in filter(None, (part.strip() for part in text.split(","))):
        match = PARAMETER.match(declaration)
        if match is None:
            return None
        ty, bytes_ = f".{match['type']}", int(match["bits"]) // 8 * (2 if match["pair"] else 1)
        # A launch file has no halves, so their bits are given.
        is_half = match["kind"] == "bf" or (match["kind"] == "f" and int(match["bits"]) == 16)
        kind = "bits" if is_half else {"u": "integer", "s": "integer", "f": "float"}.get(match["kind"], "bits")
        if match["count"]:
            ty, kind, bytes_ = f"{ty}[{match['count']}]", "bits", bytes_ * int(match["count"])
        found.append(Parameter(match["name"], ty, kind, bytes_))
    return found
