"""The text kernels against their slow twins: tokens, value edges and resources must be the same, to the byte."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.graph import naive_tokens, naive_values
from tests.graph.naive_tokens import Token
from tests.graph.talk import Line, call, failure, result, say, talk, think, tool, user
from tests.graph.test_graph import transcripts
from trajcredit.formats import read
from trajcredit.graph.calls import read_calls
from trajcredit.graph.failures import failed
from trajcredit.graph.text import collect, fold, told
from trajcredit.graph.values import RULE_NAMES, Values, find_values
from trajcredit.kernels import forms, match, scan
from trajcredit.model import ACTION_KINDS, Trajectory, body

ROOT = Path(__file__).parents[2]
BUNDLED = sorted((ROOT / "trajcredit" / "data").glob("*.jsonl"))
SHARED = ROOT.parent / "shared"
SAMPLES = [
    pytest.param(SHARED / "data" / "tau-bench" / "gpt-4o-airline.json.gz", 30, id="tau-bench"),
    pytest.param(SHARED / "bench" / "oracle" / "dev.jsonl.gz", 50, id="oracle bench"),
]

# ---------------------------------------------------------------- what the kernels say, in the words of the twins

Said = tuple[int, int, str, int, tuple[tuple[bytes, int, bytes, int], ...], int]
"""Child, parent, rule, bits, of each match the two tokens with the byte where each starts in its text, shown since."""


def kernel_tokens(text: str) -> list[Token]:
    """Tokens of one text."""
    buffer = collect([text])
    data, offsets = bytes(buffer.data), np.zeros(2, np.int64)
    rows = np.empty((len(data) + 2, scan.COLUMNS), np.int32)
    n = scan.scan(buffer.data, buffer.offsets, rows, offsets)
    slots, table = np.zeros(1 << (2 * n + 2).bit_length(), np.int32), np.zeros((n + 1, 3), np.int64)
    arena = np.empty(4 * len(data) + 16, np.uint8)
    assert forms.intern(buffer.data, rows, n, slots, table, arena) >= 0
    known = [bytes(arena[at : at + size]) for _, at, size in table.tolist()]
    return [
        Token(data[a:b], a, known[form] if form >= 0 else None, bits, flags, scope, field if field >= 0 else None)
        for a, b, form, bits, flags, scope, field in rows[:n].tolist()
    ]


def fails(trajectory: Trajectory) -> list[bool]:
    return [span.kind == "tool_result" and failed(span) for span in trajectory.spans]


def stores(trajectory: Trajectory) -> list[bool]:
    """Which calls store what their arguments say."""
    storing = {call.span for call in read_calls(trajectory, 0, fails(trajectory), {}).calls if call.stores}
    return [i in storing for i in range(len(trajectory.spans))]


def find(*trajectories: Trajectory) -> Values:
    failed_ = np.array([fail for t in trajectories for fail in fails(t)], dtype=bool)
    return find_values(trajectories, failed_, np.array([s for t in trajectories for s in stores(t)], dtype=bool))


def place(values: Values, token: int) -> tuple[bytes, int]:
    """A token, and where it starts in its text."""
    text = int(np.searchsorted(values.token_offsets, token, side="right")) - 1
    start, end = values.tokens[token, [scan.START, scan.END]].tolist()
    return bytes(values.texts.data[start:end]), start - int(values.texts.offsets[text])


def kernel_edges(values: Values) -> list[list[Said]]:
    """Value edges, trajectory by trajectory, sorted."""
    out: list[list[Said]] = []
    for first, last in pairwise(values.span_offsets.tolist()):
        children = values.edges[:, match.CHILD]
        said: list[Said] = []
        for child, parent, rule, bits, lo, hi, since in values.edges[(first <= children) & (children < last)].tolist():
            matches = tuple((*place(values, a), *place(values, b)) for a, b in values.matches[lo:hi].tolist())
            said.append((child - first, parent - first, RULE_NAMES[rule], bits, matches, since))
        out.append(sorted(said))
    return out


def kernel_resources(values: Values) -> list[list[tuple[bytes, int, int, bool]]]:
    """What each span names, how, and whether it looks like a file."""
    named = [(*place(values, token), how, file != 0) for token, how, file in values.named.tolist()]
    return [named[a:b] for a, b in pairwise(values.resource_offsets.tolist())]


def twin_edges(trajectory: Trajectory) -> tuple[list[Said], int]:
    edges, ignored = naive_values.value_edges(trajectory, fails(trajectory), stores(trajectory))
    said = [
        (e.child, e.parent, e.rule, e.bits, tuple((a.raw, a.start, b.raw, b.start) for a, b in e.matches), e.since)
        for e in edges
    ]
    return sorted(said), ignored


def twin_resources(trajectory: Trajectory) -> list[list[tuple[bytes, int, int, bool]]]:
    texts = [fold(told(span))[0] if span.kind == "tool_call" else b"" for span in trajectory.spans]
    named = [naive_values.resources(naive_tokens.tokens(text)) for text in texts]
    return [[(token.raw, token.start, how, file) for token, how, file in names] for names in named]


def assert_twins_agree(trajectories: Sequence[Trajectory]) -> None:
    values = find(*trajectories)
    twins = [twin_edges(trajectory) for trajectory in trajectories]
    assert kernel_edges(values) == [edges for edges, _ in twins]
    assert values.ignored.tolist() == [ignored for _, ignored in twins]
    assert kernel_resources(values) == [names for t in trajectories for names in twin_resources(t)]


# ---------------------------------------------------------------- tokens

ALPHABETS = (
    "AB71 .,-_/é{}[]\"':\\\n",
    "aB1_ -./:@+'#,;(\n",
    "0123456789.,-/T ",
    '"\\nrt{}:,a1 ',
    "\x01aéÉẞİA1_ /",
    "&cd x/.\n",
    "<parameter=>/ab1.:\n",
    "a/b.c:12 ",
    "a/.-1b ",
)
PIECES = (
    *'"\\{}[]:, \n.-/_@+#=`\'&0a7BTé', '\\"', "\\n", "\\t", "\\\\", '{"', '": ', '"}', "&&", "cd ", "'s", "..", "\x01",
    "March", "mar", " 9", "31", "th", "of", ", 2031", "2031", "2031-03-09", "2031/3", "T10:00", "10am", "48,213.50",
    "1,000", "12", "00", "src/app/", "main.py", "É", "ẞ", "İ", "e\u0301", "%C3%A9", "%22", "\\u00e9", "\\u0022",
    "QX-7741", "Denver", "flight", "O'Brien", "order_no", "orderNo", "id", "true", "null", "\u212a", "“", "—", "ﬁ",
)  # fmt: skip
PROSE = st.one_of(
    *(st.text(st.sampled_from(alphabet), max_size=40) for alphabet in ALPHABETS),
    st.lists(st.sampled_from(PIECES), max_size=16).map("".join),
    st.text(max_size=30),
)
TEXTS = st.one_of(
    PROSE, PROSE.map('{{"{}}}'.format), PROSE.map("[{}]".format), PROSE.map('{{"k": "{}", "id": 7}}'.format),
    PROSE.map("<parameter=k>{}</parameter>".format), PROSE.map("<parameter=ref>\n{}\n<parameter=x>y".format)
)  # fmt: skip

NASTY = [
    pytest.param("", id="nothing"),
    pytest.param(" \n ", id="blanks"),
    pytest.param('{"a": "x', id="a string that never closes"),
    pytest.param('{"a": "x\\', id="a string that ends in a backslash"),
    pytest.param('{"a": "x\\"}', id="a quote that is escaped and last"),
    pytest.param("{" * 70 + '"a": 123' + "}" * 80 + '"b"}', id="brackets deeper than scopes are kept"),
    pytest.param('{"user id": 451, "paid": 452, "orderNo": 453, "A": 454, "": 455}', id="keys of all kinds"),
    pytest.param('{"a": {"b": 451}, "c": [452, {"d": 453}, 454]} 455', id="values after an object closes"),
    pytest.param('{"n": [-451, 1e5, 4.50, 4., true, 1_000, 10.0.0.1, 451+452]}', id="numbers of all kinds"),
    pytest.param('["a\\nB c\\tD", "e. F", "g\\r&& h.py"]', id="escapes start lines and sentences"),
    pytest.param('{"c": "cd /srv/x && cat a.txt\\nb.txt && c.txt"}', id="a command line and more lines"),
    pytest.param("x" * 512 + " " + "y" * 513 + " " + "é" * 256, id="tokens as long as any is compared, and longer"),
    pytest.param("1,234,567 1234,567 0,123 1,2345 12,345,67 1,234x 1,234-a 1,234.50", id="commas in numbers"),
    pytest.param("9 March 2031, 9th  of March, 2031; March 9. 2031 march 32, 2031 May 00 2031", id="dates in words"),
    pytest.param("119 March 2031 x9 March 2031 March 9 20311 March 9, 2031x 9|| March 2031", id="no dates in words"),
    pytest.param("2031-19-39 2031/03/09T1 2031-03-09t1 2031-3-09 12031-03-09 2031-03-09.5", id="dates and no dates"),
    pytest.param("a/b a/b/c.py /x/y//z ab/1 a/_ http://h.org/p?q=1#f ../up ~/home.", id="paths"),
    pytest.param("a_b.c@d e.g U.S don't O'Neill.x Ann's ANN'S 's it's", id="dots, underscores and apostrophes"),
    pytest.param("[1] see FX-2291 [2]", id="brackets of footnotes"),
    pytest.param("'a1b2' \"c3d4\\\" `e5f6` k=g7h8 k: i9j0 k:  k1l2 'm3n4", id="shown and not shown"),
    pytest.param("Église", id="alone, with a capital outside ASCII"),
    pytest.param("48,213.50\n", id="a number alone"),
    pytest.param("<parameter=id>\nQX-77\n</parameter>\n<parameter=cmd>cd x && cat a.py\nb.py", id="tags"),
    pytest.param("<parameter=a><parameter=>x</parameter> y <parameter=b", id="tags that never close"),
    pytest.param("a/b.py:12:x c.ex:3, d.js:4.5 e.py:6x f.g:7/h 1.5:30 i.j/k:8 l.m-n:9", id="lines of files"),
    pytest.param("/h/.git/-a/b.c /.x a/. b/.. c/-/d e/.f:12 g/.h.i:3 1/.2 ./.y z/.-w", id="components that are hidden"),
    pytest.param("x/lib/auth.ts lib/auth a/.env b/c. A/.0 A/.50 src/v1.2 /u/w.tar.gz", id="paths without their suffix"),
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_nasty_texts_have_the_tokens_that_patterns_find(text):
    assert kernel_tokens(text) == naive_tokens.tokens(fold(text)[0])


@settings(max_examples=1500)
@given(TEXTS)
def test_texts_have_the_tokens_that_patterns_find(text):
    assert kernel_tokens(text) == naive_tokens.tokens(fold(text)[0])


# ---------------------------------------------------------------- transcripts

SHOWN = (
    "GH-61220", "GH-61221", "LOT-61220", "61220", "61221", "61,220.00", "631", "630", "42", "42.0", "311", "412",
    "723", "7741", "QX-7741", "AB12CD9", "tp-810f7", "src/app/core/main.py", "core/main.py", "main.py", "lib/main.py",
    "Denver", "denver", "DENVER", "MIA", "Mia", "mia", "ann_lee_4471", "ann.lee@example.org", "2031-03-09", "O'Brien",
    "March 9, 2031", "Zoë", "ZOË", "Jean-Luc", "one-way", "10:30am", "ok", "flight", "OpenHands", "D'angelo", "1370",
)  # fmt: skip
KEYS = ("id", "q", "order_no", "subtotal", "net price", "gross price", "QX-7741", "note")
WORDS = [first + second for first in "abcdefghijklmnopqrst" for second in "abcdefghijklmnopqrst"]
GLUE = (" ", ", ", "\n", ". ", " and ", ": ", "=", '" "', "' '", "", ".")
KINDS = ("user", "system", "meta", "say", "think", "call", "call", "result", "result", "failure")
SAID = st.lists(st.sampled_from(SHOWN), min_size=1, max_size=5)


@st.composite
def prose(draw) -> str:
    words = draw(SAID)
    return "".join(word + draw(st.sampled_from(GLUE)) for word in words)


LEAVES = st.one_of(st.sampled_from(SHOWN), prose(), st.sampled_from((42, 311, 412, 630, 631, 723, 61220, 61221, 7.5)))
OBJECTS = st.dictionaries(st.sampled_from(KEYS), LEAVES, min_size=1, max_size=4)
REPLIES = st.one_of(
    prose(), st.sampled_from(SHOWN), OBJECTS.map(json.dumps), st.lists(OBJECTS, min_size=1, max_size=3).map(json.dumps)
)  # fmt: skip


@st.composite
def conversations(draw, most: int = 14) -> Trajectory:
    """Talks in which everybody repeats a few values, and no action says twice the same."""
    lines: list[Line] = []
    for k in range(draw(st.integers(3, most))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "call":
            lines.append(call(draw(st.sampled_from(("fetch", "look", "write", "write"))), k=k, **draw(OBJECTS)))
        elif kind in ("say", "think"):
            lines.append((say if kind == "say" else think)(f"{draw(REPLIES)} {'.' * k}"))
        elif kind in ("system", "meta"):
            lines.append({"kind": kind, "text": draw(prose())})
        else:
            lines.append({"user": user, "result": result, "failure": failure}[kind](draw(REPLIES)))
    declared = draw(st.sampled_from(((), (tool("pick", "631, 1370, MIA or QX-7741"),))))
    return talk(*lines, tools=declared)


@settings(max_examples=300)
@given(conversations())
def test_conversations_have_the_value_edges_of_the_twin(trajectory):
    assert_twins_agree([trajectory])


@settings(max_examples=25)
@given(st.data())
def test_long_conversations_keep_the_first_and_the_latest_who_showed_a_value(data):
    ids, names = st.sampled_from(("KX11Z", "KX22Z", "KX33Z", "")), st.sampled_from(("Ann", "Bob", "Cid", "Dan", "Eve"))
    lines = [user("go")]
    for k in range(data.draw(st.integers(30, 50))):
        lines += [call("list", k=k), result(f"{data.draw(ids)} {data.draw(names)} {data.draw(names)}")]
        if k % 4 == 3:
            lines += [call("look", id=data.draw(ids), name=data.draw(names), k=k), result("fine")]
    assert_twins_agree([talk(*lines)])


@pytest.mark.parametrize("count", [700, 994, 996, 1100])
def test_the_floor_grows_with_the_values_of_a_transcript_as_in_the_twin(count):
    values = " ".join([*(f"v{k}w" for k in range(count - 1)), *WORDS])
    assert_twins_agree([talk(user("go"), call("fetch"), result(f"631 {values}"), call("look", q=631))])


@pytest.mark.parametrize(
    ("shown", "used", "source"),
    [
        pytest.param((("1", "61220"), ("2", "61220 KX44Z")), "61220 KX44Z", 6, id="an id beside it"),
        pytest.param((("1", "61220"), ("2", "61220 3-day")), "61220 3-day", 6, id="3.32 bits are enough to tell"),
        pytest.param((("1", "61220"), ("2", "61220 two")), "61220 two", 4, id="a word of the language is not"),
        pytest.param(
            (("1", "61220 a_b"), ("2", "61220 topic_of_the_agent")), "61220 a_b", 6, id="a quarter of 25 bits"
        ),
        pytest.param((("1", "61220 a_bcd"), ("2", "61220 topic_of_the_agent")), "61220 a_bcd", 4, id="is less than 7"),
        pytest.param((("1", "61220"), (" ".join([*WORDS[:46], "KX44Z"]), "61220")), "61220 KX44Z", 6, id="asked for"),
        pytest.param((("1", "61220"), (" ".join([*WORDS[:47], "KX44Z"]), "61220")), "61220 KX44Z", 4, id="too far on"),
    ],
)
def test_surroundings_choose_a_source_as_in_the_twin(shown, used, source):
    lines = [line for asked, text in shown for line in (call("fetch", q=asked), result(text))]
    trajectory = talk(user("go"), call("list", q="topic_of_the_agent"), result("fine"), *lines, call("look", q=used))
    assert_twins_agree([trajectory])
    assert source in {parent for child, parent, *_ in twin_edges(trajectory)[0] if child == 7}


def pages(*shown: str) -> list[Line]:
    """A call and its result for each text."""
    return [line for k, text in enumerate(shown) for line in (call("fetch", page=k), result(text))]


def writes(many: int) -> list[Line]:
    return [line for k in range(many) for line in (call("write", a=f"QX-774{k}Z KX-11{k // 2}0A"), result("ok"))]


FIELDS = [json.dumps({f"f{k}x": number + 1000 * k for k in range(70)}) for number in (3111, 4222)]
HUNDRED = " ".join(f"QX-{k}Z1" for k in range(100, 200))
TEN, ENDS = " ".join(f"QX-774{k}Z KX-11{k}0A" for k in range(10)), "a_one.py app/a_one app/a_one.py x/app/a_one.py"
NASTY_TALKS = [
    pytest.param([*pages("8, 100, 99"), call("undo", a="007", b="099", c=101)], id="neighbours below a hundred"),
    pytest.param([*pages("9" * 14 + "8"), call("undo", a="9" * 15, b="1" + "0" * 15)], id="neighbours of many digits"),
    pytest.param([*pages("61,220 61222"), call("undo", to=61221), call("undo", to="61,219.0")], id="two neighbours"),
    pytest.param([*pages("42"), say("It is 42."), say("So 42.")], id="a whole result is repeated once"),
    pytest.param([*pages("42"), user("And?"), say("It is 42.")], id="a whole result of another user turn"),
    pytest.param([user("42"), say("It is 42."), *pages("x", "42"), failure("43"), say("43 42")], id="who else said it"),
    pytest.param(pages(*(f"AB{k}{k}CD" for k in range(6)), " ".join(f"AB{k}{k}CD" for k in range(6))), id="six ids"),
    pytest.param(pages("AB11CD AB22CD", "AB33CD", "AB11CD AB33CD AB22CD"), id="ids of two results by turns"),
    pytest.param([call("fetch"), failure("AB11CD"), *pages("AB11CD", "AB11CD")], id="an id that a failure shows"),
    pytest.param([*pages(*FIELDS), say(f"{7333 + 2000 * 63} {7333 + 2000 * 64}")], id="the sum of the 65th field"),
    pytest.param([*pages('{"n": 311}', '{"n": 412}'), say(" ".join(map(str, range(659, 724))))], id="the 65th number"),
    pytest.param([*pages('{"n": 311}', '{"n": 412}'), say("723 " * 20), say("723")], id="a sum stated 20 times"),
    pytest.param([*pages('{"n": 3111}', '{"n": 4000000}'), say("4003112 or 4003111")], id="a sum that is one off"),
    pytest.param([*(call("write", a=f"QX-774{k}Z") for k in range(3)), *pages("QX-7741Z")], id="stored in one turn"),
    pytest.param([*writes(10), *pages(TEN)], id="ten who stored what is shown"),
    pytest.param([call("write", a=HUNDRED), result("ok"), *pages(HUNDRED)], id="a hundred of the agent's own values"),
    pytest.param([call("write", p="src/app/a_one.py"), result("ok"), *pages(ENDS)], id="ends of the agent's own path"),
    pytest.param([call("run", cmd=" ".join(f"f{k}.py" for k in range(40)), id="AB11CD")], id="more than 32 files"),
]


@pytest.mark.parametrize("lines", NASTY_TALKS)
def test_nasty_talks_have_the_value_edges_of_the_twin(lines):
    assert_twins_agree([talk(user("go"), *lines)])


PAGES = st.dictionaries(
    st.sampled_from(("subtotal", "net price", "gross price", "A")), st.sampled_from((5, 96, 311, 0.25))
)


@given(st.data())
def test_messages_that_state_a_sum_have_the_edges_of_the_twin(data):
    """Pages of two tools, some failed, some of no call, some without the field; then totals, right or one off."""
    lines: list[Line] = [user("go")]
    totals: Counter[str] = Counter()
    for k in range(data.draw(st.integers(2, 6))):
        page, name = data.draw(PAGES), data.draw(st.sampled_from(("fetch", "fetch", "fetch", "look")))
        answer = data.draw(st.sampled_from((result, result, result, failure)))(json.dumps(page))
        lines += [call(name, page=k), answer] if data.draw(st.integers(0, 5)) else [answer | {"name": name}]
        totals.update(page)
    stated = data.draw(st.lists(st.sampled_from([*totals.values(), totals.total(), 1 + totals.total()]), max_size=3))
    assert_twins_agree(
        [talk(*lines, say(f"That is {stated}."), call("add", n=stated), *lines[1:], say(f"So {stated}!"))]
    )


@settings(max_examples=300)
@given(transcripts())
def test_any_transcript_has_the_value_edges_of_the_twin(trajectory):
    assume(not repeats(trajectory))
    assert_twins_agree([trajectory])


@settings(max_examples=30)
@given(st.lists(conversations(most=8), max_size=4))
def test_several_transcripts_in_one_pass_have_the_value_edges_of_the_twin(trajectories):
    assume(not repeats(*trajectories))
    assert_twins_agree(trajectories)


def repeats(*trajectories: Trajectory) -> bool:
    """Whether an action says word for word what another said before: the kernel gets these wrong (see below)."""
    texts = [body(span) for t in trajectories for span in t.spans if span.kind in ACTION_KINDS and body(span)]
    return len(set(texts)) < len(texts)


# ---------------------------------------------------------------- logs


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_bundled_logs_have_the_tokens_and_edges_of_the_twins(path):
    assert_logs_agree([item for item in read(path) if isinstance(item, Trajectory)])


@pytest.mark.parametrize(("path", "count"), SAMPLES)
def test_sample_logs_have_the_tokens_and_edges_of_the_twins(path, count):
    if not path.exists():
        pytest.skip(f"no sample log at {path}")
    trajectories = [item for item in islice(read(path), count) if isinstance(item, Trajectory)]
    assert len(trajectories) == count
    assert_logs_agree(trajectories)


def assert_logs_agree(trajectories: list[Trajectory]) -> None:
    """The whole log in one pass of the kernels."""
    for text in {body(span) for t in trajectories for span in t.spans}:
        assert kernel_tokens(text) == naive_tokens.tokens(fold(text)[0])
    assert_twins_agree(trajectories)


# ---------------------------------------------------------------- what once went wrong


def test_the_same_transcript_twice_in_one_pass_has_the_same_edges_twice():
    first = (call("fetch", at="HA0691"), result("HA0691 costs 1377"))
    second = (call("fetch", at="KX4413"), result("KX4413 costs 1377"))
    assert_twins_agree([talk(user("go"), *first, *second, call("look", at="KX4413", price=1377))] * 2)


def test_equal_surroundings_leave_a_value_with_the_first_who_showed_it():
    lines = pages("88123 KX44Z 631 ab_cde", "88123 KX44Z ab_cde 631")
    assert_twins_agree([talk(user("go"), *lines, call("look", x="88123 KX44Z 631 ab_cde"))])
