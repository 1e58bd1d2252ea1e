"""Printing terms in the words of users, and what the English documentation calls them.

An entry is `key: meaning`. A Russian key is one or more stems, each of which fits the words that begin with it; an English
key is whole words. The meaning is English words; `a/b` are alternatives for one word, the likelier first, and `a_b` is one
expression. A search looks for the meaning instead of a Russian word, and beside an English one. Of the keys that fit, the
one with the most words wins, then the longest.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

RUSSIAN = """
# bed, probe, levelling
сетк стол: bed mesh; карт стол: bed mesh; карт высот: bed mesh; кривой стол: bed mesh; крив: mesh; сетк: bed mesh
адаптивн сетк: adaptive mesh; адаптивн: adaptive; автоуровн: bed level; авто уровн: bed level; стол: bed
калибр стол: bed level; откалибр стол: bed level; настро стол: bed level; выставить стол: bed level
выравн: level; уровн: level; уровен: level; горизонт: level; винт: screw; болт: screw; регулир: adjust; подкрут: adjust
датчик: probe/sensor; щуп: probe; зонд: probe; пробинг: probing; блтач: bltouch; бл тач: bltouch; бэлтач: bltouch
индуктивн: inductive; вихреток: eddy current; эдди: eddy; тензо: load cell; весы: scale/load_cell; взвес: weight/load_cell
смещен датчик: probe offset; смещен: offset; отступ: offset; офсет: offset; зазор: paper test; бумаг: paper test; бумаж: paper test
первый слой: first layer; первого сло: first layer; первом сло: first layer; слой: layer; слоя: layer; слоев: layer; слои: layer
повторяем: repeatability; точност: accuracy; погрешн: accuracy/bias; отклонен: deviation/tolerance; скручив: twist; балк: gantry
перекос портал: gantry level; портал: gantry; перекос: skew; диагонал: diagonal; наклон: tilt; плоскост: tilt/level
# homing, endstops
парков: homing/home; хоминг: homing; домой: home; концевик: endstop; фаз: phase; бездатчик: sensorless; без датчик: sensorless
координат: coordinate/position; ноль: zero/home; нол: zero; вне диапазон: out range; предел: limit/range; област: area/region
# extruder, filament
калибр экструдер: rotation_distance extruder; шаг экструдер: rotation_distance extruder; шаги экструдер: rotation_distance extruder
экструдер шаг: extruder rotation_distance; шагов на мм: rotation_distance; шаги на мм: rotation_distance; шаг на мм: rotation_distance
экструдер: extruder; экструз: extrude/extrusion; филамент: filament; пластик: filament; прут: filament; нит: filament; катуш: spool
датчик оконч: filament_switch_sensor/runout sensor; датчик налич: filament_switch_sensor/runout sensor
датчик филамент: filament_switch_sensor/filament sensor; датчик пластик: filament_switch_sensor/filament sensor
датчик обрыв: filament_switch_sensor/runout sensor; датчик движ: filament_motion_sensor/motion sensor; оконч: runout/end
датчик ширин: filament width sensor; датчик толщин: filament width sensor; датчик диаметр: filament width sensor; холл: hall
ширин: width; толщин: width/thickness; диаметр: diameter; ретракт: retraction; откат: retraction; втягив: retraction
линейн продвиж: pressure advance; продвиж: advance; опережен: advance; давлен: pressure; подач: flow/feed; сопл: nozzle; хотэнд: hotend/extruder
хотенд: hotend/extruder; передаточн: gear_ratio; шестер: gear; ремен: belt; ремн: belt; шкив: pulley; двух экструдер: extruder
два экструдер: extruder; втор экструдер: second extruder; смен инструмент: tool change; инструмент: tool; каретк: carriage; наплыв: ooze
# ringing
резонанс: resonance; вибрац: vibration/resonance; звон: ringing; эхо: ringing; рябь: ringing; рингинг: ringing; гостинг: ringing
шейпер: input_shaper/shaper; шейпинг: input_shaper; инпут: input; акселерометр: accelerometer/adxl345; сглажив: smoothing; частот: frequency
# motors, drivers
шаговый двигател: stepper motor; шаговые двигател: stepper motor; шаговик: stepper motor; двигател: motor/stepper; мотор: motor/stepper
движк: motor/stepper; движок: motor/stepper; шагов: steps; шаги: steps; шаг: step; микрошаг: microsteps; драйвер: driver/tmc
ток: current; току: current; тока: current; токи: current; тихий: stealthchop; тихо: stealthchop; бесшум: stealthchop; шум: noise; писк: noise/screeching
пищит: noise/screeching; свист: noise/screeching; пропуск шаг: lost steps; пропуска шаг: lost steps; потер шаг: lost steps; теря шаг: lost steps
сдвиг слоев: lost steps; сдвиг сло: lost steps; смещение слоев: lost steps; пропус: lost/skip; потер: lost; ускорен: acceleration/accel
скорост: speed/velocity; рывк: square_corner_velocity; рывок: square_corner_velocity; направлен: direction; оси: axis; ось: axis; осей: axis; осям: axis
кинематик: kinematics; дельт: delta; корекси: corexy; винтов: lead screw; вращ: rotation
# heating
нагрев стол: heater_bed; нагрев: heater/heating; нагрет: heat; греется: heater/hot; греет: heating; перегре: overheat/overtemp; температур: temperature
термистор: thermistor/temperature sensor; термопар: thermocouple; пид: pid; вентил: fan; обдув: fan; кулер: fan; охлажд: cooling/fan; камер: chamber
прогрев: heat soak; тепл: thermal; расширен: expansion
# boards, buses, firmware
прошив плат: flash firmware; прошив: firmware/flash; прошить: flash; залить: flash; перепрошив: flash; загрузчик: bootloader; бутлоадер: bootloader
плат: board/mcu; микроконтроллер: micro-controller/mcu; контроллер: mcu/micro-controller; распбер: raspberry/rpi; малин: raspberry/rpi; пико: pico
втор плат: secondary mcu; две плат: multiple mcu; двух плат: multiple mcu; нескольк плат: multiple mcu; нескольк: multiple; втор: second/secondary
can шин: canbus; can-шин: canbus; шина can: canbus; шины can: canbus; шине can: canbus; шин: bus; кан шин: canbus; мост: bridge; терминатор: terminating resistor
терминир: terminating; резистор: resistor; перемычк: jumper; ом: ohm; пин: pin; вывод: pin/output; ножк: pin; провод: wiring/wire; кабел: cable/wiring
подключ: connect/wiring; распинов: pinout/pins; последоват порт: serial port; порт: serial port; сд карт: sdcard; sd карт: sdcard; карт памят: sdcard; карт: card
связ: communication/connection; сокет: socket; апи: api; протокол: protocol; сообщен: message; шим: pwm; лазер: laser/pwm; шпиндел: spindle/pwm; серв: servo
реле: relay/output_pin; кнопк: button; светодиод: led/neopixel; подсвет: led/neopixel; ленты: led; экран: display; диспле: display; меню: menu
# using it
макрос: macro; шаблон: template; переменн: variable; параметр: parameter; задержк: delayed/delay; условн: condition; цикл: loop/repeat; команд: command
слайсер: slicer; старт: start; начал: start; конец: end; пауз: pause; отмен: cancel; возобнов: resume; продолж: resume/continue; исключ: exclude; объект: object
детал: object/part; модел: object/print; печат: print; принтер: printer; профил: profile; сохран: save; загруз: load; файл: file; конфигурац: config
конфиг: config; пример: example; раздел: section; секци: section; установ: install/set; постав: install; удал: uninstall/remove; обнов: update/upgrade
версии: version; верси: version; настро: tune/configure; настра: tune/configure; калибр: calibrate; откалибр: calibrate; выстав: set; задат: set
включ: enable; отключ: disable; выключ: turn off; перезапус: restart; перезагруз: restart/reboot; сброс: reset; останов: stop; аварийн: emergency
проверк: check/verify; провер: check/verify; тест: test; измер: measure; замер: measure; график: graph; лог: log; журнал: log; отлад: debug; ошибк: error
не отвеча: timeout communication; таймаут: timeout; тайм-аут: timeout; бездейств: idle timeout; простой: idle timeout; простое: idle timeout
не грее: heater not heating; не нагрев: heater heating; не греется: heater heating; компенсац: compensation; коррекц: correction; статус: status
состоян: state/status; клиппер: klipper; клипер: klipper; марлин: marlin; октопринт: octoprint; мейнсейл: mainsail; флюид: fluidd; кан: canbus
баг: bug; вопрос: question; форум: forum/discourse; дискорд: discord; пожертв: donate/sponsor; донат: donate/sponsor; спонсор: sponsor; вклад: contribute
удален: remote; мм: mm; угол: corner/angle; угл: corner/angle; дребезг: noise; земл: ground; напряж: voltage; питан: power; магнит: magnet; дыр: faulty region
"""

ENGLISH = """
# probes, levelling
abl: bed_level/bed_mesh; auto level: bed_level/bed_mesh; auto leveling: bed_level/bed_mesh; tram: level; tramming: level; kamp: adaptive_mesh
cr touch: bltouch; crtouch: bltouch; strain gauge: load_cell; plate: bed; buildplate: bed; build plate: bed; feeler gauge: paper_test
heated bed: heater_bed; heatbed: heater_bed; babystep: set_gcode_offset; babystepping: set_gcode_offset; baby step: set_gcode_offset; kossel: delta
square: skew; squares: skew; parallelogram: skew; parallelograms: skew; perpendicular: skew
# extruder
esteps: rotation_distance; e steps: rotation_distance; steps per mm: rotation_distance; step per mm: rotation_distance; linear advance: pressure_advance
pa: pressure_advance; hot end: extruder; hotend: extruder; runout: filament_switch_sensor; run out: filament_switch_sensor; idex: dual_carriage
dual extruder: dual_carriage; oozing: ooze; gears: gear_ratio
# motion
ghosting: ringing; echo: ringing; vfa: ringing; vibration: ringing/resonance; vibrations: ringing/resonance; shaping: shaper; accelerometer: adxl345
accel: acceleration; jerk: square_corner_velocity; jog: move; skip: lost; skipped: lost; skipping: lost; layer shift: lost_steps; layer shifts: lost_steps
noisy: noise/stealthchop; loud: noise/stealthchop; quiet: stealthchop; silent: stealthchop; trinamic: tmc; stallguard: sensorless
# boards
can bus: canbus; g code: gcode; raspi: raspberry; pi: raspberry; rpi: raspberry; sd card: sdcard; thermostat: temperature; led: neopixel; leds: neopixel; rgb: neopixel
temp: temperature; temps: temperature; lcd: display; screen: display; motherboard: mcu; mainboard: mcu; firmware: micro-controller; dfu: bootloader
# using it
abort: cancel; stop: cancel; changelog: releases/changes; relay: output_pin; stringing: retraction; cnc: spindle; reboot: restart; crash: shutdown; update: upgrade; upgrade: update; param: parameter; params: parameter; remove: uninstall
"""

SHORT, ENDING = 3, 2
"""A stem of so few letters (`ток`) takes an ending of at most so many."""

Meaning = list[list[str]]
"""English words in a row, each a list of alternatives, the likelier first."""


class Entry(NamedTuple):
    """An entry of the glossary: the words of its key, and what they mean."""

    key: list[str]
    meaning: Meaning


def meaning(words: Sequence[str]) -> tuple[int, Meaning]:
    """How many of the first words have a meaning here, and that meaning; (1, []) if the first word has none."""
    for entry in _entries().get(words[0][:2], ()):
        if len(entry.key) <= len(words) and all(map(_fits, words, entry.key)):
            return len(entry.key), entry.meaning
    return 1, []


def _fits(word: str, key: str) -> bool:
    if key.isascii():
        return word == key
    return word.startswith(key) and (len(key) > SHORT or len(word) <= len(key) + ENDING)


@cache
def _entries() -> dict[str, list[Entry]]:
    """The entries by the first two letters of their keys, keys of more words and longer ones first."""
    entries: dict[str, list[Entry]] = {}
    for line in (RUSSIAN + ENGLISH).splitlines():
        for text in line.split(";") if not line.startswith("#") else ():
            key, colon, value = text.strip().partition(": ")
            if colon:
                entry = Entry(key.split(), [word.split("/") for word in value.split()])
                entries.setdefault(key[:2], []).append(entry)
    for group in entries.values():
        group.sort(key=lambda entry: (-len(entry.key), -len(" ".join(entry.key))))
    return entries
