"""Rules that fit more often than they are right: what in the texts tells the right edges from the others."""

from __future__ import annotations

import pytest

from tests.graph.talk import call, claims, edge, failure, graph_of, result, say, think, user

ORDER, HELD = "ORD-7741X", 'held as "HLD-5521Q"'
EDIT = [call("edit", path="/w/src/core/main.py", old="a"), result("done")]


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        pytest.param("total 12", ("write_after_read", 0.05), id="a look at its own work that finds nothing wrong"),
        pytest.param("total 12, mismatch", ("objection", 0.7), id="a look that finds fault"),
    ],
)
def test_an_effect_on_what_the_agent_itself_made(shown, found):
    made = [call("create_hold", seat=3), result(HELD)]
    look, pay = call("get_hold", id="HLD-5521Q"), call("pay_hold", id="HLD-5521Q")
    graph = graph_of(user("go"), *made, look, result(shown), pay, result("paid"))
    assert edge(graph, 3, 5)[:2] == found


def test_what_the_agent_changed_is_its_own_work_too():
    change = [call("update_order", id=ORDER, note="fast"), result("done")]
    look, cancel = call("get_order", id=ORDER), call("cancel_order", id=ORDER)
    graph = graph_of(user(f"about {ORDER}"), *change, look, result("fine"), cancel, result("done"))
    assert edge(graph, 3, 5)[:2] == ("write_after_read", 0.05)


def test_a_change_matters_to_who_sees_it():
    lines = [call("update_order", id=ORDER, seat="ROW-5521Q"), result("done"), call("cancel_order", id=ORDER)]
    asked = user(f"move {ORDER} to ROW-5521Q, or cancel it")
    shown = graph_of(asked, *lines, result(f"{ORDER} with ROW-5521Q is gone"))
    assert edge(shown, 1, 3)[:2] == ("read_after_write", 0.8)
    assert edge(graph_of(asked, *lines, result("gone")), 1, 3)[:2] == ("read_after_write", 0.05)


def test_an_effect_takes_up_what_a_look_showed():
    lines = [user("clean raw/orders.csv"), call("read_file", path="raw/orders.csv"), result("id,n_q,ts")]
    used = graph_of(*lines, call("run_python", code="df['n_q'] = 0"), result("ok"))
    assert edge(used, 1, 3)[0] == "taken_up"
    unused = graph_of(*lines, call("run_python", code="df['total'] = 0"), result("ok"))
    assert edge(unused, 1, 3)[:2] == ("looked_up", 0.5)


def test_words_that_the_user_gave_and_a_result_repeats_teach_nothing():
    lines = [user("to San Jose, by ann_lee_4471"), call("fetch"), result("San Jose ann_lee_4471")]
    assert edge(graph_of(*lines, call("look", q="San Jose"), result("x")), 2, 3)[:2] == ("echo_words", 0.2)
    assert edge(graph_of(*lines, call("look", q="ann_lee_4471"), result("x")), 2, 3)[0] == "echo_words"


@pytest.mark.parametrize(
    ("command", "follows"),
    [
        pytest.param("trk ready", True, id="names nothing"),
        pytest.param("trk show EP-7741", True, id="names what was changed"),
        pytest.param("trk show EP-9900", False, id="names something else"),
        pytest.param("ls", False, id="another program"),
    ],
)
def test_a_look_through_a_program_follows_what_the_program_changed(command, follows):
    lines = [call("bash", command="trk close EP-7741"), result("closed"), call("bash", command=command), result("x")]
    graph = graph_of(user("go"), *lines)
    assert ((1, 3) in claims(graph)) is follows
    if follows:
        assert edge(graph, 1, 3)[0] == "program"


def test_a_search_that_changes_a_word_of_the_one_before_goes_on_from_it():
    first, then = 'find lib -name "*case*" -type f', 'find lib -name "*live*" -type f'
    graph = graph_of(user("go"), call("bash", command=first), result("lib/x"), call("bash", command=then), result("y"))
    assert edge(graph, 2, 3)[0] == "refines"
    graph = graph_of(user("go"), call("bash", command=first), result("lib/x"), call("bash", command="ls"), result("y"))
    assert edge(graph, 2, 3)[0] == "context"


def test_a_result_without_a_call_answers_what_was_said_before_it():
    assert edge(graph_of(user("go"), say("```python\nprint(1)```"), result("1")), 1, 2)[0] == "output"
    assert edge(graph_of(user("summary"), result("1")), 0, 1)[0] == "compaction"


def test_a_change_that_names_nothing_is_one_of_the_file_that_is_open():
    insert = [call("insert", text="x"), result("[File: /w/new_one.py]")]
    lines = [call("open", path="/w/new_one.py"), result("empty"), *insert, call("bash", command="rm /w/new_one.py")]
    graph = graph_of(user("go"), *lines, result(""), call("submit"), result("done"))
    assert (5, 7) in claims(graph, "state")
    assert (3, 7) not in claims(graph, "state")


def test_a_call_that_succeeded_is_repaired_no_more():
    test, edit = call("bash", command="pytest one.py"), call("edit", path="/w/src/core/main.py", old="a")
    lines = [call("look", path="/w/src/core/main.py"), result("a"), test, failure(), edit, result("done")]
    graph = graph_of(user("go"), *lines, test, result("1 passed"), edit, result("done"), test, result("1 passed"))
    assert (5, 7) in claims(graph)
    assert (9, 11) in claims(graph)
    assert (5, 11) not in claims(graph)


def test_what_is_written_into_a_file_was_seen_in_that_file():
    shown = "KX-1100A ZZ-2200B AB-3300C"
    looks = [call("read", path="/w/old/copy.py"), result(f"x {shown}"), call("read", path="/w/src/main.py")]
    edit = call("edit", path="/w/src/main.py", old=shown)
    graph = graph_of(user("go"), *looks, result("\n".join(shown.split())), edit, result("ok"))
    assert {p for p, c in claims(graph, "value") if c == 5} == {4}


def test_a_tool_that_opens_the_work_and_says_that_something_is_true_sets_it_up():
    lines = [call("vav", koge="Mopug"), result('{"rov": true, "zuc": "tp-810f7"}'), call("dij", q="a"), result("b 3")]
    graph = graph_of(user("go"), *lines, call("kat", q="KX-1100A"), result('{"kam": true}'))
    assert edge(graph, 1, 5)[0] == "session"


def test_a_message_reports_the_latest_of_many_effects():
    many = [line for n in range(300) for line in (call("create", id=f"KX-{n:04d}"), result("done"))]
    graph = graph_of(user("go"), *many, think("all done"), say("All made."))
    said = len(graph.trajectory.spans) - 1
    assert {p for p, c in claims(graph, "control") if c == said} - {0} == set(range(said - 33, said - 1, 2))


def test_a_message_does_not_report_what_an_effect_it_reports_rests_on():
    lines = [line for n in range(4) for line in (call("append", path="/w/a_one.py", text=f"T{n}"), result("done"))]
    graph = graph_of(user("go"), *lines, say("Done."))
    assert {p for p, c in claims(graph, "control") if c == 9} == {0, 7}


def test_lines_of_which_no_word_tells_are_judged_by_the_replies_to_their_first_word():
    lines = [call("ted", tezi="nev san-fas us-2"), result('Zij to fas "us-2".'), call("ted", tezi="jap lah/val-1")]
    more = [result("Kog: val-1\nCaf: 3"), call("ted", tezi="rol lah/val-1"), result("lah/val-1 lesi")]
    graph = graph_of(user("go"), *lines, *more)
    assert graph.is_write.tolist() == [False, True, False, False, False, True, False]
    assert {(1, 3), (1, 5)} <= claims(graph, "state")


def test_a_sum_over_most_results_of_a_tool_is_no_chance():
    lines = [line for n in (417, 389) for line in (call("page", k=n), result(f'{{"sub": {n}}}'))]
    graph = graph_of(user("go"), *lines, call("page", k=3), result("Kaz 503: vep"), say("In all 806."))
    assert {p for p, c in claims(graph, "value") if c == 7} == {2, 4}
