"""The note type that this server suggests: four fields, one card."""

from tools.core.json_types import JsonObject

FRONT = """\
<div class="prompt">{{Prompt}}</div>
{{#Context}}<div class="context">{{Context}}</div>{{/Context}}
{{tts de_DE voices=AwesomeTTS:Prompt}}"""

BACK = """\
{{FrontSide}}
<hr id="answer">
<div class="response">{{Response}}</div>
{{#Sources}}<div class="sources">{{Sources}}</div>{{/Sources}}"""

CSS = """\
.card {
  font-family: "Inter", "Segoe UI", sans-serif;
  font-size: 22px;
  text-align: left;
  line-height: 1.5;
}
.prompt {
  font-weight: 600;
  font-size: 24px;
  margin-bottom: 12px;
}
.context {
  color: #4a5568;
  font-style: italic;
  margin-bottom: 16px;
}
.response {
  color: #1a202c;
  font-size: 22px;
  margin-bottom: 12px;
}
.sources {
  color: #2d3748;
  font-size: 18px;
  white-space: pre-wrap;
}"""


def arguments(name: str) -> JsonObject:
    """What anki.create_model takes to make it under `name`."""
    return {
        "model_name": name,
        "in_order_fields": ["Prompt", "Response", "Context", "Sources"],
        "card_templates": [{"name": "Card 1", "front": FRONT, "back": BACK}],
        "css": CSS,
    }
