"""The prompts that answer from the documentation."""

from typing import Annotated

from tools.core.prompts import Language, Prompt
from tools.toolkit import Limits

QUESTION = {
    "ru": """\
Ответь на вопрос о Klipper по его документации, а не по памяти.

Вопрос: {question}

1. Если в вопросе есть printer.cfg или его часть, сначала check_config с этим текстом. Об опции или секции спроси config_reference.
2. Ищи: search_docs. Документация английская, поэтому ищи её терминами, а сообщение об ошибке — целиком, как оно напечатано. Лучше два-три коротких запроса, чем один длинный.
3. По сниппетам выбери раздел и прочитай только его: read_doc с path и heading из результата. Пока next_offset не null, читай дальше, если ответа ещё нет.
4. Слова, которых в документации нет (absent), замени другими. Если ничего не нашлось: list_docs_map.
5. Ответь на языке вопроса, коротко, с точными именами параметров и команд. Назови страницу и заголовок, откуда ответ. Если чего-то в документации нет, так и скажи.
6. Если в описании sync_docs стоит «РЕКОМЕНДУЕТСЯ: база устарела», предложи обновить документацию.""",
    "en": """\
Answer a question about Klipper from its documentation, not from memory.

Question: {question}

1. If the question has a printer.cfg or a part of one, call check_config with that text first. Ask config_reference about an option or a section.
2. Search: search_docs, in the documentation's own terms; an error message whole, as it was printed. Two or three short queries are better than a long one.
3. Choose a section by the snippets and read only that: read_doc with path and heading of the result. While next_offset is not null and the answer is not there yet, read on.
4. Replace words that the documentation does not have (absent). If nothing is found: list_docs_map.
5. Answer in the language of the question, briefly, with the exact names of parameters and commands. Name the page and heading it comes from. If the documentation does not say something, say so.
6. If the description of sync_docs says «РЕКОМЕНДУЕТСЯ: база устарела» (the docs are outdated), offer to update them.""",
}

CHECK = {
    "ru": """\
Вот мой printer.cfg: что в нём не так?
{problem}
1. Вызови check_config с полным текстом файла, ничего в нём не меняя; тексты включаемых файлов передай в include. Без config проверяется файл самого принтера; почему он остановился, скажет printer_log.
2. Начни с ошибок: для каждой назови строку, что не так и на что исправить. Предложенное в nearest проверь через config_reference, прежде чем советовать.
3. Предупреждения и подсказки коротко; неизвестная секция может быть от расширения, это не ошибка.
4. Назови, что не проверялось (not_checked). Если есть описание неисправности, а файл в порядке, ищи её через search_docs.
5. Исправления покажи готовыми строками; не переписывай весь файл. Ничего не меняй по памяти: каждый совет опирается на проверку или на документацию.

{config}""",
    "en": """\
Here is my printer.cfg: what is wrong with it?
{problem}
1. Call check_config with the whole text of the file, unchanged; give the texts of included files in include. Without config it reads the printer's own file; printer_log says why the printer stopped.
2. Begin with the errors: for each the line, what is wrong, and what to put there. Check what nearest suggests with config_reference before you advise it.
3. Warnings and hints in brief; an unknown section may belong to an extension, which is not an error.
4. Say what was not checked (not_checked). If a problem is described but the file has no errors, look for it with search_docs.
5. Show the corrections as lines ready to paste; do not rewrite the whole file. Change nothing from memory: each piece of advice rests on the check or on the documentation.

{config}""",
}


@Prompt(
    "klipper_question",
    "Вопрос о Klipper · Klipper question",
    when="asks about Klipper, a 3D printer's firmware",
)
def klipper_question(
    question: Annotated[str, "what to find out"], language: Language = "ru"
) -> str:
    """Answer a question from the Klipper documentation, naming the page.

    Source: search_docs and read_doc, which it leads to.
    """
    return QUESTION[language].format(question=question)


@Prompt(
    "klipper_check",
    "Проверить printer.cfg · Check a printer.cfg",
    when="shows a printer.cfg or a printer that does not start",
)
def klipper_check(
    config: Annotated[str, "the text of printer.cfg", Limits(max_length=200_000)],
    problem: Annotated[str, "what goes wrong"] = "",
    language: Language = "ru",
) -> str:
    """Find what is wrong in a printer.cfg, by the Klipper documentation.

    Source: check_config.
    """
    # Without a problem there is no line of it.
    return CHECK[language].format(config=config, problem=f"{problem.strip()}\n".lstrip())
