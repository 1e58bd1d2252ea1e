"""The syntax of templates in G-Code options: Jinja with `{` and `}` around expressions."""

# A tag is cut into tokens as Jinja cuts it. Its expression becomes one of Python with the same grammar, which
# Python's parser judges: names, texts and numbers are replaced by placeholders, and what only Jinja has by
# what may stand there in Python: `~` by `+`, a test (`x is divisibleby 3`) by a comparison, and, as `else`
# may be missing, `a if b else c` by `a and b or c`.

import ast
import re
from itertools import pairwise

from .options import known_words

# The beginning of a tag; the sign of a statement is a group.
TAG_BEGIN = re.compile(r"\{(%?)[-+]?\s*")
# The end of a tag, with the same group.
TAG_END = re.compile(r"[-+]?(%?)\}")
# A block that is not a template, and a word that does not change the syntax.
RAW = r"(?s)\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\}|\srecursive(?=\s*[-+]?%\})"
# A name, a number, a text, or a sign, with the blanks around it.
TOKEN = re.compile(
    r"""(?sx) \s* (
        [^\W\d]\w*
        | 0[xX][\da-fA-F]+ | \d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?
        | '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*"
        | // | \*\* | [=!<>]= | [-+*/%~|.,:;()\[\]{}<>=]
    ) \s*"""
)
CLOSING_BRACKET = {"(": ")", "[": "]", "{": "}"}
# Jinja's operators, and those of Python that take their place.
OPERATORS = dict(
    pair.split() for pair in "~ +|is ==|if and|else or|and and|or or|not not|in in".split("|")
)
# The mark of an open block whose else was read.
AFTER_ELSE = " else"


def mistake(template: str) -> str:
    """Describe the first mistake in the syntax of a template; "" if Jinja takes it.

    Source: load_template in klippy/extras/gcode_macro.py.
    """
    text = re.sub(RAW, "", template)
    blocks: list[str] = []  # those that are open
    offset = 0
    while begin := TAG_BEGIN.search(text, offset):
        try:
            tokens, offset = _tokens(text, begin)
            if begin[1]:
                _check_statement(blocks, tokens)
            else:
                _check_expression(tokens)
        except SyntaxError as error:
            return f"{error.msg}: {' '.join(text[begin.start() :][:60].split())}"
        except (RecursionError, MemoryError):  # nobody has written that
            return ""
    if not blocks:
        return ""
    block = blocks[-1].removesuffix(AFTER_ELSE)
    return f"{{% {block} %}} without {{% end{block} %}}"


def _tokens(text: str, begin: re.Match[str]) -> tuple[list[str], int]:
    """Read the tokens of a tag, and the offset behind its end."""
    offset = begin.end()
    tokens: list[str] = []
    brackets: list[str] = []
    while match := TOKEN.match(text, offset):
        end = TAG_END.match(text, offset)
        if end and not brackets and end[1] == begin[1]:
            return tokens, end.end()
        token = match[1]
        if token in CLOSING_BRACKET:
            brackets.append(CLOSING_BRACKET[token])
        elif token in CLOSING_BRACKET.values() and (not brackets or brackets.pop() != token):
            break
        tokens.append(token)
        offset = match.end()
    raise SyntaxError(f"unexpected '{text[offset : offset + 1]}'")


def _check_statement(blocks: list[str], tokens: list[str]) -> None:
    """Judge a tag by its first word; `blocks` are those that it stands in."""
    # A colon may end a tag that has a body, as in Python.
    if tokens[-1:] == [":"] and tokens[0] in known_words("tags")["colon"]:
        tokens = tokens[:-1]
    word, *arguments = tokens or [""]
    begun = word.removeprefix("end")
    is_set = word == "set" and "=" in arguments
    is_block = word in known_words("tags")["block"] and not is_set
    if word in ("else", "elif"):
        fits = blocks[-1:] == ["if"] or (word == "else" and blocks[-1:] == ["for"])
        if fits and word == "else":
            blocks[-1] += AFTER_ELSE
    elif begun != word:
        fits = bool(blocks) and blocks.pop().removesuffix(AFTER_ELSE) == begun
    else:
        fits = is_block or word in known_words("tags")["single"]
    is_bare = word in "else endif endfor endmacro endset endcall".split()  # it is one word
    if not fits or (arguments and is_bare):
        raise SyntaxError(f"{{% {' '.join(tokens)} %}} fits no tag before it")
    if is_block:
        blocks.append(word)
    divider = "in" if word == "for" else "="
    if word == "for" or is_set:
        number = arguments.index(divider) if divider in arguments else 0
        _check_expression(arguments[:number])
        _check_expression(arguments[number + 1 :])
    elif word in ("if", "elif"):
        _check_expression(arguments)


def _check_expression(tokens: list[str]) -> None:
    """Judge an expression by its Python counterpart."""
    words = []
    previous = ""
    for token, after in pairwise((*tokens, "")):
        if previous == "is" and token == "not":
            continue
        kind = {"|": "filter", "is": "test"}.get(previous)
        if kind and token not in known_words("tags")[kind]:
            raise SyntaxError(f"No {kind} named '{token}'")
        if previous != "." and token in OPERATORS and not kind:
            words.append(OPERATORS[token])
        else:
            words.append(re.sub(r"\w.*", "n", "''" if token[0] in "'\"" else token))
        if kind == "test" and after not in ("else", "or", "and") and re.match(r"[\w'\"\[{]", after):
            words.append("+")  # what follows is the test's argument
        previous = token
    tree = ast.parse(" ".join(words), mode="eval")
    if any(isinstance(node, ast.Set) for node in ast.walk(tree)):
        raise SyntaxError("one pair of braces is enough")
