"""Chat templates: what they may call, and that none runs or writes without end."""

from __future__ import annotations

import pytest

from trajcredit.errors import InputError
from trajcredit.tokens.templates import CLOSE, OPEN, Template

MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "café <b>"}]


def render(source: str, **more: object) -> str:
    return Template(source, "t.jinja").render(MESSAGES, None, {"eos_token": "</s>"}, prompt=True, **more)  # type: ignore[arg-type]


def check_fails(source: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"^t\.jinja: the chat template failed: .*{reason}"):
        render(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param(
            "{{ messages[1] | tojson }}", '{"role": "assistant", "content": "café <b>"}', id="letters as they are"
        ),
        pytest.param("{{ {'a': [1]} | tojson(indent=1) }}", '{\n "a": [\n  1\n ]\n}', id="indented"),
        pytest.param("{% if true %}\n  a\n{% endif %}", "  a\n", id="blocks leave no line behind"),
        pytest.param("a\n  {% if true %}b{% endif %}", "a\nb", id="nor white space before them"),
        pytest.param("{% for m in messages %}{% break %}{% endfor %}x", "x", id="loops can be left"),
        pytest.param("{{ strftime_now('%d %b %Y') }}", "26 Jul 2024", id="the same day on every run"),
        pytest.param("{{ eos_token ~ 1 ~ tools }}", "</s>1None", id="tokens, numbers and nothing in a row"),
        pytest.param("{{ '%s-%03d' % ('a', 7) }}{{ '{:>3}'.format('b') }}", "a-007  b", id="formats"),
        pytest.param("{{ messages | map(attribute='role') | join(',') }}", "user,assistant", id="filters"),
        pytest.param("{% generation %}a{% endgeneration %}b", "ab", id="marks are not seen"),
        pytest.param("{{ 'a' < 'b' < 'c' }}{{ 'a' in 'cab' }}{{ 2 not in [1, 2] }}", "TrueTrueFalse", id="comparisons"),
        pytest.param("{{ messages[1:][0].role }}{{ {'a' ~ 1: 2}.a1 }}", "assistant2", id="slices and keys"),
        pytest.param(
            "{% for i in range(9) if i % 4 == 0 %}{{ loop.length }}{{ i }}{% endfor %}", "303438", id="filtered"
        ),
        pytest.param("{{ [1, none, true, 2.5, {'a': ('b',)}] }}", "[1, None, True, 2.5, {'a': ('b',)}]", id="lists"),
        pytest.param("{% macro f(x) %}[{{ x }}]{% endmacro %}{{ f('a') + f('b') }}", "[a][b]", id="macros"),
    ],
)
def test_what_a_template_writes(source, text):
    assert render(source) == text


def test_marks_are_around_what_is_generated():
    assert render("a{% generation %}b{% endgeneration %}c", marking=True) == f"a{OPEN}b{CLOSE}c"
    assert Template("{% generation %}b{% endgeneration %}", "t").marks
    assert not Template("generation", "t").marks


DOUBLED = "{% set n = namespace(x=[1]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}"
KEYED = DOUBLED.replace("[", "(").replace("]", ",)")
LONG = "{% set a = 'a' * 900000 %}"

ENDLESS = [
    pytest.param("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "steps", id="loops"),
    pytest.param(
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "steps",
        id="calls",
    ),
    pytest.param("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError", id="a macro that calls itself"),
    pytest.param("{{ 'a' * 10**9 }}", "characters", id="a repeated text"),
    pytest.param("{{ [1] * 10**9 }}", "elements", id="a repeated list"),
    pytest.param("{{ 2**64**2 }}", "too large", id="a power"),
    pytest.param("{{ 'a'.center(10**9) }}", "center by", id="a wide field"),
    pytest.param("{{ 'a' | center(10**9) }}", "center by", id="a wide filter"),
    pytest.param("{{ '%1000000000d' % 1 }}", "wide field", id="a wide number"),
    pytest.param("{{ '{:>{}}'.format(1, 10**9) }}", "wide field", id="a width from outside"),
    pytest.param("{{ 'a{:>{}}'['format'](1, 10**9) }}", "wide field", id="a width from outside, by name"),
    pytest.param("{{ '%1000000000d' | format(1) }}", "wide field", id="a wide format filter"),
    pytest.param(
        "{% set n = namespace(x='a' * 99) %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "characters",
        id="a text that doubles",
    ),
    pytest.param(
        "{% set n = namespace(x='a' * 99) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "characters",
        id="a sum that doubles",
    ),
    pytest.param(
        "{% set n = namespace(x='a' * 99) %}{% for i in range(60) %}"
        "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
        "characters",
        id="a block that doubles",
    ),
    pytest.param("{% for i in range(1500) %}" + "a" * 999 + "{% endfor %}", "characters", id="its own words repeated"),
    pytest.param(DOUBLED + "{{ n.x }}", "elements", id="a list of itself twice, printed"),
    pytest.param(DOUBLED + "{{ n }}", "elements", id="within its namespace"),
    pytest.param(DOUBLED + "{{ n.x | tojson }}", "elements", id="as JSON"),
    pytest.param(DOUBLED + "{{ 'a' ~ n.x }}", "elements", id="joined to a text"),
    pytest.param(DOUBLED + "{{ '%s' % (n.x,) }}", "elements", id="in a format"),
    pytest.param(DOUBLED + "{{ '{}'.format(n.x) }}", "elements", id="in a format method"),
    pytest.param(DOUBLED + "{{ n.x == n.x }}", "elements", id="compared"),
    pytest.param(DOUBLED + "{{ n.x in [n.x] }}", "elements", id="looked for"),
    pytest.param(DOUBLED + "{{ [n.x] | select('equalto', n.x) | list }}", "elements", id="compared by a filter"),
    pytest.param(DOUBLED + "{{ [n.x].index(n.x) }}", "elements", id="compared by a method"),
    pytest.param(DOUBLED + "{{ raise_exception(n.x) }}", "elements", id="in an error"),
    pytest.param(DOUBLED + "{{ n.x | safe }}", "elements", id="declared safe"),
    pytest.param(KEYED + "{{ {n.x: 1} }}", "elements", id="as a key"),
    pytest.param(KEYED + "{{ {}[n.x] }}", "elements", id="looked up"),
    pytest.param(KEYED + "{{ {}.get(n.x) }}", "elements", id="looked up by a method"),
    pytest.param("{{ range(99999) | sort | length }}", "steps", id="one filter"),
    pytest.param("{% for i in range(999) %}{% set x = range(99) | list %}{% endfor %}", "steps", id="many filters"),
    pytest.param("{% for i in range(99999) if false %}{% endfor %}", "steps", id="a loop that skips everything"),
    pytest.param("{{ range(99999) | map('string') | list }}", "steps", id="one by one"),
    pytest.param("{{ lipsum(n=1000000) }}", "undefined", id="words at random"),
    pytest.param(LONG + "{{ a.join(['', '', '']) }}", "characters", id="join"),
    pytest.param(LONG + "{{ ['', '', ''] | join(a) }}", "characters", id="the join filter"),
    pytest.param(LONG + "{{ a.replace('a', 'bb') }}", "characters", id="replace"),
    pytest.param(LONG + "{{ a | replace('a', 'bb') }}", "characters", id="the replace filter"),
    pytest.param("{{ ('{0}' * 99).format('a' * 99999) }}", "characters", id="a field many times"),
    pytest.param("{{ (1).to_bytes(10**9, 'big') }}", "to_bytes by", id="bytes of a number"),
    pytest.param("{{ 5 | round(-10**9) }}", "round by", id="a number of digits"),
    pytest.param("{{ [1, 2] | tojson(indent=10**9) }}", "indent by", id="an indent"),
    pytest.param("{% for i in range(99) %}{{ 'a' | center(99999) }}{% endfor %}", "characters", id="constants"),
    pytest.param("{{ strftime_now('%Y' * 1000) }}", "2000 characters", id="a long date"),
]


@pytest.mark.parametrize(("source", "reason"), ENDLESS)
def test_no_template_runs_or_writes_without_end(source, reason, monkeypatch):
    monkeypatch.setattr("trajcredit.tokens.bounds.MOST_STEPS", 2_000)
    monkeypatch.setattr("trajcredit.tokens.bounds.MOST_LETTERS", 1_000_000)
    monkeypatch.setattr("trajcredit.tokens.bounds.MOST_ELEMENTS", 10_000)
    check_fails(source, reason)


def test_a_rendering_ends_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr("trajcredit.tokens.bounds.MOST_SECONDS", -1.0)
    check_fails("{% for m in messages %}{% endfor %}", "seconds")


def test_renderings_do_not_add_up(monkeypatch):
    monkeypatch.setattr("trajcredit.tokens.bounds.MOST_STEPS", 30)
    template = Template("{% for i in range(20) %}{% endfor %}", "t.jinja")
    assert [template.render([], None, {}, prompt=False) for _ in range(3)] == ["", "", ""]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param(
            "{{ raise_exception('roles must alternate') }}", "roles must alternate", id="a refusal of its own"
        ),
        pytest.param("{{ messages[0].x.y }}", "no attribute 'x'", id="a message without that"),
        pytest.param("{{ messages.append(1) }}", "unsafe", id="messages are not changed"),
        pytest.param("{{ ''.__class__.__mro__ }}", "unsafe", id="no way out"),
        pytest.param("{{ 1 + 'a' }}", "TypeError", id="a sum of unlike things"),
    ],
)
def test_what_goes_wrong_names_the_file(source, reason):
    check_fails(source, reason)


def test_what_is_no_template_is_refused():
    with pytest.raises(InputError, match=r"t\.jinja: not a chat template"):
        Template("{% if", "t.jinja")
    with pytest.raises(InputError, match="at most"):
        Template("a" * 1_000_001, "t.jinja")
