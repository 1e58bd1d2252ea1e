"""The syntax of templates, as Jinja with Klipper's delimiters takes or refuses it (measured with Jinja 3.1)."""

import pytest

from tools.klipper.config import templates

TAKEN = """
{ a, b } | {a.0.1} | {% set x = 1 if y %} | {'a' 'b'} | {% set x, y = 1, 2 %} | {a if b} | {% set x.y = 3 %} | {- x -}
{% if x -%} a {%- elif b -%} {%- else -%} {%- endif %} | {1_000} | {x[1:2]} | {x.if} | { {'a':1}['a'] } | { 1.5e3 }
{% set _ = a.update({'x': 1}) %} | {x|int|abs is divisibleby 3} | {% for a, b in c.items() if a recursive %}{% endfor %}
{% if x in ['a',] %}{% endif %} | {% call(a) m() %}{% endcall %} | {% set x %}a{% endset %} | {a|default('}')} | text } here
{ x is not none and y } | {% if x is not in [1] %}{%endif%} | { x|round(1)|string ~ 'a' } | { a is defined() } | {f(*a, **b)}
{% set list = [] %} | {% if a is string 'x' %}{% endif %} | {% for x in (a if b else c) if d %}{% else %}{% endfor %}
{% macro x(a, b=1) %}{% endmacro %} | {% raw %}{ % {% if %}{% endraw %} | {'%.2f' % x} | {0x10} | {f(a=1, b=2)} | {'it''s'}
{ '\\'}' } | {printer["gcode_macro A"].b|default(0)|float} | {% set ns.a = 2 %} | {% set x = params.X|list|select('in', ' \\'(')|list %}
"""
REFUSED = """
{% if x = 1 %}{% endif %} | {% if x && y %}{% endif %} | {% if x %}{% endif } | {x + } | {60 C} | {% end if %} | {x|foo}
{% if a %}{%else if b%}{%endif%} | {{ x }} | {% else %} | {x;y} | {% endif x %} | {} | { } | {x is foo} | {% do x %} | {% break %}
{ x ? y : z } | { $x } | { f'a' } | {a and} | {% if (a) %}{% elseif b %}{% endif %} | { x| } | { a..b } | {% set x == 3 %}
{% for x of y %}{% endfor %} | {% if a=>b %}{%endif%} | {not} | {[x for x in y]} | {a if b else} | {% if x then %}{% endif %}
{% if “a” == b %}{% endif %} | {% set x = 3 | {params.X|default(1} | {% if %}{% endif %} | {% for in y %}{% endfor %} | {% set x = %}
{x y} | {% if x %}{% endif: %} | {'abc} | {a|int 3} | {a = b} | {a <> b} | {% if x %} | {% endif %} | {% for a in b %}{% if a %}{% endfor %}{% endif %} | {% %}
{% if x is not %}{% endif %} | {% if x %} G1 X{x {% endif %} | { (a } | {x is defined if y else z}
{% set x = 1: %} | {% if a %}{% endif: %}
"""


def parts(text):
    return text.strip().replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("template", parts(TAKEN))
def test_what_jinja_takes_has_no_mistake(template):
    assert templates.mistake(template) == ""


@pytest.mark.parametrize("template", parts(REFUSED))
def test_what_jinja_refuses_is_a_mistake(template):
    assert templates.mistake("G28\n" + template)


def test_a_mistake_says_what_and_where():
    assert templates.mistake("G28\n{% if a %}\nM117 {b|foo}") == "No filter named 'foo': {b|foo}"
    assert (
        templates.mistake("{% if a %}{% for b in c %}{% endif %}")
        == "{% endif %} fits no tag before it: {% endif %}"
    )
    assert templates.mistake("{% if a && b %}") == "unexpected '&': {% if a && b %}"
    assert templates.mistake("{% for b in c %}") == "{% for %} without {% endfor %}"


def test_a_template_that_is_nested_beyond_all_measure_is_left_alone():
    assert templates.mistake("{" + "not " * 20_000 + "x}") == ""
    templates.mistake("{" + "(" * 100_000)
