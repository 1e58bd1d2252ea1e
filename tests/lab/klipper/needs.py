"""What Klipper's modules demand while they are set up, read from their syntax: options without a default, the
marks that a pin may have, the commands that a section brings.

A section's module is followed from `load_config` through the classes and functions that are handed its `config`,
as far as nothing is conditional: neither below `if`, `for`, `try` nor after a `return` inside of one.
"""

import ast

# Methods that read an option, with the sign of what it is.
KINDS = {
    "get": "",
    "getint": "i",
    "getfloat": "f",
    "getboolean": "b",
    "getchoice": "c",
    "getlists": "l",
    "getlist": "l",
    "getintlist": "li",
    "getfloatlist": "lf",
}
ENTRIES = ("load_config", "load_config_prefix")
# A pin that is set up as one of these takes `!`, an end stop also `^` and `~` (klippy/pins.py).
PIN_TYPES = {"adc": "p", "pwm": "p!", "digital_out": "p!", "endstop": "p^!"}


class Needs:
    """The demands of all modules; `modules` by their names, each with its `tree`."""

    def __init__(self, modules):
        self.modules = modules
        self.scopes = {name: definitions(module.tree.body) for name, module in modules.items()}

    def required(self, module):
        """The options that a section of this module has to have, whatever else it has."""
        entries = [name for name in ENTRIES if name in self.scopes[module]]
        sets = [self.of_class(module, name) for name in entries]
        return set.intersection(*sets) if sets else set()

    def of_class(self, module, name):
        """The options that a class or a function demands of its section."""
        return set(self.of_definition(module, self.scopes[module][name], {}))

    def of_function(self, module, function, known):
        """The options that a function demands of the section in its parameter `config`; `known` are the
        constants that it is called with."""
        for node in calls(unconditional(function.body), ""):
            if option := demanded(node, known):
                yield option
            elif "config" in map(ast.unparse, node.args):
                yield from self.called(module, node)

    def called(self, module, node):
        """The options that a call with a section demands."""
        name = ast.unparse(node.func)
        first, _, last = name.partition(".")
        if name.endswith("load_template") and len(node.args) == 2:
            yield node.args[1].value.lower()
        elif name.endswith("setup_sensor"):
            yield "sensor_type"
        elif name.endswith("setup_heater"):
            yield "sensor_type"
            yield from self.of_class("extras.heaters", "Heater")
        else:
            nearest = [
                other for other in self.modules[module].imported() if other.endswith("." + first)
            ]
            other = [*nearest, first][0] if last else module
            if definition := self.scopes.get(other, {}).get(last or first):
                yield from self.of_definition(other, definition, constants(node))

    def of_definition(self, module, definition, known):
        """The options that a function or the set-up of a class demands."""
        if isinstance(definition, ast.ClassDef):
            methods = definitions(definition.body)
            if "__init__" not in methods:
                return
            definition = methods["__init__"]
        arguments = definition.args
        names = [argument.arg for argument in arguments.args]
        if "config" in names:
            defaults = zip(reversed(names), reversed(arguments.defaults))
            values = {name: node.value for name, node in defaults if isinstance(node, ast.Constant)}
            yield from self.of_function(module, definition, values | known)


def calls(nodes, ends):
    """The calls among nodes whose function ends in `ends`, a name or several."""
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(ends):
            yield node


def definitions(body):
    """The functions and classes of a body, by their names."""
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def constants(node):
    return {
        word.arg: word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)
    }


def demanded(node, known):
    """The option that a call reads without a default; "" if it reads none, or has one."""
    receiver, _, method = ast.unparse(node.func).rpartition(".")
    # What may be chosen is named before the default.
    most = 2 if method == "getchoice" else 1
    if receiver != "config" or method not in KINDS or len(node.args) > most:
        return ""
    name = node.args[0]
    option = name.value if isinstance(name, ast.Constant) else known.get(ast.unparse(name))
    has_default = "default" in [keyword.arg for keyword in node.keywords]
    return option.lower() if option and not has_default else ""


def unconditional(body):
    """The nodes of the statements that are carried out whenever a body is."""
    for statement in body:
        if isinstance(statement, ast.If):
            if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
                return
        elif isinstance(statement, ast.Expr | ast.Assign | ast.Return) and statement.value:
            yield from ast.walk(statement.value)


def pins(module):
    """The marks that the pins of a module may have, by their options: `p` for none, `p!`, `p^!`."""
    specs = {}
    for node in ast.walk(module.tree):
        name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        if name == "setup_pin" and isinstance(node.args[0], ast.Constant):
            spec = PIN_TYPES[node.args[0].value]
            pin = node.args[1]
        elif name == "lookup_pin":
            words = [keyword.arg for keyword in node.keywords]
            marks = {"can_pullup": "^", "can_invert": "!"}
            spec = "p" + "".join(mark for word, mark in marks.items() if word in words)
            pin = node.args[0]
        else:
            continue
        if isinstance(pin, ast.Name):
            pin = module.locals.get(pin.id, pin)
        if isinstance(pin, ast.Call) and ast.unparse(pin.func).endswith("config.get"):
            option = module.option(pin.args[0])
            specs[option] = spec
    specs.pop("", None)
    return specs


def commands(module):
    """The commands that a module registers while it is set up, whatever the configuration."""
    names = set()
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in ("__init__", *ENTRIES):
            continue
        if "config" not in [argument.arg for argument in function.args.args]:
            continue  # made later, while a command runs
        registered = (".register_command", ".register_mux_command")
        for node in calls(unconditional(function.body), registered):
            names.add(node.args[0].value)
    return names
