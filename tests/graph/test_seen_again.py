"""What the agent saw again: results that a message tells of, summaries, files it works on, folders of shown paths."""

from __future__ import annotations

import pytest

from tests.graph.talk import Line, call, claims, edge, failure, graph_of, result, say, user


def note(text: str) -> Line:
    """What the log keeps and nobody said: a summary, for one."""
    return {"kind": "meta", "text": text}


# ---------------------------------------------------------------- messages

ASKED = [user("Is QX-7741Z insured?"), call("look_up", ref="QX-7741Z")]


def test_a_message_tells_of_the_result_that_answers_even_where_the_user_had_named_it():
    graph = graph_of(*ASKED, result("QX-7741Z: no cover"), say("No cover was added to QX-7741Z."))
    assert edge(graph, 2, 3) == ("retold", 0.8, "tells 'QX-7741Z', which this latest result is about")
    assert {(0, 3), (2, 3)} <= claims(graph, "value")


@pytest.mark.parametrize(
    "answer",
    [pytest.param(result("no cover"), id="it shows none of it"), pytest.param(failure("QX-7741Z"), id="it failed")],
)
def test_a_message_does_not_tell_of_a_result_that_shows_nothing_of_it_or_failed(answer):
    graph = graph_of(*ASKED, answer, say("No cover was added to QX-7741Z."))
    assert (2, 3) not in claims(graph, "value")


def test_a_figure_that_was_computed_again_comes_from_the_second_result():
    sums = [call("add", a=1), result("first 48213"), call("add", a=2), result("now 48213")]
    graph = graph_of(user("go"), *sums, say("That makes 48213."))
    assert claims(graph, "value") == {(4, 5)}
    assert edge(graph, 2, 5)[:2] == ("value", 0.2)
    asked = [*sums[:2], call("add", a=48213), result("yes, 48213")]
    assert claims(graph_of(user("go"), *asked, say("That makes 48213.")), "value") == {(2, 3), (2, 5), (4, 5)}


# ---------------------------------------------------------------- summaries

BEFORE = [
    *(user("go"), call("list"), result("QX-7741Z and KX-1180A"), call("list", page=2), result("LB-5520C")),
    say("Both pages are read."),
]
SUMMARY = note("So far: QX-7741Z of the first page, LB-5520C of the second.")


def test_after_a_summary_its_values_come_from_it_and_it_depends_on_what_it_sums_up():
    graph = graph_of(*BEFORE, SUMMARY, call("look", ref="QX-7741Z"), result("fine"))
    assert claims(graph, "value") == {(2, 6), (4, 6), (6, 7)}


def test_what_a_summary_leaves_out_is_a_candidate_after_it():
    graph = graph_of(*BEFORE, SUMMARY, call("look", ref="KX-1180A"), result("fine"))
    assert edge(graph, 2, 7)[:2] == ("value", 0.2)


def test_what_was_shown_again_after_a_summary_comes_from_there():
    lines = [call("list", page=3), result("KX-1180A"), call("look", ref="KX-1180A")]
    assert (8, 9) in claims(graph_of(*BEFORE, SUMMARY, *lines), "value")


def test_a_note_that_draws_on_little_replaces_nothing():
    graph = graph_of(*BEFORE, note("QX-7741Z is seen"), call("look", ref="KX-1180A"), result("fine"))
    assert (2, 7) in claims(graph, "value")


def test_before_anything_is_done_there_is_nothing_to_sum_up():
    graph = graph_of(user("see QX-7741Z"), note("QX-7741Z"), call("look", ref="QX-7741Z"), result("fine"))
    assert claims(graph, "value") == {(0, 2)}


def test_what_was_looked_at_before_a_summary_is_not_what_an_edit_after_it_goes_by_but_what_was_written_stays():
    files = [
        call("read", path="src/app_one.py"),
        result("x"),
        call("write", path="src/app_two.py", text="y"),
        result("ok"),
    ]
    edits = [call("edit", path="src/app_one.py", text="a"), result("ok"), call("read", path="src/app_two.py")]
    graph = graph_of(user("go"), *files, *BEFORE[1:], SUMMARY, *edits)
    assert edge(graph, 1, 11)[:2] == ("write_after_look", 0.2)
    assert (3, 13) in claims(graph, "state")


# ---------------------------------------------------------------- which of many

LISTED = [user("go"), call("list"), result("src/app/one_file.py")]


def test_of_a_value_that_later_results_show_again_it_is_doubtful_which_was_read():
    again = [line for k in range(2) for line in (call("list", page=k), result(f"QX-7741Z, page {k}"))]
    graph = graph_of(user("go"), call("list"), result("QX-7741Z"), *again, call("look", ref="QX-7741Z"))
    assert edge(graph, 2, 7)[:2] == ("value", 0.6)
    graph = graph_of(user("go"), call("list"), result("QX-7741Z"), *again[:2], call("look", ref="QX-7741Z"))
    assert edge(graph, 2, 5)[:2] == ("value", 0.92)


def test_who_works_on_a_file_knows_its_name():
    look = [call("read", path="src/app/one_file.py", line=1), result("x")]
    graph = graph_of(*LISTED, *look, call("read", path="src/app/one_file.py", line=80), result("y"))
    assert edge(graph, 2, 3)[:2] == ("value", 0.92)
    assert edge(graph, 2, 5)[:2] == ("value", 0.6)
    graph = graph_of(*LISTED, *look, call("edit", path="src/app/one_file.py", text="b"), result("ok"))
    assert edge(graph, 2, 5)[:2] == ("value", 0.2)  # the look explains it better


def test_a_path_without_its_suffix_is_no_file_that_was_written():
    lines = [call("write", path="src/App.css", text="x"), result("ok"), call("read", path="src/App.tsx"), result("y")]
    assert claims(graph_of(user("go"), *lines), "state") == set()


# ---------------------------------------------------------------- folders


def test_a_folder_comes_from_the_last_path_that_leads_into_it():
    lines = [call("list", q="a"), result("src/app/two_file.py"), call("run", command="ls /w/src/app"), result("x")]
    graph = graph_of(*LISTED, *lines)
    assert edge(graph, 4, 5) == ("folder", 0.8, "looks into 'src/app', a folder of what is shown here")
    assert (2, 5) not in claims(graph, "value")


@pytest.mark.parametrize(
    ("lines", "child"),
    [
        pytest.param([call("run", command="ls /w/src/lib"), result("x")], 3, id="another folder"),
        pytest.param([call("run", command="ls app"), result("x")], 3, id="one name alone"),
        pytest.param([call("run", command="cat src/app/one_file.py; ls src/app"), result("x")], 3, id="and its file"),
    ],
)
def test_other_folders_and_files_that_are_found_whole_make_no_edge_of_a_folder(lines, child):
    graph = graph_of(*LISTED, *lines)
    assert all(graph.evidence(e).rule != "folder" for e, _, c in graph.edges() if c == child)


def test_a_folder_that_its_own_call_named_is_an_echo():
    own = [call("run", command="ls /w/src/app"), result("/w/src/app/one_file.py"), call("run", command="du /w/src/app")]
    graph = graph_of(user("go"), *own)
    assert all(graph.evidence(e).rule != "folder" for e, _, _ in graph.edges())
