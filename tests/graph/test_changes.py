"""What a call rests on because the world was changed before: values shown again, runs repeated, work looked over."""

from __future__ import annotations

import pytest

from tests.graph.talk import call, claims, edge, failure, graph_of, result, say, talk, user
from trajcredit.graph import build_graphs
from trajcredit.model import Span, Trajectory

SCRIPT = "print(load('QX-7741Z'))"
RUN = "python tools/show_all.py"


def shown_again(*lines):
    graph = graph_of(user("go"), *lines, tools=())
    return {(p, c) for e, p, c in graph.edges() if graph.evidence(e).rule == "shown_again"}


def test_a_result_that_shows_what_the_agent_wrote_rests_on_the_call_that_wrote_it():
    lines = [call("create", path="notes_q4.txt", text="see QX-7741Z"), result("ok"), call("fetch"), result("QX-7741Z")]
    graph = graph_of(user("go"), *lines, tools=())
    assert edge(graph, 1, 3) == ("shown_again", 0.8, "its result shows 'QX-7741Z', written here")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param([call("fetch", id="QX-7741Z"), result("ok")], call("fetch", n=2), id="a look stores nothing"),
        pytest.param([call("create", id="QX-7741Z"), failure()], call("fetch"), id="nor does a call that failed"),
        pytest.param([call("create", id="QX-7741Z"), result("ok")], call("find", id="QX-7741Z"), id="it was asked for"),
        pytest.param([call("run", code=SCRIPT), result("ok")], call("fetch"), id="nor does a run"),
    ],
)
def test_what_is_not_shown_again(first, second):
    assert shown_again(*first, second, result("QX-7741Z")) == set()


def test_what_an_observation_showed_before_is_nobodys_own():
    first = [call("fetch"), result("QX-7741Z"), call("create", id="QX-7741Z"), result("ok")]
    assert shown_again(*first, call("fetch", n=2), result("QX-7741Z")) == set()


def test_of_two_who_stored_a_value_the_one_that_stored_more_of_what_is_shown_counts():
    first = [call("create", a="QX-7741Z KX-1100A"), result("ok"), call("create", b="KX-1100A ZZ-2200B"), result("ok")]
    assert shown_again(*first, call("fetch"), result("KX-1100A ZZ-2200B")) == {(3, 5)}
    assert shown_again(*first, call("fetch"), result("KX-1100A QX-7741Z")) == {(1, 5)}


def test_a_value_in_every_result_shows_nothing_again():
    looks = [line for n in range(6) for line in (call("fetch", n=n), result("(open: notes_q4.txt)"))]
    assert shown_again(call("create", path="notes_q4.txt"), result("ok"), *looks) == set()


def test_the_same_run_again_rests_on_what_was_changed_in_between():
    edits = [call("bash", command="sed -i s/a/b/ src/core/main.py"), result("")]
    graph = graph_of(
        user("go"), call("bash", command="cat src/core/main.py"), result("a"), call("bash", command=RUN), result("1"),
        *edits, call("bash", command=RUN), result("2"), tools=(),
    )  # fmt: skip
    assert edge(graph, 5, 7) == ("again", 0.95, "is made again after this change")


@pytest.mark.parametrize(
    ("changed", "command"),
    [
        pytest.param("sed -i s/a/b/ other/new_file.py", RUN, id="what nobody had named then it did without"),
        pytest.param("sed -i s/a/b/ src/core/main.py", "ls src", id="a look is no run"),
    ],
)
def test_what_makes_no_difference_to_the_same_line(changed, command):
    graph = graph_of(
        user("go"), call("bash", command="cat src/core/main.py"), result("a"), call("bash", command=command),
        result("1"), call("bash", command=changed), result(""), call("bash", command=command), result("2"), tools=(),
    )  # fmt: skip
    assert (5, 7) not in claims(graph, "state")


def test_looking_over_the_work_rests_on_what_was_changed():
    edits = [call("edit", path="src/core/main.py", old="a"), result("done")]
    graph = graph_of(user("go"), *edits, call("bash", command="git status"), result("M src/core/main.py"), tools=())
    assert edge(graph, 1, 3)[:2] == ("review", 0.95)
    graph = graph_of(user("go"), *edits, call("bash", command="git status"), result("M 1 file"), tools=())
    assert edge(graph, 1, 3)[:2] == ("review", 0.05)


def test_what_is_submitted_with_the_call_is_no_publication():
    edits = [call("edit", path="src/core/main.py", old="a"), result("done")]
    assert edge(graph_of(user("go"), *edits, call("submit"), result("x"), tools=()), 1, 3)[0] == "publish"
    graph = graph_of(user("go"), *edits, call("submit", answer="the flag"), result("x"), tools=())
    assert (1, 3) not in claims(graph)


def test_a_change_that_names_nothing_changes_the_file_that_its_result_shows():
    graph = graph_of(
        user("go"), call("open", path="src/core/main.py"), result("1: a"), call("edit", lines="1:1", text="b"),
        result("[File: /w/src/core/main.py]"), call("bash", command="python src/core/main.py"), result("b"), tools=(),
    )  # fmt: skip
    assert edge(graph, 3, 5)[0] == "file_after_write"
    assert "core/main.py" in edge(graph, 3, 5)[2]


def test_code_that_is_one_call_does_what_the_name_of_the_function_says():
    lines = [call("run_python", code="open_file('a.py')"), result("x"), call("run_python", code="edit_file('a', 1)")]
    graph = graph_of(user("go"), *lines, result("ok"), tools=())
    assert graph.is_write.tolist() == [False, False, False, True, False]
    assert graph.write_basis[1] == "code"


def test_the_one_word_of_a_command_is_no_resource():
    lines = [call("editor", command="str_replace", path="/w/a_one.py"), result("done")]
    again = [call("editor", command="str_replace", path="/w/b_two.py"), result("done")]
    assert claims(graph_of(user("go"), *lines, *again, tools=()), "state") == set()


def test_arguments_in_tags_are_whole_arguments():
    def tagged(command):
        raw = f"<parameter=command>\n{command}\n</parameter>\n<parameter=path>/w/src/main.py</parameter>"
        return {
            "kind": "tool_call", "name": "editor", "arguments": {"command": command, "path": "/w/src/main.py"},
            "arguments_raw": raw,
        }  # fmt: skip

    graph = build_graphs([talk(user("go"), tagged("view"), result("a"), tagged("str_replace"), result("ok"))])[0]
    assert edge(graph, 1, 3)[0] == "write_after_look"


def test_a_mark_of_what_was_withheld_is_nobodys_value():
    mark = "[REDACTED_TEXT len=115 sha=ab]"
    lines = [user(mark), call("look", q="x"), result("fine")]
    lines[1]["arguments"], lines[1]["arguments_raw"] = None, "[REDACTED_ARGUMENTS len=115 sha=cd]"
    graph = graph_of(*lines)
    assert claims(graph) == set()
    assert [note.code for note in graph.notes] == ["withheld"]


def test_a_result_that_shows_words_alone_must_tell_a_share_of_what_the_best_source_tells():
    file = "QX-7741Z KX-1100A ZZ-2200B AB-3300C CD-4400D className"
    lines = [call("fetch", n=1), result("className"), call("fetch", n=2), result(file)]
    much, little = file, "KX-1100A className"
    assert claims(graph_of(user("go"), *lines, call("edit", text=much), tools=()), "value") == {(4, 5)}
    graph = graph_of(user("go"), *lines, call("edit", text=f"{little} {SCRIPT}"), tools=())
    assert (4, 5) in claims(graph, "value")


def test_a_path_before_the_number_of_a_line_is_a_path():
    lines = [call("grep", q="x"), result("src/app/main.py:12:def f"), call("open", path="/w/src/app/main.py")]
    assert edge(graph_of(user("go"), *lines, tools=()), 2, 3)[0] == "value"


def test_a_module_is_named_without_its_suffix():
    lines = [call("fetch"), result('import x from "../lib/auth_tokens"'), call("open", path="/w/lib/auth_tokens.ts")]
    assert edge(graph_of(user("go"), *lines, tools=()), 2, 3)[0] == "value"


def test_what_the_user_gave_is_the_users_however_often_it_is_shown():
    looks = [line for n in range(9) for line in (call("fetch", n=n), result("ann_lee_4471 again"))]
    graph = graph_of(user("I am ann_lee_4471."), *looks, call("look", id="ann_lee_4471"), tools=())
    assert {(p, c) for p, c in claims(graph, "value") if c == 19} == {(0, 19)}


def test_what_follows_a_look_that_found_nothing_follows_from_that():
    graph = graph_of(user("go"), call("find", q="a"), result("No files found"), call("find", q="b"), result("x"))
    assert edge(graph, 2, 3)[0] == "in_vain"
    graph = graph_of(user("go"), call("mkdir", q="a"), result(""), call("find", q="b"), result("x"), tools=())
    assert edge(graph, 2, 3)[0] == "context"


def test_a_thought_is_about_what_came_last():
    graph = graph_of(user("upgrade me"), call("think", thought="what does it cost"), result(""), say("hm"))
    assert edge(graph, 0, 1)[0] == "thought"


def test_another_program_run_by_the_same_tool_is_no_retry():
    first, second = call("bash", command="cd /w && python one.py"), call("bash", command="cd /w && python two.py")
    between = [call("edit", path="/w/three.py", text="x"), result("ok")]
    graph = graph_of(user("go"), first, failure(), *between, second, result("ok"), tools=())
    assert (2, 5) not in claims(graph)


def test_every_action_after_a_failure_reacts_to_it():
    lines = [call("look", id="QX-7741Z"), failure("no KX-1100A here"), call("fetch", id="KX-1100A"), result("x")]
    assert edge(graph_of(user("go"), *lines, tools=()), 2, 3)[0] in ("value", "reaction")
    spans = [Span("user", -1, "go"), Span("tool_call", 0, name="look"), Span("tool_result", 0, "x", result_of=1)]
    assert claims(build_graphs([Trajectory(id="t", spans=spans)])[0]) == set()
