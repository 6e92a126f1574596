"""Value edges, rule by rule, and planted values that must be found exactly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.talk import call, claims, edge, failure, graph_of, result, say, talk, tool, user
from trajcredit.graph import EDGE_KINDS, build_graphs

READS = [tool(name, writes=False) for name in ("search", "fetch", "look", "add")]


@pytest.mark.parametrize(
    ("shown", "used"),
    [
        pytest.param("ticket QX-7741 is open", "QX-7741", id="an id as it stands"),
        pytest.param("QX-7741.", "qx-7741", id="another case, a full stop behind"),
        pytest.param("Total due: EUR 48,213.50", 48213.5, id="thousands separators and a zero at the end"),
        pytest.param('{"departs": "2031-03-09"}', "March 9, 2031", id="a date in words"),
        pytest.param("sails on 9th of March 2031", "2031-03-09", id="words first, ISO later"),
        pytest.param("Blue Heron Café", "https://maps.example/find?q=Blue%20Heron%20Caf%C3%A9", id="percent-encoded"),
        pytest.param('{"body": "{\\"ref\\": \\"CS-66120\\"}"}', "CS-66120", id="JSON inside JSON"),
        pytest.param("PILOT: ZELMIRA QUONT", "Zelmira Quont", id="a name in capitals"),
        pytest.param("ＱＸ−７７４１Ｚ", "QX-7741Z", id="full-width characters"),
        pytest.param("see src/app/main.py", "/home/me/src/app/main.py", id="a path under another root"),
        pytest.param('{"key": "amber-falcon"}', "amber-falcon", id="an id of words"),
        pytest.param('{"items": ["rusty key", "lamp"]}', "rusty key", id="several words that are a whole value"),
        pytest.param('{"mail": "ann.lee@example.org"}', "ann.lee@example.org", id="a mail address"),
    ],
)
def test_a_value_is_found_in_whatever_dress(shown, used):
    graph = graph_of(user("go"), call("fetch"), result(shown), call("look", what=used), result("fine"), tools=READS)
    assert (2, 3) in claims(graph, "value")


@pytest.mark.parametrize(
    ("shown", "used"),
    [
        pytest.param("lot LOT-10 weight 31 kg", "LOT-103", id="a prefix is another id"),
        pytest.param('{"status": "ok", "n": 0, "healthy": true}', "ok", id="a common word"),
        pytest.param("the weather is fine in spring", "the weather is fine", id="plain words"),
        pytest.param("", "x-stale-4471", id="an empty result"),
        pytest.param("   \n", "x-stale-4471", id="a blank result"),
        pytest.param("BOX-103", "LOT-103", id="pieces of two compounds"),
        pytest.param("MIA and LAX", "Mia", id="a short word in another case is another word"),
        pytest.param("12 of 15", 12, id="two digits"),
    ],
)
def test_what_proves_nothing_makes_no_edge(shown, used):
    graph = graph_of(user("go"), call("fetch"), result(shown), call("look", what=used), result("fine"), tools=READS)
    assert (2, 3) not in claims(graph, "value")


def test_the_first_to_show_a_value_is_its_source():
    graph = graph_of(
        user("go"), call("fetch", n=1), result("id FX-2291"), call("fetch", n=2), result("again FX-2291 here"),
        call("look", what="FX-2291"), result("fine"), tools=READS,
    )  # fmt: skip
    assert claims(graph, "value") == {(2, 5)}


def test_a_result_that_echoes_its_own_call_is_no_source():
    graph = graph_of(
        user("Cancel KLM-30077."), call("fetch", id="KLM-30077"), result("KLM-30077: 2 seats"),
        call("look", id="KLM-30077"), result("fine"), tools=READS,
    )  # fmt: skip
    assert claims(graph, "value") == {(0, 1), (0, 3)}


def test_what_the_user_gave_stays_the_users_and_a_result_that_shows_it_unasked_is_secondary():
    graph = graph_of(
        user("I paid 48213."),
        call("fetch"),
        result("total 48213"),
        call("look", sum=48213),
        result("fine"),
        tools=READS,
    )
    assert edge(graph, 0, 3)[0] == "value"
    assert edge(graph, 2, 3)[:2] == ("echo", 0.85)


def test_what_the_agent_made_up_has_no_source():
    graph = graph_of(
        user("go"), call("add", id="NEW-8841"), result("fine"), call("fetch"), result("has NEW-8841"),
        call("look", id="NEW-8841"), result("fine"), tools=READS,
    )  # fmt: skip
    assert claims(graph, "value") == set()


def test_a_failed_result_is_a_source_only_where_no_other_shows_the_value():
    lines = [user("go"), call("fetch", n=1), failure("no FX-2291"), call("fetch", n=2), result("FX-2291")]
    graph = graph_of(*lines, call("look", id="FX-2291"), result("fine"), tools=READS)
    assert claims(graph, "value") == {(4, 5)}
    graph = graph_of(*lines[:3], call("look", id="FX-2291"), result("fine"), tools=READS)
    assert claims(graph, "value") == {(2, 3)}


def test_calls_of_one_turn_do_not_use_each_others_results():
    graph = graph_of(
        user("go"), call("fetch"), call("look", id="GH-61220"), result("GH-61220: 5 left"), result("fine"), tools=READS
    )
    assert claims(graph, "value") == set()


def test_the_neighbours_of_a_value_tell_two_carriers_apart():
    graph = graph_of(
        user("go"),
        call("fetch", n=1), result('[{"flight": "HA0691", "price": 1377}, {"flight": "HA0702", "price": 8612}]'),
        call("fetch", n=2), result('[{"flight": "KX4413", "price": 1377}, {"flight": "KX4501", "price": 9544}]'),
        call("look", flight="KX4413", price=1377), result("fine"), tools=READS,
    )  # fmt: skip
    assert claims(graph, "value") == {(4, 5)}


def test_a_value_that_most_observations_hold_tells_nothing():
    rounds = [line for n in range(8) for line in (call("fetch", n=n), result(f"zone ZQ-7741 part {n}"))]
    graph = graph_of(user("go"), *rounds, call("look", zone="ZQ-7741"), result("fine"), tools=READS)
    assert claims(graph, "value") == set()


def test_a_value_is_common_only_once_most_observations_have_shown_it():
    rounds = [line for n in range(8) for line in (call("fetch", n=n), result(f"zone ZQ-7741 part {n}"))]
    graph = graph_of(user("go"), call("search"), result("ZQ-7741"), call("look", zone="ZQ-7741"), *rounds, tools=READS)
    assert claims(graph, "value") == {(2, 3)}


def test_a_value_of_the_tool_declarations_needs_twelve_bits():
    from trajcredit.model import Tool

    declared = [*READS, Tool("pick", None, {"enum": ["XYZ", "ABCD-7741"]}, False)]
    lines = (user("go"), call("fetch"), result("XY2 or ABCD-7741"))
    graph = graph_of(*lines, call("pick", what="ABCD-7741"), result("fine"), tools=declared)
    assert claims(graph, "value") == {(2, 3)}
    low = [*READS, Tool("pick", None, {"enum": ["631"]}, False)]
    graph = graph_of(user("go"), call("fetch"), result("631"), call("pick", what=631), result("fine"), tools=low)
    assert claims(graph, "value") == set()


def test_a_number_one_away_from_a_shown_one_is_claimed_lightly():
    graph = graph_of(
        user("go"), call("fetch"), result("broken since rev 4631"), call("look", to=4630), result("fine"), tools=READS
    )
    assert edge(graph, 2, 3) == ("neighbour", 0.8, "uses 4630, one away from the number seen here")


def test_an_answer_that_repeats_a_bare_result_rests_on_it():
    graph = graph_of(user("go"), call("add", a=19), result("42"), say("It is 42."), tools=READS)
    assert edge(graph, 2, 3)[:2] == ("whole_result", 0.95)


def test_an_exact_sum_over_all_results_of_a_tool_rests_on_each():
    pages = [line for n in (311, 412, 96) for line in (call("fetch", page=n % 7), result(json.dumps({"subtotal": n})))]
    graph = graph_of(user("go"), *pages, say("Altogether 819."), tools=READS)
    assert claims(graph, "value") == {(2, 7), (4, 7), (6, 7)}
    assert edge(graph, 4, 7) == ("field_sum", 0.9, "states 819, the sum of subtotal, and this is one of them")
    wrong = graph_of(user("go"), *pages, say("Altogether 820."), tools=READS)
    assert claims(wrong, "value") == set()


def test_evidence_points_at_the_same_value_on_both_sides():
    graph = graph_of(
        user("go"), call("fetch"), result("«Café Zoë» ref CS-66120"), call("look", what="ref cs-66120"), tools=READS
    )
    (e,) = (e for e, p, c in graph.edges() if (p, c) == (2, 3))
    (match,) = graph.evidence(e).matches
    assert (match.parent_text, match.child_text) == ("CS-66120", "cs-66120")
    assert graph.trajectory.spans[2].text[slice(*match.parent)] == "CS-66120"
    assert graph.evidence(e).why == "uses 'cs-66120' (there 'CS-66120'), shown here"


IDS = st.from_regex(r"[A-Z]{2}[0-9]{4}[A-Z]{2}", fullmatch=True)


@given(st.data())
def test_planted_ids_are_found_and_nothing_else(data):
    """Every result mints ids of its own; every call uses some of those shown so far: exactly these edges come out."""
    minted: dict[str, int] = {}
    lines, planted = [user("go")], set()
    for _ in range(data.draw(st.integers(1, 8))):
        used = data.draw(st.lists(st.sampled_from(sorted(minted)), max_size=3)) if minted else []
        at = len(lines)
        lines.append(call("look", ids=used))
        planted |= {(minted[x], at) for x in used}
        new = [x for x in data.draw(st.lists(IDS, max_size=4, unique=True)) if x not in minted]
        lines.append(result("shows " + ", ".join(new)))
        minted.update(dict.fromkeys(new, at + 1))
    assert claims(graph_of(*lines, tools=READS), "value") == planted


@given(st.data())
def test_a_transcript_has_the_same_graph_alone_and_among_others(data):
    texts = st.text(st.sampled_from("AB7 .-é{\"'\n:"), max_size=30)
    talks = [
        talk(
            user(data.draw(texts)),
            call("look", q=data.draw(texts)),
            result(data.draw(texts)),
            say(data.draw(texts)),
            name=str(n),
        )
        for n in range(data.draw(st.integers(1, 4)))
    ]
    together = build_graphs(talks)
    for one, graph in zip(talks, together, strict=True):
        alone = build_graphs([one])[0]
        assert [*alone.edges()] == [*graph.edges()]
        assert alone.matches.tolist() == graph.matches.tolist()
        assert [EDGE_KINDS[k] for k in alone.kind] == [EDGE_KINDS[k] for k in graph.kind]


def test_words_of_a_long_text_prove_nothing_together():
    page = 'config: left, mode: center, style: dark, type: "plain", data: "none"'
    lines = [call("fetch", page=1), result(page), call("edit", text="left: center = dark plain none data")]
    assert claims(graph_of(user("go"), *lines, tools=()), "value") == set()


def test_results_of_one_turn_share_a_value_only_where_each_explains_the_call():
    """Two files are read at once; both show a colour, and only one of them is the file that is edited."""
    file, other = "color 64b5f6 pad 0d1117 line 2a2a4a", "color 64b5f6"
    lines = [call("fetch", n=1), call("fetch", n=2), result(file), result(other)]
    graph = graph_of(user("go"), *lines, call("edit", old="64b5f6 0d1117 2a2a4a"), result("ok"), tools=())
    assert claims(graph, "value") == {(3, 5)}


def test_a_word_that_many_results_showed_says_little_about_its_source():
    def shown(times):
        pages = [line for n in range(times) for line in (call("fetch", n=n), result(f"part {n} of ClassList"))]
        fillers = [line for n in range(30) for line in (call("fetch", n=100 + n), result("fine"))]
        graph = graph_of(user("go"), *fillers, *pages, call("look", name="ClassList"), result("ok"), tools=())
        return claims(graph, "value")

    assert shown(1)
    assert not shown(6)
