"""Drawings of the documentation: SVG whose colours follow the reader's scheme, light or dark, on a ground of its own."""

import html

SANS = "system-ui,-apple-system,'Segoe UI','Noto Sans','DejaVu Sans',sans-serif"
MONO = "ui-monospace,SFMono-Regular,'Cascadia Mono','DejaVu Sans Mono',monospace"

# Light, then dark.
COLOURS = {
    "ground": ("#ffffff", "#0d1117"),
    "panel": ("#f6f8fa", "#151b23"),
    "part": ("#e6eaef", "#262c36"),
    "edge": ("#c8d1da", "#3d444d"),
    "text": ("#1f2328", "#f0f6fc"),
    "muted": ("#59636e", "#9198a1"),
    "door": ("#e3f0ff", "#10233f"),
    "door-edge": ("#0969da", "#4493f8"),
    "door-text": ("#0a4fa8", "#8cc4ff"),
    # Series of charts, told apart by lightness too.
    "series-1": ("#8c959f", "#7d8590"),
    "series-2": ("#e16f24", "#f0883e"),
    "series-3": ("#0969da", "#58a6ff"),
}


def style():
    variables = lambda scheme: "".join(f"--{name}:{pair[scheme]};" for name, pair in COLOURS.items())
    classes = "".join(f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name});fill:none}}" for name in COLOURS)
    return (
        f"svg{{{variables(0)}}}@media(prefers-color-scheme:dark){{svg{{{variables(1)}}}}}{classes}"
        f"text{{font-family:{SANS};fill:var(--text)}}.mono{{font-family:{MONO}}}.bold{{font-weight:600}}"
        ".muted{fill:var(--muted);font-weight:400}.name{fill:var(--door-text)}.middle{text-anchor:middle}.end{text-anchor:end}"
    )


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def rect(x, y, width, height, fill, edge="", radius=8, more=""):
    """A rectangle filled with a colour, with an edge of another one."""
    shape = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="{radius}"'
    stroke = f' style="stroke:var(--{edge})" stroke-width="1.5"' if edge else ""
    return f'<rect {shape} class="f-{fill}"{stroke}{more}/>'


def text(x, y, words, size, classes=""):
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{number(x)}" y="{number(y)}" font-size="{size}"{named}>{html.escape(words)}</text>'


def heading(x, y, words, more):
    """Words, and more of less weight behind them."""
    muted = f'<tspan dx="10" font-size="18" class="muted">{html.escape(more)}</tspan>'
    return f'<text x="{number(x)}" y="{number(y)}" font-size="20" class="bold">{html.escape(words)}{muted}</text>'


def path(d, colour, width=2, more=""):
    return f'<path d="{d}" class="s-{colour}" stroke-width="{width}"{more}/>'


def document(width, height, shown, title, description, parts):
    """A drawing of a size in its own units, `shown` pixels wide unless the page says otherwise. A script wrote it."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{shown}" '
        f'height="{round(height * shown / width)}" role="img" aria-labelledby="title description">',
        f'<title id="title">{html.escape(title)}</title>',
        f'<desc id="description">{html.escape(description)}</desc>',
        f"<style>{style()}</style>",
        rect(0, 0, width, height, "ground", radius=12),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
