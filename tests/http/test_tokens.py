"""Tokens: what is accepted, held against PyJWT with strict options, which comes with the SDK."""

import json
import os
import random
import time
from contextlib import suppress

import jwt
import pytest

from tests.support.client import present
from tools.core.calls import Caller
from tools.http import tokens

KEY = b"k" * 32
OLD_KEY = b"o" * 32
FOREIGN_KEY = b"f" * 32
URL = "https://pi.example/mcp"
GOOD = {"iss": "pi-mcp", "aud": URL, "sub": "anna", "scope": "onepercent klipper:read", "jti": "1"}


def claims(**changes):
    """Good claims with changes; None takes one away."""
    return present({**GOOD, "exp": int(time.time()) + 3600, **changes})


def encoded(value):
    return tokens.base64url(value if isinstance(value, bytes) else json.dumps(value).encode())


def signed(header, payload, key=KEY):
    text = f"{encoded(header)}.{encoded(payload)}"
    return f"{text}.{tokens.signature(text, key)}"


def token_of(key=KEY, **changes):
    return tokens.sign(claims(**changes), key)


def verified(token, keys=(KEY,)):
    return tokens.verify(token, keys, URL)


def refused(token, keys=(KEY,)):
    with pytest.raises(tokens.InvalidToken):
        verified(token, keys)


def test_a_token_names_its_user_scope_and_id_here_and_to_pyjwt():
    toolsets = frozenset({"onepercent", "klipper"})
    assert verified(token_of()) == Caller("anna", toolsets, frozenset({"klipper"}), "1")
    grant = {"user": "anna", "scope": "onepercent", "token_id": "1"}
    token = tokens.sign(tokens.claims_of(grant, URL, 60), KEY)
    assert jwt.decode(token, KEY, **STRICT)["scope"] == "onepercent"


def test_the_key_before_a_rotation_still_verifies_and_no_other_does():
    token = token_of(OLD_KEY)
    assert verified(token, (KEY, OLD_KEY))
    refused(token)
    refused(token_of(FOREIGN_KEY), (KEY, OLD_KEY))
    refused(token, ())


ODD_HEADERS = [
    *json.loads('[{"alg": "hs256"}, {"alg": ["HS256"]}, {"alg": "HS256", "crit": []}, []]'),
    b"[" * 100_000,
]
ODD_CLAIMS = json.loads(r"""{
    "exp": [null, "4102444800", true, NaN, Infinity, [1]],
    "aud": [null, [], ["https://pi.example/mcp"], ["https://pi.example/mcp", 7]],
    "sub": [null, "", 7, "an\nna", " anna", "\ud800"],
    "jti": [7]
}""")
ODD_CLAIMS["exp"].append(10**400)


def test_another_header_and_other_claims_are_refused():
    for header in ODD_HEADERS:
        refused(signed(header, claims()))
    for name, values in ODD_CLAIMS.items():
        for value in values:
            refused(signed(tokens.JWT_HEADER, claims(**{name: value})))


def test_a_minute_of_leeway_is_given_and_no_more():
    now = int(time.time())
    assert verified(token_of(exp=now - 30))
    assert verified(token_of(nbf=now + 30, iat=now + 30))
    refused(token_of(exp=now - 90))
    refused(token_of(nbf=now + 90))


def test_a_scope_that_is_not_text_allows_nothing():
    assert not verified(token_of(scope=["onepercent"])).toolsets


def test_a_changed_character_anywhere_is_refused():
    token = token_of()
    for place, character in enumerate(token):
        for other in {*"Ab-.="} - {character}:
            refused(token[:place] + other + token[place + 1 :])


def test_what_is_not_a_token_and_padding_and_additions_are_refused():
    good = token_of()
    for change in ("{}=", "{}.", ".{}", " {}", "{}\n", "{0}.{0}"):
        refused(change.format(good))
    for token in ("", ".", "..", "a.b.c", "é.é.é", "x" * 10_000, "=.=.="):
        refused(token)


ODD = json.loads("""[
    "https://pi.example/mcp", ["https://pi.example/mcp"], "pi-mcp", ["pi-mcp"], "x", "",
    null, 7, -1, 1.5, true, [], {}, "4102444800", 4102444800, 1e30
]""")
CLAIMS = "exp nbf iat iss aud sub jti scope".split()


def mutated(chance):
    """A token with something changed: a claim, the header, the key, a character, the parts."""
    payload = claims()
    header = dict(tokens.JWT_HEADER)
    key = KEY
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        target = chance.choice([payload, payload, payload, header])
        name = chance.choice(CLAIMS if target is payload else ("alg", "crit", "typ"))
        target[name] = chance.choice(ODD)
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
    for _ in range(4000):
        token = mutated(chance)
        ours = accepts(token)
        theirs = pyjwt_accepts(token)
        assert theirs or not ours, token
        accepted += ours
        stricter += theirs and not ours
    assert accepted > 700
    assert stricter < 400


def accepts(token):
    with suppress(tokens.InvalidToken):
        return bool(verified(token, (KEY, OLD_KEY)))
    return False


STRICT = {
    "algorithms": ["HS256"],
    "audience": URL,
    "issuer": "pi-mcp",
    "leeway": 60,
    "options": {"require": ["exp", "sub", "aud", "iss"]},
}


def pyjwt_accepts(token):
    for key in (KEY, OLD_KEY):
        with suppress(jwt.InvalidTokenError):
            return bool(jwt.decode(token, key, **STRICT))
    return False


def test_the_first_key_is_made_for_this_user_alone_and_kept(tmp_path):
    path = tmp_path / "state" / "http-keys"
    [key] = tokens.ensure_keys(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert tokens.ensure_keys(path) == (key,)
    assert os.listdir(path.parent) == ["http-keys"]


WRONG_KEYS = [
    *(("ab" * 32, mode) for mode in (0o640, 0o620, 0o604, 0o660)),
    *((text, 0o600) for text in ("", "short", "zz" * 32, "ab" * 31)),
]


def test_keys_that_others_can_read_or_change_and_what_is_no_key_are_refused(tmp_path):
    path = tmp_path / "http-keys"
    for text, mode in WRONG_KEYS:
        path.write_text(text, "ascii")
        path.chmod(mode)
        with pytest.raises(OSError, match=r"http-keys must belong to you, .* \(chmod 600"):
            tokens.read_keys(path)


def test_a_pipe_in_place_of_the_keys_is_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "http-keys")
    with pytest.raises(OSError, match="http-keys must belong to you"):
        tokens.read_keys(tmp_path / "http-keys")
