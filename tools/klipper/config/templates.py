"""The syntax of templates in G-Code options: Jinja with `{` and `}` around expressions."""

# A tag is cut into tokens as Jinja cuts it. Its expression becomes one of Python with the same grammar, which
# Python's parser judges: names, texts and numbers are replaced by placeholders, and what only Jinja has by what
# may stand there in Python: `~` by `+`, a test (`x is divisibleby 3`) by a comparison, `a if b` by `a if b else n`.

import ast
import re
from collections.abc import Sequence
from itertools import pairwise

from tools.klipper.config.options import words_of

# What begins a tag, and what ends one with a statement and one with an expression.
OPEN = re.compile(r"(?:\{%[-+]?|\{-?)\s*")
STATEMENT_END, EXPRESSION_END = re.compile(r"[-+]?%\}"), re.compile(r"-?\}")
# A block that is no template.
RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\}", re.DOTALL)
# A name, a number, a text, or a sign, with the blanks around it.
TOKEN = re.compile(
    r"""\s*([^\W\d]\w*|0[xX][\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|//|\*\*|[=!<>]=|[-+*/%~|.,:;()\[\]{}<>=])\s*""",
    re.DOTALL,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}
BRACKETS_END = tuple(CLOSING.values())
NAME = "n"
"""Stands for every name in Python's expression."""
OPERATORS = {
    "~": "+",
    "is": "==",
    "and": "and",
    "or": "or",
    "not": "not",
    "in": "in",
    "if": "if",
    "else": "else",
}
LONGEST = 60
"""Characters of a tag in a message, and those after it."""


def mistake(template: str) -> str:
    """The first mistake in the syntax of a template; "" if Jinja takes it.

    Source: load_template in klippy/extras/gcode_macro.py.
    """
    text = RAW.sub("", template)
    blocks: list[str] = []  # those that are open
    place = 0
    while begin := OPEN.search(text, place):
        try:
            if begin[0].startswith("{%"):
                tokens, place = _tokens(text, begin.end(), STATEMENT_END)
                _statement(tokens, blocks)
            else:
                tokens, place = _tokens(text, begin.end(), EXPRESSION_END)
                _expression(tokens)
        except SyntaxError as error:
            return f"{error.msg}: {' '.join(text[begin.start() :][:LONGEST].split())}"
        except (RecursionError, MemoryError):  # nobody has written that
            return ""
    return f"{{% {blocks[-1]} %}} without {{% end{blocks[-1]} %}}" if blocks else ""


def _tokens(text: str, place: int, end: re.Pattern[str]) -> tuple[list[str], int]:
    """The tokens of a tag from a place on, and the place behind its end."""
    tokens: list[str] = []
    brackets: list[str] = []
    while match := TOKEN.match(text, place):
        if not brackets and (last := end.match(text, place)):
            return tokens, last.end()
        token = match[1]
        if token in CLOSING:
            brackets.append(CLOSING[token])
        elif token in BRACKETS_END and (not brackets or brackets.pop() != token):
            break
        tokens.append(token)
        place = match.end()
    found = f"'{text[place]}'" if place < len(text) else "end"
    raise SyntaxError(f"unexpected {found} before '{brackets[-1]}'" if brackets else f"unexpected {found}")


def _statement(tokens: Sequence[str], blocks: list[str]) -> None:
    """Judge a tag by its first word; `blocks` are those that it stands in."""
    word, *rest = tokens or [""]
    begun = word.removeprefix("end")
    is_set = word == "set" and "=" in rest
    # What it opens or closes.
    if begun != word:
        if not blocks or blocks.pop() != begun:
            raise SyntaxError(f"{{% {word} %}} without {{% {begun} %}}")
    elif word in ("else", "elif"):
        if not blocks or blocks[-1] not in ("if", "for"):
            raise SyntaxError(f"{{% {word} %}} without {{% if %}}")
    elif word in words_of("tags")["block"] and not is_set:
        blocks.append(word)
    elif word not in words_of("tags")["single"]:
        raise SyntaxError(f"unknown tag '{word}'")
    # What follows the word.
    parts = []
    if word in ("if", "elif"):
        parts = [rest]
    elif is_set:
        parts = _divided(rest, "=")
    elif word == "for":
        target, rest = _divided(rest, "in")
        every, condition = _divided(rest, "if")
        parts = [target, every, condition or [NAME]]
    elif rest and word in ("else", "endif", "endfor", "endmacro", "endset", "endcall"):
        raise SyntaxError(f"unexpected '{rest[0]}'")
    for part in parts:
        _expression([token for token in part if token != "recursive"])


def _divided(tokens: list[str], word: str) -> list[list[str]]:
    """What stands before a word outside of brackets, and behind it."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token in CLOSING) - (token in BRACKETS_END)
        if token == word and not depth:
            return [tokens[:number], tokens[number + 1 :]]
    return [tokens, []]


def _expression(tokens: Sequence[str]) -> None:
    """Judge an expression by that of Python."""
    words: list[str] = []
    without_else = [0]  # the conditions in each open bracket
    before = ""
    for token, after in pairwise((*tokens, "")):
        if token in CLOSING:
            without_else.append(0)
        elif token in (",", ":", *BRACKETS_END):
            words += ["else", NAME] * without_else[-1]
            without_else[-1] = 0
            if token in BRACKETS_END:
                without_else.pop()
        if before == "|" and token not in words_of("tags")["filter"]:
            raise SyntaxError(f"No filter named '{token}'")
        if before == "is" and token == "not":
            continue
        if before == "is":
            if token not in words_of("tags")["test"]:
                raise SyntaxError(f"No test named '{token}'")
            words.append(NAME)
            if after not in ("else", "or", "and") and re.match(r"[\w'\"\[{]", after):
                words.append("+")
        elif before != "." and token in OPERATORS:
            without_else[-1] += (token == "if") - (token == "else")
            words.append(OPERATORS[token])
        elif token[0] in "'\"":
            words.append("''")
        else:
            words.append(re.sub(r"\w.*", NAME, token))
        before = token
    words += ["else", NAME] * without_else[-1]
    tree = ast.parse(" ".join(words), mode="eval")
    if any(isinstance(node, ast.Set) for node in ast.walk(tree)):
        raise SyntaxError("one pair of braces is enough")
