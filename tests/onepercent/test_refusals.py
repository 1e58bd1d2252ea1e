"""What counts as a yes, what as a no, and what is asked again, in both languages."""

from itertools import chain

import pytest

from tests.onepercent.person import call, items, new_goal, preview
from tests.support.client import cases
from tools.onepercent.phases.consent import is_yes

REFUSED = """
нет | нет) | нет :( | «нет» | Нееет! | нет! | НЕТ | нет, спасибо | not now, thanks | No, don't do it. | ОТМЕНА! | нет, не надо | нет, не удаляй | нет, оставь | ну нет | да нет | нет уж | не-а
не удаляй | не согласен | не согласна | не уверен | не уверена | не надо | не нужно | не хочу | не стоит | не сейчас | не делай этого
не применяй | ничего не меняй | пока не надо | пожалуйста, не надо | лучше не надо | давай не будем | оставь как есть | оставьте
пусть останется | я против | против | отмена | отмени | отменяй | стоп | стой | хватит | подожди | погоди, я подумаю | да, подожди | потом
позже | рано | передумал | я передумала | забудь | отказываюсь | отклоняю | пользователь отказался | пользователь не подтвердил
ошибка | неверно | нельзя | никогда, нет | ни в коем случае | неа | нетушки | отбой | брось | обойдусь | хорошо, отмени | ок, не надо | ладно, не надо
no | No :) | no! | No. | NO WAY | no thanks | nope | nah | nooo | no, leave it | no, keep it | no no no | oh no | hell no | n | N/A
don't | don't delete it | dont do it | do not apply | please don't | please, no | I don't want that | I won't | you shouldn't | that isn't what I meant
leave it | leave it as it is | keep it | I'd rather not | rather not | absolutely not | certainly not | definitely not | not now | not yet | not sure | of course not
not confirmed | the user declined | The user said no | user rejected it | user refused | declined | rejected | denied | the person did not answer
hold on | wait | yes, wait | ok stop | wait a minute | stop | stop! | cancel | cancel that | ok, cancel | cancelled | abort | later | maybe later | never
never mind | forget it | skip it | I'll pass | I disagree | I'm against it | wrong goal | on second thoughts | I changed my mind | go back | nothing
пусть будет как было | верни как было | я ещё думаю | отложим | давай потом | давай позже | давай завтра | давай лучше потом | завтра | без изменений
без подтверждения | пользователь отменил | отменено | запрещено | исправь сначала | сначала исправь дату | конечно нет | вряд ли | плохо | зря | только первое
перенеси на пятницу лучше | давай на пятницу | добавь ещё шаг | хорошо, но не сегодня | ладно, потом | ок, отложи
I doubt it | let me think | hang on | hold it | back off | undo that | revert | roll back | drop it | scratch that | no changes | without changes
change the date first | change it to 5 | only the first | incorrect | bad idea | veto | I object | tomorrow | another time | waiting for user | to be confirmed
without confirmation | timeout | too many | quit | user is thinking | ok, but later | fine, but not today
"""
ASKED_AGAIN = """
? | … | ... | - | — | null | None | undefined | 👎 | ❌ | :( | 1 | 0 | hm | hmm… | хм | м? | maybe | perhaps | возможно | наверное | подумаю | зачем? | what is that? | какую цель? | delete it?
depends | unsure | pending | !!!
возможно, да | наверное, да | подумаю, да | думаю, да | может, да | может быть, да | м, да | хм, да | эм, да
maybe yes | perhaps yes | hm, yes | depends, yes | pending, yes | unsure, yes | tbd, yes
"""
TAKEN = """
да | Да. | да! | ДА | даа | да, конечно | ага | угу | давай | давайте | конечно | хорошо | ок | окей | ладно | согласен | согласна | подтверждаю | применяй
верно, применяй | удаляй | да, удали | да, удали всё | да, отмени тренировку | всё верно | можно | валяй | поехали | годится | го | нет проблем | без проблем
не против | я не против | нет возражений | не возражаю | почему нет | почему бы и нет | да, нет проблем | спасибо, да | спасибо | пожалуйста | отлично
супер | да, только быстро | пользователь подтвердил | пользователь сказал: да | записывай | 👍 | ✅ | +
yes | Yes. | yes! | yep | yeah | yup | y | sure | ok | okay | OK! | k | go | go ahead | do it | please do | please | yes please | thanks | thank you
fine | fine by me | sounds good | looks good | great | perfect | confirmed | I confirm | agreed | approve | approved | apply it | proceed | delete it | that's right
no problem | no objections | no worries | why not | I don't mind | don't ask, just do it | yes, no changes needed | yes, cancel the gym | yes, skip Tuesday
the user confirmed | the user said yes | User: yes, delete both | +1 | keep going | let's go | correct | of course | absolutely | definitely
ну да | дада | ну давай | погнали | вперёд | жги | именно | принято | пойдёт | устраивает | класс | ок, спасибо | да, запиши | сохраняй | добавляй | удаляй всё
да, перенеси на завтра | да, потом покажи список | подтверждаю удаление | норм | плюс | 💯 | 👍🏻 | без возражений
нет проблем, давай | no problem, do it | отмени последнее, да | yes, cancel that goal | не вопрос
aye | sure thing | go for it | do that | apply all | yes to all | all good | works for me | that's correct | affirmative | roger | permission granted
carry on | save it | delete both | yes, nothing else | ok, no rush | all right | yesss
"""


@pytest.mark.parametrize("table, expected", [(REFUSED, False), (ASKED_AGAIN, False), (TAKEN, True)])
def test_a_no_is_a_no_a_yes_is_a_yes_and_what_is_neither_is_asked_again(table, expected):
    phrases = chain(*cases(table))
    assert [phrase for phrase in phrases if is_yes(phrase) != expected] == []


@pytest.mark.parametrize("words", ["нет)", "…"])
def test_without_a_yes_nothing_is_applied_and_the_preview_stays(words):
    previewed = preview(new_goal("Кухня"))
    confirm = {"preview_id": previewed["preview_id"]}
    answer = call("apply_actions", **confirm, user_confirmation=words)
    assert answer["code"] == "NOT_CONFIRMED" and answer["error"] == f"That is not a yes: {words}"
    assert "own yes" in answer["hint"] and items("goals") == []
    assert call("apply_actions", **confirm, user_confirmation="да")["success"]
