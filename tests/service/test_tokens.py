"""Tokens: what is accepted, held against PyJWT with strict options, which comes with the SDK."""

import base64
import json
import os
import random
import time

import jwt
import pytest

from tools.service import tokens

KEY, OLD_KEY, FOREIGN_KEY = b"k" * 32, b"o" * 32, b"f" * 32
URL = "https://pi.example/mcp"
GOOD = {"iss": "pi-mcp", "aud": URL, "sub": "anna", "scope": "onepercent klipper:read", "jti": "1"}


def claims(**changes):
    """Good claims with changes; None takes one away."""
    whole = {**GOOD, "exp": int(time.time()) + 3600, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def encoded(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header, payload, key=KEY):
    text = f"{encoded(header)}.{encoded(payload)}"
    return f"{text}.{encoded(tokens._signature(text.encode(), key))}"


def refused(token, keys=(KEY,)):
    with pytest.raises(tokens.InvalidToken):
        tokens.read(token, keys, URL)


def test_a_token_names_its_user_scope_end_and_id():
    given = claims()
    found = tokens.read(tokens.sign(given, KEY), [KEY], URL)
    assert found == tokens.Claims("anna", ("onepercent", "klipper:read"), given["exp"], "1")


def test_a_new_token_is_accepted_here_and_by_pyjwt():
    token = tokens.sign(tokens.new_claims("anna", ["onepercent"], URL, 60), KEY)
    assert tokens.read(token, [KEY], URL).user == "anna"
    assert jwt.decode(token, KEY, algorithms=["HS256"], audience=URL, issuer="pi-mcp")["scope"] == "onepercent"


def test_the_key_before_a_rotation_still_verifies_and_no_other_does():
    token = tokens.sign(claims(), OLD_KEY)
    assert tokens.read(token, [KEY, OLD_KEY], URL)
    refused(token)
    refused(tokens.sign(claims(), FOREIGN_KEY), [KEY, OLD_KEY])
    refused(token, [])


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none"},
        {"alg": "HS512"},
        {"alg": "hs256"},
        {"alg": ["HS256"]},
        {},
        {"alg": "HS256", "crit": ["exp"]},
        {"alg": "HS256", "b64": False},
        {"alg": "HS256", "kid": 7},
        [],
        "HS256",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_another_header_is_refused(header):
    refused(signed(header, claims()))


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": None},
        {"exp": 1},
        {"exp": "4102444800"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"exp": [1]},
        {"nbf": 4102444800},
        {"nbf": "now"},
        {"iat": 4102444800},
        {"iat": {}},
        {"iss": None},
        {"iss": "other"},
        {"iss": ["pi-mcp"]},
        {"aud": None},
        {"aud": "https://other.example/mcp"},
        {"aud": []},
        {"aud": ["https://other.example/mcp"]},
        {"aud": [URL, 7]},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": ["anna"]},
        {"sub": "an\nna"},
        {"sub": "\ud800"},
        {"sub": "a" * 201},
        {"jti": 7},
    ],
)
def test_other_claims_are_refused(changes):
    refused(signed(tokens.HEADER, claims(**changes)))


def test_a_minute_of_leeway_is_given_and_no_more():
    now = int(time.time())
    assert tokens.read(tokens.sign(claims(exp=now - 30), KEY), [KEY], URL)
    assert tokens.read(tokens.sign(claims(nbf=now + 30, iat=now + 30), KEY), [KEY], URL)
    refused(tokens.sign(claims(exp=now - 90), KEY))
    refused(tokens.sign(claims(nbf=now + 90), KEY))


def test_one_of_several_audiences_may_be_ours():
    assert tokens.read(tokens.sign(claims(aud=["https://other.example", URL]), KEY), [KEY], URL)


@pytest.mark.parametrize("scope", [None, 7, ["onepercent"], {"onepercent": 1}])
def test_a_scope_that_is_not_text_allows_nothing(scope):
    assert tokens.read(tokens.sign(claims(scope=scope), KEY), [KEY], URL).scope == ()


def test_a_changed_character_anywhere_is_refused():
    token = tokens.sign(claims(), KEY)
    for place, character in enumerate(token):
        for other in "Ab-.=" if character != "A" else "Bb_.=":
            if other != character:
                refused(token[:place] + other + token[place + 1 :])


@pytest.mark.parametrize("token", ["", ".", "..", "...", "a.b.c", "é.é.é", "x" * 10_000, "=.=.="])
def test_what_is_not_a_token_is_refused(token):
    refused(token)


@pytest.mark.parametrize("change", ["{}=", "{}.", ".{}", " {}", "{} ", "{}\n", "{0}.{0}"])
def test_padding_and_additions_are_refused(change):
    refused(change.format(tokens.sign(claims(), KEY)))


def odd_value(chance):
    return chance.choice(
        [
            None,
            7,
            -1,
            1.5,
            True,
            "",
            "x",
            "anna",
            URL,
            [URL],
            [],
            {},
            "4102444800",
            4102444800,
            10**30,
            ["pi-mcp"],
            "pi-mcp",
        ]
    )


def mutated(chance):
    """A token with something changed: a claim, the header, the key, a character, the parts."""
    payload, header, key = claims(), dict(tokens.HEADER), KEY
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        target = chance.choice([payload, payload, payload, header])
        names = (
            ["exp", "nbf", "iat", "iss", "aud", "sub", "jti", "scope"]
            if target is payload
            else ["alg", "crit", "kid", "typ"]
        )
        name = chance.choice(names)
        target[name] = odd_value(chance)
        if chance.random() < 0.3:
            del target[name]
    if chance.random() < 0.1:
        key = chance.choice([OLD_KEY, FOREIGN_KEY])
    token = signed(header, payload, key)
    if chance.random() < 0.2:
        place = chance.randrange(len(token))
        token = token[:place] + chance.choice("ABab01-_.=") + token[place + chance.randrange(2) :]
    return token


def test_whatever_pyjwt_refuses_is_refused_here():
    chance = random.Random(2026)
    accepted = stricter = 0
    for _ in range(6000):
        token = mutated(chance)
        ours, theirs = accepts(token), pyjwt_accepts(token)
        assert theirs or not ours, token
        accepted += ours
        stricter += theirs and not ours
    assert accepted > 1000
    assert stricter < 600


def accepts(token):
    try:
        tokens.read(token, [KEY, OLD_KEY], URL)
    except tokens.InvalidToken:
        return False
    return True


def pyjwt_accepts(token):
    for key in (KEY, OLD_KEY):
        try:
            jwt.decode(
                token,
                key,
                algorithms=["HS256"],
                audience=URL,
                issuer="pi-mcp",
                leeway=60,
                options={"require": ["exp", "sub", "aud", "iss"]},
            )
        except jwt.InvalidTokenError:
            continue
        return True
    return False


def test_the_first_key_is_made_for_this_user_alone_and_kept(tmp_path):
    path = tmp_path / "state" / "http-keys"
    [key] = tokens.keys_at(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert tokens.keys_at(path) == [key]
    assert os.listdir(path.parent) == ["http-keys"]


def test_a_rotation_keeps_the_key_before_it_only(tmp_path):
    path = tmp_path / "http-keys"
    [first] = tokens.keys_at(path)
    second, kept = tokens.rotate(path)
    assert kept == first
    third, kept = tokens.rotate(path)
    assert (kept, tokens.read_keys(path)) == (second, [third, second])


@pytest.mark.parametrize("text", ["", "short", "zz" * 32, "ab" * 31])
def test_a_file_that_holds_no_key_is_named(tmp_path, text):
    path = tmp_path / "http-keys"
    path.write_text(text, encoding="ascii")
    path.chmod(0o600)
    with pytest.raises(tokens.UnusableKeys, match="http-keys"):
        tokens.read_keys(path)


def test_a_key_that_others_can_read_is_not_used(tmp_path):
    path = tmp_path / "http-keys"
    tokens.keys_at(path)
    path.chmod(0o640)
    with pytest.raises(tokens.UnusableKeys, match="chmod 600"):
        tokens.read_keys(path)
