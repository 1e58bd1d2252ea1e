"""What a model is sent by tools/list in each conversation, in tokens of o200k: the JSON of each tool's name,
description and schema. The vocabulary comes with gpt-tokenizer, a package of npm."""

import json
import tempfile
from pathlib import Path

from tests.lab.bench.measuring import Row
from tests.support.client import SERVER, Client, finished
from tests.support.pages import installed
from tools.core.json_types import compact_json

TOKENIZER = "gpt-tokenizer@4.0.0"
SENT = ("name", "description", "inputSchema")
MOST = 5000
DEAREST = 5
# Reads a list of texts, prints the tokens of each.
COUNT = """
const { countTokens } = require(process.argv[1] + "/gpt-tokenizer/cjs/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(texts.map(text => countTokens(text))));
"""


def rows():
    by_name = counted()
    whole = sum(by_name.values())
    yield Row(
        "tools/list", whole, "tokens", MOST, "what it may have", f"at most {MOST}", whole <= MOST
    )
    for name in sorted(by_name, key=by_name.__getitem__)[: -DEAREST - 1 : -1]:
        yield Row(name, by_name[name], "tokens", whole, "tools/list")


def counted():
    """The tokens of each tool."""
    with Client(SERVER) as client:
        client.initialize()
        tools = client.request("tools/list")["result"]["tools"]
    texts = [compact_json({part: tool[part] for part in SENT}) for tool in tools]
    with tempfile.TemporaryDirectory() as folder:
        modules = installed(Path(folder), TOKENIZER)
        command = ["node", "-e", COUNT, modules]
        done = finished(command, input=json.dumps(texts), check=True)
    return dict(zip([tool["name"] for tool in tools], json.loads(done.stdout), strict=True))
