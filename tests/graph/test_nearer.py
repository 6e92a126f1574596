"""Where several spans showed a value: who said it on their own, who took it up, which look at a thing was the last."""

from __future__ import annotations

import pytest

from tests.graph.talk import Line, call, claims, edge, failure, graph_of, result, say, user

BOOKED = [
    call("get_booking", ref="QX-7741Z"),
    result('{"ref": "QX-7741Z", "flights": [{"no": "HAT192", "date": "2024-05-25"}]}'),
]

# ---------------------------------------------------------------- users


def test_what_a_user_says_untold_comes_from_the_user_whoever_had_shown_it():
    graph = graph_of(user("go"), *BOOKED, say("Anything else?"), user("Find HAT192 now"), call("find", no="HAT192"))
    assert (4, 5) in claims(graph, "value")
    assert edge(graph, 2, 5)[:2] == ("echo_words", 0.2)


def test_what_a_user_takes_up_of_a_message_comes_from_both():
    offered = [say("There is HAT192. Shall I?"), user("Yes, HAT192"), call("find", no="HAT192")]
    graph = graph_of(user("go"), *BOOKED, *offered)
    assert {(2, 5), (4, 5)} <= claims(graph, "value")
    later = [result("no seat"), say("It is full. Go on?"), user("Sure"), call("keep", no="HAT192"), result("ok")]
    graph = graph_of(user("go"), *BOOKED, *offered, *later, say("HAT192 is kept."))
    assert {(2, 9), (4, 9)} <= claims(graph, "value")
    assert (4, 11) not in claims(graph, "value")  # a message answers the turn before it


@pytest.mark.parametrize("said", ["on May 25", "on the 25th of May", "May 25th, please"])
def test_a_day_without_its_year_comes_from_the_user_and_not_from_a_result_that_has_it_too(said):
    graph = graph_of(user("go"), *BOOKED, say("And now?"), user(f"Fly me out {said}"), call("find", on="2024-05-25"))
    assert edge(graph, 4, 5) == ("day", 0.85, "uses '2024-05-25', a day named here")
    assert edge(graph, 2, 5)[:2] == ("value", 0.2)


def test_another_day_is_not_that_day():
    graph = graph_of(user("go"), *BOOKED, say("And now?"), user("Fly me out on May 26"), call("find", on="2024-05-25"))
    assert claims(graph, "value") == {(2, 5)}


# ---------------------------------------------------------------- looks


def test_who_looks_at_a_thing_again_reads_it_there():
    text = "def load_all(): return fetch_rows(limit_of(7741))"
    looks: list[Line] = [call("view", path="src/app/rows.py"), result(text)]
    edit = call("edit", path="src/app/rows.py", old="return fetch_rows(limit_of(7741))")
    assert (2, 5) in claims(
        graph_of(user("go"), *looks, call("view", path="src/app/else.py"), result("x"), edit), "value"
    )
    graph = graph_of(user("go"), *looks, *looks, edit)
    assert (4, 5) in claims(graph, "value")
    assert (2, 5) not in claims(graph, "value")
    shorter = [call("view", path="src/app/rows.py"), result("def load_all():")]
    assert (2, 5) in claims(graph_of(user("go"), *looks, *shorter, edit), "value")


def test_what_a_look_asked_for_counts_where_it_is_compared_with_an_older_one():
    search = [call("search", origin="SFO", to="IAH", on="2024-05-23"), result('[{"no": "HAT278", "left": 4}]')]
    booking = '{"from": "SFO", "to": "IAH", "flights": [{"no": "HAT278", "on": "2024-05-22"}]}'
    old = [call("get", ref="QX-7741Z"), result(booking)]
    graph = graph_of(user("go"), *old, *search, say("Your flight from SFO to IAH on 2024-05-23 is HAT278."))
    assert edge(graph, 4, 5) == ("value", 0.92, "uses 'HAT278', shown here")


# ---------------------------------------------------------------- names that prove nothing, or something


def test_a_piece_of_a_name_that_the_agent_made_up_proves_nothing_when_it_is_repeated():
    shown = [call("read", path="/w/plus_comm.v"), result("Theorem plus_comm : forall n m")]
    graph = graph_of(user("go"), *shown, call("run", line="coqc plus_comm.v"), failure("Error"))
    assert claims(graph, "value") == set()


def test_two_paths_that_share_only_their_last_name_are_two():
    trace = user('It failed: File "/lib/site/core/responses.py", line 4')
    assert (0, 1) in claims(graph_of(trace, call("view", path="/w/core/responses.py")), "value")
    assert (0, 1) not in claims(graph_of(trace, call("view", path="/w/other/responses.py")), "value")


def test_a_path_that_a_listing_completes_is_also_the_users():
    trace = user('It failed: File "/lib/site/core/responses.py", line 4')
    listed = [call("find", name="*.py"), result("/w/src/core/responses.py\n/w/src/core/else.py")]
    graph = graph_of(trace, *listed, call("view", path="/w/src/core/responses.py"))
    assert {(0, 3), (2, 3)} <= claims(graph, "value")


def test_an_abbreviation_within_a_longer_name_is_not_the_thing():
    failed = [call("run", line="go"), result("x = Web.LiveViewTest.DOM.ensure_loaded now")]
    assert claims(graph_of(user("go"), *failed, call("note", text="tests of DOM")), "value") == set()


# ---------------------------------------------------------------- folders and kinds of files


def test_a_call_that_works_in_a_folder_rests_on_who_made_it():
    made = [call("bash", command="mkdir test_dir"), result("")]
    graph = graph_of(user("go"), *made, say("So."), user("on"), call("bash", command="echo 1 > test_dir/one.txt"))
    assert edge(graph, 1, 5) == ("in_folder", 0.8, "works in 'test_dir/one.txt', a folder made here")


def test_a_folder_that_the_answer_before_lists_and_a_file_that_is_listed_after_the_agent_named_it():
    graph = graph_of(user("go"), call("ls", all=True), result("docs/  setup.py  src/"), call("find", dir="src"))
    assert edge(graph, 2, 3) == ("listed", 0.65, "names 'src', which is listed here")
    guess = [
        call("grep", path="/w/conf/main.exs"),
        failure("no such file"),
        call("ls", all=True),
        result("conf/main.exs"),
    ]
    graph = graph_of(user("go"), *guess, call("read", path="/w/conf/main.exs"))
    assert edge(graph, 4, 5)[0] == "listed"


def test_a_build_works_on_the_last_change_of_a_file_of_its_kind():
    edits = [call("edit", path="/w/lib/a_page.ex", new="x = 1"), result("ok")]
    style = [call("edit", path="/w/css/a_page.css", new="color: red"), result("ok")]
    named = [call("bash", command="mix lint lib/other.ex"), result("fine")]
    build = call("bash", command="mix compile")
    assert (3, 5) in claims(graph_of(user("go"), *edits, *style, build), "state")
    assert claims(graph_of(user("go"), *named, *edits, *style, build), "state") >= {(3, 7)}
