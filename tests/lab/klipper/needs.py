"""What Klipper's modules demand while they are set up, read from their syntax: options without a default, the
marks that a pin may have, the commands that a section brings.

A section's module is followed from `load_config` through the classes and functions that are handed its `config`,
as far as nothing is conditional: neither below `if`, `for`, `try` nor after a `return` inside of one.
"""

import ast
from collections.abc import Iterator

GETTERS = {
    "get",
    "getint",
    "getfloat",
    "getboolean",
    "getlist",
    "getlists",
    "getintlist",
    "getfloatlist",
}
ENTRIES = ("load_config", "load_config_prefix")
# A pin that is set up as one of these takes `!`, an end stop also `^` and `~` (klippy/pins.py).
PIN_TYPES = {"adc": "p", "pwm": "p!", "digital_out": "p!", "endstop": "p^!"}
DEEPEST = 6


class Needs:
    """The demands of all modules; `modules` by their names, each with its `tree`."""

    def __init__(self, modules: dict):
        self.modules = modules
        self.scopes: dict[str, dict[str, ast.AST]] = {}
        for name, module in modules.items():
            scope: dict[str, ast.AST] = {}
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    scope[node.name] = node
            self.scopes[name] = scope

    def required(self, module: str) -> set[str]:
        """The options that a section of this module has to have, whatever else it has."""
        entries = [self.scopes[module][name] for name in ENTRIES if name in self.scopes[module]]
        if not entries:
            return set()
        sets = [set(self.of_function(module, entry, "config", {}, 0)) for entry in entries]
        return set.intersection(*sets)

    def of_class(self, module: str, name: str) -> set[str]:
        """Those that a class demands of its section."""
        return set(self.of_definition(module, self.scopes[module][name], {}, 0))

    def of_function(
        self, module: str, function: ast.AST, config: str, known: dict, depth: int
    ) -> Iterator[str]:
        """Those that a function demands of the section in its parameter `config`; `known` are the constants that
        it is called with."""
        if depth > DEEPEST:
            return
        for node in unconditional(function.body):
            if not isinstance(node, ast.Call):
                continue
            words = [*node.args, *(keyword.value for keyword in node.keywords)]
            is_handed = any(isinstance(word, ast.Name) and word.id == config for word in words)
            if option := demanded(node, config, known):
                yield option
            elif is_handed:
                yield from self.called(module, node, config, depth)

    def called(self, module: str, node: ast.Call, config: str, depth: int) -> Iterator[str]:
        """Those of what is called with a section."""
        name = ast.unparse(node.func)
        if (
            name.endswith("load_template")
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Constant)
        ):
            yield node.args[1].value.lower()
            return
        if name.endswith(("setup_heater", "setup_sensor")):
            heaters = self.scopes["extras.heaters"]
            if name.endswith("setup_heater"):
                yield from self.of_definition("extras.heaters", heaters["Heater"], {}, depth + 1)
            yield "sensor_type"
            return
        first, _, last = name.partition(".")
        if name in self.scopes[module]:
            yield from self.of_definition(
                module, self.scopes[module][name], constants(node), depth + 1
            )
        elif last and "." not in last:
            other = next(
                (other for other in self.modules[module].next() if other.endswith("." + first)),
                first,
            )
            definition = self.scopes.get(other, {}).get(last)
            if definition:
                yield from self.of_definition(other, definition, constants(node), depth + 1)

    def of_definition(
        self, module: str, definition: ast.AST, known: dict, depth: int
    ) -> Iterator[str]:
        """Those of a function or of the set-up of a class."""
        if isinstance(definition, ast.ClassDef):
            methods = {
                node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)
            }
            if "__init__" not in methods:
                for base in definition.bases:
                    call = ast.Call(base, [ast.Name("config")], [])
                    yield from self.called(module, call, "config", depth)
                return
            definition = methods["__init__"]
        arguments = definition.args
        names = [argument.arg for argument in arguments.args]
        if "config" in names:
            defaults = zip(reversed(names), reversed(arguments.defaults), strict=False)
            values = {name: node.value for name, node in defaults if isinstance(node, ast.Constant)}
            yield from self.of_function(module, definition, "config", values | known, depth)


def constants(node: ast.Call) -> dict:
    return {
        word.arg: word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)
    }


def demanded(node: ast.Call, config: str, known: dict) -> str:
    """The option that a call reads without a default; "" if it reads none, or has one."""
    if (
        not isinstance(node.func, ast.Attribute)
        or ast.unparse(node.func.value) != config
        or not node.args
    ):
        return ""
    name = node.args[0]
    option = name.value if isinstance(name, ast.Constant) else known.get(getattr(name, "id", ""))
    has_default = any(keyword.arg == "default" for keyword in node.keywords)
    most = 2 if node.func.attr == "getchoice" else 1
    is_getter = node.func.attr in GETTERS or node.func.attr == "getchoice"
    if not is_getter or has_default or len(node.args) > most or not isinstance(option, str):
        return ""
    return option.lower()


def unconditional(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes that are evaluated whenever a body is, in their order."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from inside(statement.test)
            leaves = [node for node in ast.walk(statement) if isinstance(node, ast.Return)]
            if leaves:
                return
        elif isinstance(statement, ast.Expr | ast.Assign | ast.Return | ast.AugAssign):
            yield from inside(statement.value)


def inside(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.ListComp | ast.GeneratorExp | ast.Lambda):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from inside(child)


def pins(module) -> dict[str, str]:
    """The marks that the pins of a module may have: `p` none, `p!`, `p^!`, by their options."""
    found: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if (
            node.func.attr == "setup_pin"
            and len(node.args) == 2
            and isinstance(node.args[0], ast.Constant)
        ):
            spec, pin = PIN_TYPES[node.args[0].value], node.args[1]
        elif node.func.attr == "lookup_pin" and node.args:
            words = {keyword.arg for keyword in node.keywords}
            spec, pin = (
                "p" + "^" * ("can_pullup" in words) + "!" * ("can_invert" in words),
                node.args[0],
            )
        else:
            continue
        if isinstance(pin, ast.Name):
            pin = module.locals.get(pin.id, pin)
        if isinstance(pin, ast.Call) and ast.unparse(pin.func).endswith("config.get"):
            option = module.option(pin.args[0])
            if option:
                found[option] = spec if found.get(option, spec) == spec else "p^!"
    return found


def commands(module) -> set[str]:
    """The commands that a module registers while it is set up, whatever the configuration."""
    found = set()
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in ("__init__", *ENTRIES):
            continue
        if "config" not in [argument.arg for argument in function.args.args]:
            continue  # made later, while a command runs
        for node in unconditional(function.body):
            is_call = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and len(node.args) > 1
            )
            if is_call and node.func.attr in ("register_command", "register_mux_command"):
                name = node.args[0]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    found.add(name.value)
    return found
