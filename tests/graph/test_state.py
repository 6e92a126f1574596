"""State edges, rule by rule: what a call rests on though no value passes."""

from __future__ import annotations

import pytest

from tests.graph.talk import call, claims, edge, failure, graph_of, result, say, tool, user
from trajcredit.graph import build_graphs
from trajcredit.graph.effects import acknowledges, act_of
from trajcredit.graph.failures import failed
from trajcredit.graph.variables import variables_of
from trajcredit.model import Span, Tool

FILE = "out/report_final.csv"


@pytest.mark.parametrize(
    ("name", "description", "command", "does", "basis"),
    [
        pytest.param("delete_order", "", "", "effect", "verb", id="a verb that changes"),
        pytest.param("rebookFlight", "", "", "effect", "verb", id="re- before a known verb, camel case"),
        pytest.param("list_orders", "", "", "read", "verb", id="a verb that reads"),
        pytest.param("archive_search", "", "", "read", "verb", id="a noun before the verb"),
        pytest.param("set_profile", "", "", "setter", "verb", id="a session setter"),
        pytest.param("open_session", "", "", "setter", "verb", id="open with a session noun"),
        pytest.param("run_tests", "", "", "check", "verb", id="running tests checks"),
        pytest.param("zorble", "Cancel an order", "", "effect", "description", id="the description decides"),
        pytest.param("zorble", "Run the tests", "", "check", "description", id="running says what is run"),
        pytest.param(
            "zorble", "Use this tool to create a note", "", "effect", "description", id="words that say nothing"
        ),
        pytest.param("kubectl", "Run kubectl", "rollout undo deploy/x", "effect", "command", id="the command decides"),
        pytest.param("bash", "", "cd /srv && ls -la", "read", "command", id="the command after cd"),
    ],
)
def test_what_a_call_does(name, description, command, does, basis):
    act = act_of(name, Tool(name, description), command, {})
    assert act is not None
    assert (act.does, act.basis) == (does, basis)


def test_the_declaration_wins_over_settings_and_settings_over_the_verb():
    declared = act_of("delete_x", Tool("delete_x", writes=False), "", {"delete_x": True})
    settings = act_of("delete_x", None, "", {"delete_x": False})
    assert declared is not None
    assert settings is not None
    assert (declared.does, declared.basis) == ("read", "declared")
    assert (settings.does, settings.basis) == ("read", "settings")
    assert act_of("zorble", None, "", {}) is None


def test_a_nameless_tool_that_only_acknowledges_changes_something():
    graph = graph_of(
        user("go"), call("zorble", x=1), result('{"ok": true}'), call("zorble", x=2), result("done"), say("ok")
    )
    assert graph.is_write.tolist() == [False, True, False, True, False, False]
    assert graph.write_basis[1] == "acknowledgement"


@pytest.mark.parametrize("description", ["Archive", "Run a command", ""])
def test_a_bare_noun_and_words_that_say_nothing_describe_no_act(description):
    assert act_of("zorble", Tool("zorble", description), "", {}) is None


def test_a_nameless_tool_whose_replies_count_tests_checks():
    lines = (call("update_row", n=1), result("fine"), call("zorble"), result("2 failed, 11 passed in 5.5s"))
    assert edge(graph_of(user("go"), *lines), 1, 3)[:2] == ("check", 0.95)


def test_a_nameless_tool_described_by_what_later_calls_run_in_sets_the_session():
    lines = (
        user("go"), call("get_metric", m="margin"), result("fine"), call("zorble", currency="EUR"),
        result('{"ok": true}'), call("get_metric", m="churn"), result("QX-7741"), say("QX-7741"),
    )  # fmt: skip
    described = graph_of(*lines, tools=[tool("zorble", "Workspace defaults used by later calls")])
    assert (3, 5) in claims(described, "state")
    assert (3, 5) not in claims(graph_of(*lines), "state")


def test_a_nameless_tool_stores_what_code_made():
    graph = graph_of(
        user("go"), call("zorble", text="table = load()"), result("fine"), call("blorb", path="out/final_1.csv"),
        result('{"written": true}'), say("done"),
    )  # fmt: skip
    assert edge(graph, 1, 3)[:2] == ("run_output", 0.95)


@pytest.mark.parametrize(
    ("reply", "yes"),
    [
        ('{"ok": true}', True),
        ("Saved.", True),
        ("deployment rolled back", True),
        ('{"rows": [1, 2]}', False),
        ("ok " * 99, False),
    ],
)
def test_acknowledgement(reply, yes):
    assert acknowledges(reply) is yes


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        pytest.param("Error: no seats", True, id="the word first"),
        pytest.param("HTTP 503: try again", True, id="a status"),
        pytest.param('{"error": "denied"}', True, id="an error field"),
        pytest.param('{"error": null, "rows": []}', False, id="an empty error field"),
        pytest.param('{"ok": false}', True, id="ok is false"),
        pytest.param("Traceback (most recent call last):\n  x", True, id="a traceback"),
        pytest.param("bash: foo: command not found", True, id="a shell"),
        pytest.param("done\nexit code: 2", True, id="an exit code"),
        pytest.param("exit code: 0", False, id="exit code 0"),
        pytest.param("404 Not Found", True, id="a status with its phrase"),
        pytest.param("404 Main Street, Springfield", False, id="a number is no status"),
        pytest.param("No errors found in 12 files", False, id="no errors"),
        pytest.param("The error rate is 2%", False, id="a word inside"),
    ],
)
def test_failure_by_text(text, yes):
    assert failed(Span("tool_result", 0, text)) is yes


def test_the_logs_own_flag_beats_the_text():
    assert failed(Span("tool_result", 0, "fine", error=True))
    assert not failed(Span("tool_result", 0, "Error: nothing", error=False))


def test_a_read_rests_on_the_last_write_of_what_it_names():
    graph = graph_of(
        user("go"), call("update_file", path=FILE), result("fine, 3 rows"), call("read_file", path=FILE), result("rows")
    )
    assert edge(graph, 1, 3) == ("file_after_write", 0.95, f"works on {FILE!r}, a file last changed here")


def test_an_overwrite_does_not_rest_on_what_it_overwrites():
    graph = graph_of(
        user("go"), call("save_file", path=FILE), result("saved"), call("save_file", path=FILE), result("saved")
    )
    assert claims(graph, "state") == set()


def test_an_effect_rests_on_the_look_before_it():
    graph = graph_of(
        user("go"), call("get_order", id="ORD-7741X"), result("x"), call("cancel_order", id="ORD-7741X"), result("x")
    )
    assert edge(graph, 1, 3)[:2] == ("write_after_read", 0.95)


def test_an_id_that_a_setter_minted_shows_its_session():
    graph = graph_of(
        user("go"), call("set_profile", who="Ann"), result('{"profile": "tp-810f7"}'), call("find_seat", row=3),
        result('{"seat": "window", "for": "tp-810f7"}'),
    )  # fmt: skip
    assert edge(graph, 1, 3)[:2] == ("minted_id", 0.65)


def test_a_session_reaches_later_calls_of_its_tool_and_effects_of_others():
    graph = graph_of(
        user("go"), call("set_profile", who="Ann"), result("fine"), call("list_seats"), result("none"),
        call("book_seat", row=3), result("fine"),
    )  # fmt: skip
    assert (1, 5) in claims(graph, "state")
    assert (1, 3) not in claims(graph, "state")


def test_without_effects_a_session_reaches_the_reads_that_were_used():
    graph = graph_of(
        user("go"), call("set_currency", code="JPY"), result("fine"), call("get_metric", m="margin"), result("71340"),
        call("get_metric", m="churn"), result("none"), say("The margin is 71340."),
    )  # fmt: skip
    assert claims(graph, "state") == {(1, 3)}


def test_code_that_reads_a_variable_rests_on_the_code_that_set_it():
    graph = graph_of(
        user("go"), call("run_python", code="df = load()"), result("fine"), call("run_python", code="import os"),
        result("fine"), call("run_python", code="df['a'] += 1"), result("fine"),
    )  # fmt: skip
    assert edge(graph, 1, 5) == ("variable", 0.95, "reads the variable df, set here")


@pytest.mark.parametrize(
    ("code", "sets", "reads"),
    [
        ("x = y + 1", {"x"}, {"y"}),
        ("df['a'] = df['b']", {"df"}, {"df"}),
        ("import numpy as np\nnp.zeros(3)", {"np"}, set()),
        ("for i in range(3):\n    print(i)", {"i"}, set()),
        ("def f():\n    return g", {"f"}, set()),
        ("x += 1", {"x"}, {"x"}),
    ],
)
def test_variables_of_code(code, sets, reads):
    found = variables_of(code)
    assert found is not None
    assert (found.sets, found.reads) == (sets, reads | (found.reads & found.sets & {"i"}))


def test_text_that_is_no_python_has_no_variables():
    assert variables_of("SELECT * FROM t WHERE x = 1;;") is None


def test_a_check_rests_on_the_last_effect():
    graph = graph_of(user("go"), call("update_row", n=1), result("fine"), call("run_tests"), result("3 passed"))
    assert edge(graph, 1, 3)[:2] == ("check", 0.95)


def test_what_made_the_second_try_work_is_its_parent():
    graph = graph_of(
        user("go"),
        call("book_room", n=7),
        failure(),
        call("pay_deposit"),
        result("fine"),
        call("book_room", n=7),
        result("fine"),
    )
    assert edge(graph, 3, 5)[:2] == ("repair", 0.85)


def test_publishing_rests_on_the_last_change_of_everything_since_the_last_time():
    graph = graph_of(
        user("go"), call("edit_file", path="src/a_one.py"), result("fine"), call("edit_file", path="src/b_two.py"),
        result("fine"), call("commit", m="x"), result("fine"), call("edit_file", path="src/c_three.py"), result("fine"),
        call("commit", m="y"), result("fine"),
    )  # fmt: skip
    assert {(p, c) for p, c in claims(graph, "state") if c in (5, 9)} == {(1, 5), (3, 5), (7, 9)}


def test_a_failed_call_changes_nothing():
    graph = graph_of(
        user("go"), call("update_file", path=FILE), failure(), call("read_file", path=FILE), result("rows")
    )
    assert claims(graph, "state") == set()
    assert graph.is_error.tolist() == [False, True, True, False, False]


def test_what_nearly_every_call_names_is_environment():
    lines = [line for n in range(12) for line in (call("update_file", path=FILE, n=n), result("fine"))]
    graph = graph_of(user("go"), *lines)
    assert claims(graph, "state") == set()


def test_project_settings_reach_the_graph():
    from tests.graph.talk import talk

    trajectory = talk(user("go"), call("zorble"), result("a long enough answer that acknowledges nothing at all"))
    assert build_graphs([trajectory])[0].is_write.tolist() == [False, False, False]
    written = build_graphs([trajectory], writes={"zorble": True})[0]
    assert written.is_write.tolist() == [False, True, False]
    assert written.write_basis[1] == "settings"


BASH = ()
"""No declarations: what a command line does is told by its words."""


@pytest.mark.parametrize(
    ("first", "second", "rests"),
    [
        pytest.param("sed -i s/a/b/ src/main.py", "cat src/main.py", True, id="an edit in place"),
        pytest.param("cat > src/main.py << 'EOF'", "pytest src/main.py", True, id="a file written by the shell"),
        pytest.param("python src/main.py", "cat src/main.py", False, id="a run changes no file it names"),
        pytest.param("git add src/main.py", "cat src/main.py", False, id="nor does the index"),
        pytest.param("pytest src/main.py 2>&1", "cat src/main.py", False, id="nor a stream that joins another"),
    ],
)
def test_a_command_line_changes_the_files_it_names_only_where_its_verb_says_so(first, second, rests):
    graph = graph_of(user("go"), call("bash", command=first), result("ok"), call("bash", command=second), tools=BASH)
    assert ((1, 3) in claims(graph, "state")) == rests


def test_a_file_under_an_absolute_path_is_a_whole_argument():
    look, change = call("view", path="/srv/app/main.py"), call("edit", path="/srv/app/main.py", text="x")
    graph = graph_of(user("go"), look, result("..."), change, result("ok"), call("bash", command="python app/main.py"))
    assert edge(graph, 1, 3)[0] == "write_after_look"
    assert edge(graph, 3, 5)[0] == "file_after_write"


def test_a_line_that_ends_in_a_commit_publishes():
    lines = [call("edit", path="/srv/app/main.py"), result("ok"), call("bash", command="git add -A && git commit -m x")]
    assert edge(graph_of(user("go"), *lines, tools=BASH), 1, 3)[0] == "publish"


def test_a_change_of_what_is_not_named_is_published_too():
    graph = graph_of(
        user("go"), call("insert", text="hello there"), result("ok"), call("submit"), result("diff"), tools=()
    )
    assert edge(graph, 1, 3)[0] == "publish"


def test_a_setter_that_is_given_nothing_sets_nothing_up():
    lines = [call("enter_plan_mode"), result("ok"), call("edit", path="/srv/app/main.py"), result("ok")]
    assert claims(graph_of(user("go"), *lines, tools=()), "state") == set()


def test_what_a_call_named_by_chance_is_no_look_at_what_the_user_named():
    lines = [call("todo", note="fix ann_lee_4471", status="in_progress_1"), result("noted"), call("edit", a="b")]
    assert claims(graph_of(user("I am ann_lee_4471."), *lines, tools=()), "state") == set()


def test_the_prompt_of_a_shell_is_no_id():
    prompt = "root@bcd3959393a1:/w#"
    lines = [call("bash", command="touch a.txt"), result(prompt), call("bash", command="ls"), result(prompt)]
    assert (1, 3) not in claims(graph_of(user("go"), *lines, tools=()), "state")
