// What the pages of Anki share: what to do without it, a deck's name as people write it, the kinds of cards.
learn(`
ANKI_UNREACHABLE|Anki не отвечает|Anki does not answer
ANKI_UNREACHABLE+|Откройте Anki с дополнением AnkiConnect (2055492159).|Open Anki with the add-on AnkiConnect (2055492159).
DECK_NOT_FOUND|Такой колоды нет|There is no such deck
new|новые|
learning|изучаю|
review|на повтор|
`);
let KINDS = ["new", "learning", "review"];
let path = deck => deck.replaceAll("::", " › ") || "Anki";
// A question in a list: without the marks of its formulas.
let plain = text => text.replace(/\\[()[\]]/g, "");
