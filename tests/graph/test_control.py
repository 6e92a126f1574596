"""Turn, control and context edges."""

from __future__ import annotations

from tests.graph.talk import call, claims, edge, failure, graph_of, result, say, talk, think, user
from trajcredit.graph import build_graphs
from trajcredit.model import Edge, Span, Trajectory


def test_reasoning_leads_to_the_rest_of_its_turn_and_no_further():
    graph = graph_of(user("go"), think("hm"), say("Looking."), call("look"), result("fine"), say("done"))
    assert claims(graph, "turn") == {(1, 2), (1, 3)}


def test_a_preamble_leads_to_nothing():
    graph = graph_of(user("go"), say("Looking."), call("look"), result("fine"))
    assert all(parent != 1 for parent, _ in claims(graph))


def test_an_answer_rests_on_the_question():
    graph = graph_of(user("hello"), say("Which order?"), user("the blue one"), say("I see."), user("and now"))
    assert claims(graph, "turn") == {(1, 2)}
    assert edge(graph, 1, 2)[:2] == ("reply", 0.95)


def test_a_retry_follows_the_failure_of_the_same_call():
    graph = graph_of(user("go"), call("look", id="GH-61220"), failure(), call("look", id="GH-61220"), result("fine"))
    assert edge(graph, 2, 3)[:2] == ("retry", 0.95)


def test_another_use_of_a_tool_that_failed_is_no_retry():
    graph = graph_of(user("go"), call("look", id="GH-61220"), failure(), call("look", id="ZZ-10400"), result("fine"))
    assert edge(graph, 2, 3)[0] == "reaction"


def test_another_line_of_the_same_command_is_a_retry():
    first, second = call("bash", command="git push"), call("bash", command="git push --set-upstream origin work")
    graph = graph_of(user("go"), first, failure("no upstream"), second, result("ok"), tools=())
    assert edge(graph, 2, 3)[0] == "retry"


def test_what_follows_a_failure_for_no_other_reason_reacts_to_it():
    graph = graph_of(
        user("go"), call("look", id="GH-61220"), failure(), say("I cannot do that."), user("why"), say("so")
    )
    assert edge(graph, 2, 3)[:2] == ("reaction", 0.95)


def test_a_last_call_that_says_the_work_is_done_reports_the_effects():
    lines = [user("go"), call("make_copy", n=1), result("ok"), call("finish"), result("")]
    assert edge(graph_of(*lines, tools=()), 1, 3)[0] == "closing"
    assert (1, 3) not in claims(graph_of(*lines, say("One more thing."), tools=()), "control")


def test_a_bad_finding_leads_to_the_next_effect():
    graph = graph_of(
        user("go"), call("run_tests"), result("2 failed"), call("update_code", n=1), result("fine"), say("ok")
    )
    assert edge(graph, 2, 3)[:2] == ("finding", 0.95)
    fine = graph_of(user("go"), call("run_tests"), result("0 failed"), call("update_code", n=1), result("fine"))
    assert (2, 3) not in claims(fine, "control")


def test_a_message_reports_the_effects_nothing_else_leads_to():
    graph = graph_of(
        user("go"), call("send_mail", n=1), result("fine"), call("send_mail", n=2), result("fine"), say("Sent.")
    )
    assert {(1, 5), (3, 5)} <= claims(graph, "control")
    assert edge(graph, 3, 5)[:2] == ("closing", 0.85)


def test_an_effect_that_an_ancestor_already_rests_on_is_not_reported_twice():
    graph = graph_of(
        user("go"), call("update_file", path="out/final_rows.csv"), result("fine"),
        call("update_file", path="out/final_rows.csv", n=2), result("fine"), say("Written."),
    )  # fmt: skip
    assert (3, 5) in claims(graph, "control")
    assert (1, 5) not in claims(graph, "control")


def test_with_several_user_turns_a_message_reports_what_it_names():
    graph = graph_of(
        user("go"), call("send_mail", n=1), result("fine"), say("Mail is out."), user("and the rest"),
        call("issue_refund", n=2), result("fine"), say("Your refund is on its way."),
        user("thanks"), call("tag_case", n=3), result("fine"), say("Bye."),
    )  # fmt: skip
    closing = {(p, c) for p, c in claims(graph, "control") if c in (3, 7, 11) and p in (1, 5, 9)}
    assert closing == {(1, 3), (5, 7)}


def test_the_last_request_leads_to_the_final_answer():
    graph = graph_of(user("go"), say("Yes."), user("more"), say("No."))
    assert edge(graph, 2, 3)[:2] == ("request", 0.95)


def test_an_orphan_result_hangs_on_the_summary_before_it():
    spans = [Span("user", -1, "summary of what was"), Span("tool_result", -1, "page 3"), Span("assistant", 0, "ok")]
    graph = build_graphs([Trajectory(id="t", spans=spans)])[0]
    assert edge(graph, 0, 1)[:2] == ("compaction", 0.9)


def test_an_action_without_a_reason_gets_a_light_context_edge():
    graph = graph_of(user("go"), call("look"), result("fine"), call("find"), result("none"))
    assert edge(graph, 2, 3)[:2] == ("context", 0.05)
    assert claims(graph, "context") == set()


def test_edges_of_the_log_and_of_people_are_kept_with_their_words():
    trajectory = talk(
        user("go"), call("look"), result("fine"), call("find"), result("none"),
        edges=[Edge(1, 3, "override", 0.9, "I saw it"), Edge(0, 4, "explicit")],
    )  # fmt: skip
    graph = build_graphs([trajectory])[0]
    assert edge(graph, 1, 3) == ("override", 0.9, "a person says so: I saw it")
    assert edge(graph, 0, 4) == ("explicit", 1.0, "the log says so")


def test_what_is_stated_stands_against_a_heavier_guess():
    trajectory = talk(user("go"), call("look"), result("fine"), edges=[Edge(1, 2, "override", 0.1, "not so")])
    graph = build_graphs([trajectory])[0]
    assert edge(graph, 1, 2) == ("override", 0.1, "a person says so: not so")
