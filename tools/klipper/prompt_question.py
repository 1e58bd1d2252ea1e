"""The prompt that answers a question from the documentation."""

from typing import Annotated

from tools.catalog import Language, Prompt

TEXT = {
    "ru": """\
Ответь на вопрос о Klipper по его документации, а не по памяти.

Вопрос: {question}

1. Ищи: search_docs. Документация английская, поэтому её терминами; лучше два-три коротких запроса, чем один длинный.
2. По сниппетам выбери страницу и прочитай её: read_doc с path и heading из результата. Пока next_offset не null, читай дальше, если ответа ещё нет.
3. Ничего не нашлось: попробуй другие слова, затем list_docs_map.
4. Ответь на языке вопроса, коротко, с точными именами параметров и команд. Назови страницу и заголовок, откуда ответ. Чего в документации нет, о том так и скажи.
5. Если в описании sync_docs стоит «РЕКОМЕНДУЕТСЯ: база устарела», предложи обновить документацию.""",
    "en": """\
Answer a question about Klipper from its documentation, not from memory.

Question: {question}

1. Search: search_docs, in the documentation's own terms; two or three short queries are better than a long one.
2. Choose a page by the snippets and read it: read_doc with path and heading of the result. While next_offset is not null and the answer is not there yet, read on.
3. Nothing found: try other words, then list_docs_map.
4. Answer in the language of the question, briefly, with the exact names of parameters and commands. Name the page and heading it comes from. What the documentation does not say, say so.
5. If the description of sync_docs says «РЕКОМЕНДУЕТСЯ: база устарела» (the docs are outdated), offer to update them.""",
}


@Prompt("klipper_question", "Вопрос о Klipper · Klipper question")
def klipper_question(question: Annotated[str, "what to find out"], language: Language = "ru") -> str:
    """Answer a question from the Klipper documentation, naming the page.

    Source: klipper_docs.ru.md §6.
    """
    return TEXT[language].format(question=question)
