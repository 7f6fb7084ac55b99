#!/usr/bin/env python3
"""Looks at `strata serve` with Chromium while a sweep goes on; scripts/live-page runs it.

A sweep's progress and results must appear without a reload. Every page is looked at wide and narrow, light and dark: nothing wider
than its window, no message on the console, and nothing that axe finds wrong. Two runs are picked without scripts, and what their
difference tells to run must run. What must be refused is tried over plain sockets.
"""

import argparse
import atexit
import contextlib
import http.client
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
TALLEST = 6000
TOKEN = "a-token-of-the-test"
FAILED = "made-up (test) on <b>gtx480</b>"
# Enough short jobs to see them come one by one.
SWEEP = ["compare", "gather", "atax", "gemm", "--systems", "gtx480,l1-sram,dy-fuse", "--sweep", "l1d.mshr_entries=16..64*2",
         "--jobs", "1", "--size", "test"]
JOBS = 27

problems = []


def check(holds, what):
    """Notes a problem and goes on, so that one run shows them all."""
    if not holds:
        problems.append(what)
        print(f"problem: {what}")


def started(command, **how):
    """A process of our own, which does not outlast us."""
    process = subprocess.Popen(command, **how)
    atexit.register(process.kill)
    return process


class Server:
    """A server of our own, on a free port."""

    def __init__(self, strata, store, *more, listen="127.0.0.1:0"):
        command = [strata, "serve", "--store", store, "--listen", listen, *more]
        self.process = started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(command)}: ended with {self.process.wait()} before it listened")
        self.url = line.rsplit(": ", 1)[1].strip()
        self.port = urllib.parse.urlsplit(self.url).port

    def ask(self, path="/", method="GET", **headers):
        """Status, headers and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def interrupt(self):
        """Its exit status after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=10)


def refusals(strata, store, server):
    """What nobody may do."""
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, _ = server.ask(method=method)
        check(status == 405 and headers["Allow"] == "GET, HEAD", f"{method} is answered with {status}")
    for host in ("example.org", f"example.org:{server.port}", f"127.0.0.1.example.org:{server.port}"):
        check(server.ask(Host=host)[0] == 421, f"the host {host} is answered")
    for query in ("", "?left=x&right=y", f"?left={'0' * 32}&right={'0' * 32}"):
        check(server.ask(f"/diff{query}")[0] == 400, f"/diff{query} is answered")
    for path in ("/run/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", f"/run/{'0' * 32}", f"/diff?left={'0' * 32}&right={'1' * 32}", "/paper/x.toml"):
        check(server.ask(path)[0] == 404, f"{path} is found")
    for name in ("Content-Security-Policy", "X-Content-Type-Options"):
        check(name in server.ask()[1], f"an answer lacks {name}")

    local = Server(strata, store, "--token", TOKEN)
    _, _, text = local.ask()
    check(local.ask()[0] == 401 and "gather" not in text, "a page is shown without its token")
    check(local.ask("/events")[0] == 401, "events are told without the token")
    check(local.ask(f"/?token={TOKEN}x")[0] == 401, "a wrong token is taken")
    status, headers, _ = local.ask(f"/runs?token={TOKEN}")
    cookie = (headers["Set-Cookie"] or "").split(";")[0]
    check(status == 303 and headers["Location"] == "/runs", f"the token is answered with {status}")
    check(local.ask(Cookie=cookie)[0] == 200, "the cookie is not taken")
    check(local.interrupt() == 0, "a server with a token does not end with 0")

    everywhere = Server(strata, store, listen="0.0.0.0:0")
    check("?token=" in everywhere.url, "other hosts are answered without a token")
    check(everywhere.ask()[0] == 401, "a page is shown to other hosts without a token")
    check(everywhere.interrupt() == 0, "a server for others does not end with 0")

    for listen, reason in (("127.0.0.1", "invalid socket address"), (f"127.0.0.1:{server.port}", "Address already in use")):
        ended = subprocess.run([strata, "serve", "--store", store, "--listen", listen], capture_output=True, text=True, timeout=20)
        check(ended.returncode == 2 and reason in ended.stderr, f"--listen {listen}: {ended.stderr}")
    short = subprocess.run([strata, "serve", "--store", store, "--token", "short"], capture_output=True, text=True, timeout=20)
    check(short.returncode == 2 and "expected 16" in short.stderr, f"--token short: {short.stderr}")


def crowd(server):
    """Browsers that say nothing, half of something, or take nothing of what they asked for; the others are still answered."""
    sockets = []
    for words in (b"", b"GET / HTTP/1.1\r\nHost: local", b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        for _ in range(40):
            one = socket.create_connection(("127.0.0.1", server.port))
            one.sendall(words)
            sockets.append(one)
    begun = time.monotonic()
    status, _, _ = server.ask()
    check(status == 200 and time.monotonic() - begun < 5, f"beside slow browsers a page takes {time.monotonic() - begun:.1f} s")
    return sockets


class Looker:
    """Looks at pages, and remembers what they complain of."""

    def __init__(self, browser, base, shots):
        self.browser, self.base, self.shots, self.axe = browser, base, shots, Axe()

    @contextlib.contextmanager
    def page(self, path, width=WIDTHS[0], scheme=SCHEMES[0], scripts=True, expected=None):
        """A page, which must not complain of anything but what is expected."""
        window = {"width": width, "height": 900}
        context = self.browser.new_context(viewport=window, color_scheme=scheme, java_script_enabled=scripts)
        page = context.new_page()
        page.set_default_timeout(30_000)
        is_well = lambda message: message.type not in ("error", "warning") or expected and expected in message.text
        page.on("console", lambda message: check(is_well(message), f"{path}: says {message.text}"))
        page.on("pageerror", lambda error: check(False, f"{path}: throws {error}"))
        page.goto(self.base + path)
        yield page
        context.close()

    def look(self, page, name, width, scheme):
        """Whether a page fits its window, and what axe says of it."""
        found = page.evaluate("document.scrollingElement.scrollWidth")
        check(found <= width, f"{name}: is {found} pixels wide in a window of {width}")
        for violation in self.axe.run(page).response["violations"]:
            first = violation["nodes"][0]
            check(False, f"{name}, {width}, {scheme}: {violation['id']} {len(violation['nodes'])} times: {first['html'][:200]}")
        if self.shots:
            height = min(TALLEST, page.evaluate("document.scrollingElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": width, "height": height}
            page.screenshot(path=self.shots / f"{name}-{width}-{scheme}.png", full_page=True, clip=clip)

    def look_at(self, name, path, ready=None, windows=tuple((width, scheme) for width in WIDTHS for scheme in SCHEMES)):
        for width, scheme in windows:
            with self.page(path, width, scheme) as page:
                if ready:
                    page.wait_for_selector(ready)
                self.look(page, name, width, scheme)


def number(text):
    return int(text.split()[0])


def until(holds, what, page=None, seconds=20):
    """Waits until something holds; browsers go on meanwhile."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            check(False, what)
            return
        page.wait_for_timeout(50) if page else time.sleep(0.002)


def sweep(strata, store, looker):
    """A sweep's progress and results appear by themselves, and it goes when it ends."""
    with looker.page("/") as page, looker.page("/runs") as runs:
        page.wait_for_selector(".live.on")
        runs.wait_for_selector(".live.on")
        for one in (page, runs):
            one.evaluate("window.stays = true")
        files = lambda end: len(list(pathlib.Path(store).glob(f"*.{end}")))
        before = files("parquet")
        seen = lambda: page.evaluate("document.querySelector('.sweep .numbers span')?.textContent ?? 'no sweep'")
        done = lambda: f"{files('parquet') - before} of {JOBS} jobs"
        running = started([strata, "--quiet", *SWEEP, "--store", store], stdout=subprocess.DEVNULL)
        until(lambda: files("sweep") == 1, "the sweep does not announce itself")
        newest = []
        for step in range(1, 4):
            # It goes on for some jobs and stands still until the page has shown these, however fast it is.
            running.send_signal(signal.SIGCONT)
            until(lambda: files("parquet") >= before + 4 * step, "the sweep does not go on")
            running.send_signal(signal.SIGSTOP)
            until(lambda: seen() == done(), f"of {done()} the page shows {seen()}", page)
            newest.append(page.inner_text("#newest"))
        check(len(set(newest)) == len(newest), "new results did not appear bit by bit")
        numbers = page.inner_text(".sweep .numbers")
        check("jobs/" in numbers and " left" in numbers, f"of the pace the page shows {numbers}")
        looker.look_at("sweep", page.get_attribute(".sweep", "href"), ".progress", [(1280, "light"), (400, "dark")])
        running.send_signal(signal.SIGCONT)
        until(lambda: running.poll() is not None, "the sweep does not end", page, seconds=60)
        check(running.wait() == 0, f"the sweep ended with {running.returncode}")
        until(lambda: seen() == "no sweep", "a sweep that has ended is still shown", page)
        for one, where in ((page, "#held a"), (runs, "main .note")):
            shown = lambda: number(one.inner_text(where))
            until(lambda: shown() == before + JOBS, f"{before} runs and {JOBS} new ones are {shown()} on {one.url}", one)
            check(one.evaluate("window.stays") is True, f"{one.url} was loaded again")


def difference(strata, looker):
    """Two runs are picked by links alone; then the page says in what they differ, and the command that it prints says more."""
    with looker.page("/runs?find=saxpy+gtx480", scripts=False) as page:
        page.click("text=from here")
        check(page.input_value("#find") == "saxpy test", f"to pick from: {page.input_value('#find')}")
        looker.look_at("picking", page.url.removeprefix(looker.base), windows=[(1280, "dark"), (400, "light")])
        page.fill("#find", "saxpy l1-sram")
        page.click("text=Find")
        page.click("text=to here")
        path = page.url.removeprefix(looker.base)
        check(path.startswith("/diff?left="), f"two picked runs lead to {path}")
        for words in ("saxpy on gtx480", "l1d.", "waiting for memory", "cycles, left"):
            check(words in page.inner_text("body"), f"the difference does not say {words}")
        check(page.inner_text("#cycles table") != "", "the difference has no causes")
        lines = page.locator("#command pre").all_inner_texts()
        check(len(lines) == 2, f"of two commands {lines} are shown")
        for line, words in zip(lines, ("the runs part in cycle", "what each value brings")):
            command = [strata, *shlex.split(line)[1:], "--quiet"]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
            check(ran.returncode == 0 and words in ran.stdout, f"{line}: {ran.stdout}{ran.stderr}")
    looker.look_at("difference", path, "#counters summary")
    with looker.page(path, 400, "dark") as page:
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        looker.look(page, "difference-unfolded", 400, "dark")


def keyboard(looker):
    """Everything is reached and seen with Tab, and opened with Enter."""
    with looker.page("/") as page:
        links = page.eval_on_selector_all("a[href]", "all => all.length")
        reached = []
        for _ in range(links + 20):
            page.keyboard.press("Tab")
            at = page.evaluate("""() => {
              const at = document.activeElement;
              const box = at.getBoundingClientRect();
              const style = getComputedStyle(at);
              return { tag: at.tagName, href: at.getAttribute("href"), seen: box.width > 0 && box.left >= 0 && style.outlineStyle !== "none" };
            }""")
            if at["tag"] == "BODY":
                break
            check(at["seen"], f"the focus is not seen at {at}")
            reached.append(at["href"])
        check(len([href for href in reached if href]) == links, f"{links} links, of which Tab reaches {reached}")
        page.focus("#newest a")
        page.keyboard.press("Enter")
        page.wait_for_selector("#job")
        page.focus("#job summary")
        page.keyboard.press("Enter")
        check(page.is_visible("#job pre"), "Enter does not unfold the machine's values")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("strata")
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if not chromium:
        raise SystemExit("found no chromium; `apt-get install chromium`")
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = folder + "/store"
        first = ["compare", "saxpy", "--systems", "gtx480,l1-sram", "--size", "test", "--store", store]
        subprocess.run([arguments.strata, "--quiet", *first], check=True, stdout=subprocess.DEVNULL)
        failed = pathlib.Path(store) / f"{'0' * 32}.failed"
        failed.write_text(f"format = 'strata-failure-1'\njob = '{FAILED}'\nreason = '<img src=x onerror=alert(1)>'\n")
        server = Server(arguments.strata, store)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        looker = Looker(browser, f"http://localhost:{server.port}", arguments.shots)
        slow = crowd(server)
        sweep(arguments.strata, store, looker)
        looker.look_at("overview", "/", "#papers .verdict")
        few = [(WIDTHS[0], SCHEMES[1]), (WIDTHS[1], SCHEMES[0])]
        looker.look_at("runs", "/runs?find=gtx480", windows=few)
        key = server.ask("/runs")[2].split("/run/")[1].split('"')[0]
        looker.look_at("run", f"/run/{key}", windows=few)
        difference(arguments.strata, looker)
        looker.look_at("failures", "/failures", windows=few)
        looker.look_at("figure", "/paper/fuse?size=test&figure=13", "#runs")
        with looker.page("/failures") as page:
            check(FAILED in page.inner_text("main"), "a failure's text is not shown as it is")
        keyboard(looker)
        refusals(arguments.strata, store, server)
        # The page goes on asking, and the browser says that nobody answers.
        with looker.page("/", expected="net::ERR_CONNECTION_REFUSED") as page:
            page.wait_for_selector(".live.on")
            check(server.interrupt() == 0, f"Ctrl-C ends the server with {server.process.returncode}")
            page.wait_for_selector(".live.off")
        browser.close()
        for one in slow:
            one.close()
    print(f"the live page was looked at in {time.monotonic() - begun:.0f} s: {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
