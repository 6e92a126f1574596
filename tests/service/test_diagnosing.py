"""The service: which reward is doubted, whose credit is looked at, files and database alike, harmless reports."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache

import pytest
from msgspec.structs import replace

from tests.diagnostics.worlds import world
from trajcredit.errors import InputError
from trajcredit.model import Reward, encode
from trajcredit.service import diagnosing, editing, ingesting, looking, stateless
from trajcredit.service.diagnosing_html import html
from trajcredit.service.diagnosing_markdown import markdown
from trajcredit.service.diagnosing_stored import Filters, of_project
from trajcredit.service.editing import Change

HOSTILE = "<script>alert(1)</script>|`[x](javascript:y)` \u202eevil\u200b \"q\" 'a' &amp; ![i](http://x) @you #1"


def looked(trajectories, **asked):
    return diagnosing.diagnose(stateless.graphs(trajectories), diagnosing.Asked(**asked))


def mode(found, name):
    return next(one for one in found.modes if one.mode == name)


def rewarded(*sources):
    return [replace(t, rewards=[Reward(float(n % 2), source) for source in sources]) for n, t in enumerate(SOUND)]


SOUND = world("memory_mismatch", False, 5)
SICK = world("memory_mismatch", True, 5)


@cache
def plain(sick):
    """The diagnosis of SICK, or of SOUND, with nothing asked."""
    return looked(SICK if sick else SOUND)


@pytest.mark.parametrize(
    ("sources", "asked", "proxy", "trusted"),
    [
        (("verifier",), {}, "verifier", None),
        (("verifier", "reward_model"), {}, "reward_model", "verifier"),
        (("verifier", "human"), {}, "verifier", "human"),
        (("judge", "reward_model", "human"), {}, "reward_model", "human"),
        (("judge", "reward_model", "human"), {"reward": "judge"}, "judge", "human"),
        (("judge", "reward_model", "human"), {"against": "judge"}, "reward_model", "judge"),
        (("human",), {}, "human", None),
        ((), {}, None, None),
    ],
)
def test_the_least_trusted_reward_is_held_against_the_most_trusted(sources, asked, proxy, trusted):
    over = looked(rewarded(*sources), **asked).over
    assert (over.proxy, over.trusted) == (proxy, trusted)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"reward": "verifier", "against": "verifier"}, "against itself"),
        ({"against": "taste"}, "no reward source 'taste'"),
        ({"against": ""}, "no reward source ''"),
        ({"reward": "taste"}, "no reward source 'taste'"),
        ({"pass_at": float("nan")}, "pass_at is a finite number"),
        ({"group_by": "colour"}, "cannot group by colour"),
        ({"compare": ("a", "b")}, "not two names of one kind"),
    ],
)
def test_what_cannot_be_asked_is_told(asked, message):
    with pytest.raises(InputError, match=message):
        looked(SOUND, **asked)


def test_a_reward_is_not_held_against_itself_under_another_name():
    runs = [replace(t, rewards=[Reward(float(n % 2), "judge", name="taste"), Reward(1.0)]) for n, t in enumerate(SOUND)]
    with pytest.raises(InputError, match="cannot hold 'taste' against 'judge': they are the same rewards"):
        looked(runs, reward="taste", against="judge")
    two = [replace(t, rewards=[*t.rewards, Reward(0.0, "judge", name="style")]) for t in runs]
    assert looked(two, reward="taste", against="judge").over.trusted == "judge"


def test_an_attributor_that_follows_dependencies_gives_no_credit_off_the_path():
    flat, masked = (mode(found, "entangled_credit") for found in (plain(sick=False), looked(SOUND, attributor="dag")))
    assert flat.figure is not None
    assert flat.figure > 0
    assert (masked.figure, masked.status) == (0.0, "clear")


def test_a_shift_of_all_rewards_changes_no_mode_but_the_pass_mark():
    moved = [replace(t, rewards=[replace(r, value=r.value + 3) for r in t.rewards]) for t in SOUND]
    told, found = looked(moved, pass_at=3.5), plain(sick=False)
    assert [one.figure for one in told.modes] == pytest.approx([one.figure for one in found.modes])
    assert told.pass_at_k == found.pass_at_k


def test_the_order_of_files_changes_no_figure():
    found, turned = plain(sick=True), looked(SICK[::-1])
    assert [one.figure for one in turned.modes] == pytest.approx([one.figure for one in found.modes])
    assert [one.status for one in turned.modes] == [one.status for one in found.modes]


def test_evidence_names_the_span_of_the_second_charge():
    found = mode(plain(sick=True), "memory_mismatch")
    assert found.status == "found"
    known = {t.id: t for t in SICK}
    for one in found.evidence:
        assert one.span is not None
        assert known[one.trajectory].spans[one.span].name == "charge_card"
    assert len({one.trajectory for one in found.evidence}) == len(found.evidence) == 10
    assert found.more > 0


@pytest.mark.parametrize(("mark", "told"), [(-1.0, "every outcome passes at -1"), (7.0, "no outcome passes at 7")])
def test_a_pass_mark_that_tells_nothing_apart_is_said_wherever_passes_are_counted(mark, told):
    found = looked(SOUND, pass_at=mark)
    assert (found.over.passed, found.over.lowest, found.over.highest) == (len(SOUND) if mark < 0 else 0, 0.0, 1.0)
    assert told in mode(found, "sparse_reward").says
    for text in (markdown(found), html(found)):
        assert len(re.findall(told.replace("-", r"\\?-"), text, re.IGNORECASE)) == 4
    assert plain(sick=False).over.split is None


def test_a_comparison_says_what_only_one_side_has():
    rows = [replace(t, policy_version=str(n % 2), rewards=t.rewards[n % 2 :]) for n, t in enumerate(SOUND)]
    assert "No common task has these on both sides: reward, pass rate" in markdown(looked(rows, compare=("0", "1")))


@pytest.fixture
def stored(store):
    ingesting.ingest(store, "default", [ingesting.Log(b"\n".join(map(encode, SICK)), "sick.jsonl")])
    return store


def test_what_is_stored_gives_what_the_file_gives(stored):
    found, told = of_project(stored, "default", Filters(), diagnosing.Asked()), plain(sick=True)
    assert [(one.mode, one.figure, one.low, one.says) for one in found.modes] == [
        (one.mode, one.figure, one.low, one.says) for one in told.modes
    ]
    assert found.pass_at_k == told.pass_at_k
    assert [one.external_id for one in mode(found, "memory_mismatch").evidence] == [
        one.trajectory for one in mode(told, "memory_mismatch").evidence
    ]


def test_entangled_credit_follows_the_edges_as_people_say(stored):
    before = mode(of_project(stored, "default", Filters(), diagnosing.Asked()), "entangled_credit")
    stray = before.evidence[0]
    last = len(looking.skeleton(stored, "default", stray.trajectory).kind) - 1
    editing.edit(stored, "default", stray.trajectory, [Change(stray.span, last, "add", "it shows", "Ann")])
    after = mode(of_project(stored, "default", Filters(), diagnosing.Asked()), "entangled_credit")
    assert after.figure < before.figure


def test_too_many_are_cut_to_whole_groups_of_the_newest(stored):
    found = of_project(stored, "default", Filters(), diagnosing.Asked(), most=20)
    assert found.over.trajectories + found.over.left_out == len(SICK)
    newest = {t.task for t in SICK[-20:]}
    whole = [t for t in SICK if t.task in newest and all(s in SICK[-20:] for s in SICK if s.task == t.task)]
    assert found.over.trajectories == len(whole)
    assert whole
    assert "more were not read" in markdown(found)
    assert of_project(stored, "default", Filters(), diagnosing.Asked(), spans=100).over.trajectories <= 10


def test_an_empty_project_needs_everything(store):
    found = of_project(store, "default", Filters(), diagnosing.Asked())
    assert {one.status for one in found.modes} == {"needs"}
    assert found.over.trajectories == 0
    assert markdown(found)
    assert html(found)


def hostile():
    """The sick world with names that would do something if they could."""
    spans = [[replace(s, name=HOSTILE) if s.name == "charge_card" else s for s in t.spans] for t in SICK]
    return [
        replace(
            t,
            id=f"{t.id} {HOSTILE}",
            task=f"{t.task} {HOSTILE}",
            rewards=[*t.rewards, Reward(float(n % 3), "reward_model", name=HOSTILE)],
            spans=own,
            tools=[],
            policy_version=f"v{n % 2} {HOSTILE}",
            model=HOSTILE,
        )
        for n, (t, own) in enumerate(zip(SICK, spans, strict=True))
    ]


@cache
def hostile_diagnosis():
    names = sorted({t.policy_version for t in hostile()})
    return looked(hostile(), compare=tuple(names), reward=HOSTILE)


def test_hostile_text_is_shown_in_html_and_does_nothing():
    page = html(hostile_diagnosis())
    for harmful in ("<script", "\u202e", "\u200b", "<img", "href=", "src=", "onerror"):
        assert harmful not in page
    assert "&lt;script&gt;alert(1)" in page
    assert set(re.findall(r"<(\w+)", page)) <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "b", "ul", "li", "code"),
        *("table", "thead", "tbody", "tr", "th", "td", "svg", "text", "line", "polyline", "polygon", "circle"),
    }


def test_names_of_columns_are_code_and_no_backtick_is_left():
    page = html(plain(sick=False))
    assert "`" not in page
    assert "<code>" in page


def test_hostile_text_is_no_markdown():
    text = markdown(hostile_diagnosis())
    assert not re.search(r"(?<!\\)[<`\[@]", text)
    assert "http://" not in text
    assert "\u202e" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in rows]
    assert min(widths) >= 4
    assert len(set(widths[:12])) == 1


def test_pictures_are_well_formed_and_within_their_frame():
    page = html(looked(world("kl_mistuned", False, 2)))
    drawn = re.findall(r"<svg.*?</svg>", page)
    assert len(drawn) == 5  # pass@k, reward, pass rate, divergence, length
    for picture in drawn:
        root = ET.fromstring(picture)
        for line in root.iter("polyline"):
            for pair in line.attrib["points"].split():
                x, y = map(float, pair.split(","))
                assert 0 <= x <= 420
                assert 0 <= y <= 220
